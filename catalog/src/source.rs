//! The text of a config or policy file, and locations in it.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A half-open range of bytes in a [`Source`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A value with its location.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spanned<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

/// Line and column for messages. Both start at 1, and the column counts characters.
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
    /// The start of each line, computed for the first position.
    lines: Arc<OnceLock<Vec<usize>>>,
}

impl Source {
    /// Wraps decoded text. `path` is for messages and for the file's stem only.
    pub(crate) fn from_text(path: &str, text: &str) -> Self {
        Self { path: path.into(), text: text.into(), lines: Arc::default() }
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

    /// The file name without directories and extension: the default name of a config.
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

    /// Returns the location of a part of a scalar; the whole scalar if escapes come before that part.
    pub(crate) fn within(&self, text: &Spanned<String>, part: Range<usize>) -> Span {
        let written = &self.text[text.span.start..text.span.end];
        let quote = usize::from(written.starts_with(['"', '\'']));
        if written.get(quote..quote + part.end) != Some(&text.value[..part.end]) {
            return text.span;
        }
        let start = text.span.start + quote;
        Span { start: start + part.start, end: start + part.end }
    }
}
