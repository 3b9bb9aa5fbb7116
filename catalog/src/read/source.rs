//! The text of one config or policy file, and places in it.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::read::diagnostic::{Code, Diagnostic};

/// The largest file that is read, in bytes.
pub const MAX_CONFIG_BYTES: usize = 16 << 20;

/// A half-open range of bytes in a [`Source`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A value together with where it stands in its file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spanned<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

/// A position for people: both numbers start at 1, the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line number.
    pub line: usize,
    /// Column, in characters.
    pub column: usize,
}

/// The decoded text of one file; clones share it.
#[derive(Clone, Debug)]
pub struct Source {
    path: Arc<str>,
    text: Arc<str>,
    /// Where each line starts; found when a position is first asked for.
    lines: Arc<OnceLock<Vec<usize>>>,
}

impl Source {
    /// Decodes the bytes of the file at `path`, which is used for messages and for the file's stem only.
    ///
    /// A byte order mark is dropped.
    ///
    /// # Errors
    /// The file is larger than [`MAX_CONFIG_BYTES`], binary, not UTF-8, or has nothing in it.
    pub fn new(path: &str, bytes: Vec<u8>) -> Result<Self, Diagnostic> {
        if bytes.len() > MAX_CONFIG_BYTES {
            return Err(Diagnostic::file(
                Code::TooLarge,
                path,
                format!("file is larger than {} MiB", MAX_CONFIG_BYTES >> 20),
                "split it into several files",
            ));
        }
        let text = String::from_utf8(bytes)
            .map_err(|error| not_utf8(path, error.as_bytes(), error.utf8_error().valid_up_to()))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let source = Self { path: path.into(), text: text.into(), lines: Arc::default() };
        if let Some(at) = memchr::memchr(0, text.as_bytes()) {
            return Err(source
                .diagnostic(Code::Nul, Span { start: at, end: at + 1 }, "file holds a NUL character, so it is no text")
                .help("configs and policies are UTF-8 text files in YAML"));
        }
        if text.trim().is_empty() {
            return Err(Diagnostic::file(
                Code::EmptyConfig,
                path,
                "file is empty".to_owned(),
                "write a config, with at least `command:` and `tools:`, or a policy",
            ));
        }
        Ok(source)
    }

    /// The path as it was given.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The decoded text, without byte order mark.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The file name without directories and extension: the name that a config has when it gives none.
    #[must_use]
    pub fn stem(&self) -> &str {
        let file = self.path.rsplit(['/', '\\']).next().unwrap_or_default();
        file.strip_suffix(".yaml").or_else(|| file.strip_suffix(".yml")).unwrap_or(file)
    }

    /// Finds the line and column of a byte offset.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        let bytes = self.text.as_bytes();
        let offset = offset.min(bytes.len());
        let lines = self
            .lines
            .get_or_init(|| std::iter::once(0).chain(memchr::memchr_iter(b'\n', bytes).map(|at| at + 1)).collect());
        let line = lines.partition_point(|start| *start <= offset);
        let start = lines[line - 1];
        Position { line, column: 1 + String::from_utf8_lossy(&bytes[start..offset]).chars().count() }
    }

    /// The place of a part of a scalar, or all of the scalar where its text up to there is not written literally.
    pub(crate) fn within(&self, text: &Spanned<String>, part: Range<usize>) -> Span {
        let written = &self.text[text.span.start..text.span.end];
        let quote = usize::from(written.starts_with(['"', '\'']));
        if written.get(quote..quote + part.end) != Some(&text.value[..part.end]) {
            return text.span;
        }
        let start = text.span.start + quote;
        Span { start: start + part.start, end: start + part.end }
    }

    /// Starts a diagnostic that points at `span`.
    pub(crate) fn diagnostic(&self, code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::at(self, code, span, message.into())
    }
}

fn not_utf8(path: &str, bytes: &[u8], valid_up_to: usize) -> Diagnostic {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Diagnostic::file(Code::NotUtf8, path, "file is UTF-16".to_owned(), "save the file as UTF-8");
    }
    if bytes.contains(&0) {
        return Diagnostic::file(
            Code::NotUtf8,
            path,
            "file is binary, expected a YAML text".to_owned(),
            "name only config files, or directories that hold them",
        );
    }
    let line = 1 + memchr::memchr_iter(b'\n', &bytes[..valid_up_to]).count();
    Diagnostic::file(
        Code::NotUtf8,
        path,
        format!("file is not UTF-8: byte 0x{:02X} on line {line}", bytes[valid_up_to]),
        "save the file as UTF-8",
    )
}
