//! Bytes of a config or policy file → [`Source`].

use crate::diagnostic::{Code, Diagnostic};
use crate::source::{Source, Span};

/// The largest file that is read, in bytes.
pub const MAX_CONFIG_BYTES: usize = 16 << 20;

impl Source {
    /// Decodes the bytes of a file. `path` is for messages and for the file's stem only.
    ///
    /// A byte order mark is dropped.
    ///
    /// # Errors
    /// The file is larger than [`MAX_CONFIG_BYTES`], binary, not UTF-8, or empty.
    pub fn new(path: &str, bytes: Vec<u8>) -> Result<Self, Diagnostic> {
        if bytes.len() > MAX_CONFIG_BYTES {
            return Err(too_large(path));
        }

        let text = String::from_utf8(bytes)
            .map_err(|error| not_utf8(path, error.as_bytes(), error.utf8_error().valid_up_to()))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let source = Self::from_text(path, text);

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
}

/// The report of a file that is larger than [`MAX_CONFIG_BYTES`].
pub(crate) fn too_large(path: &str) -> Diagnostic {
    let found = format!("file is larger than {} MiB", MAX_CONFIG_BYTES >> 20);
    Diagnostic::file(Code::TooLarge, path, found, "split it into several files")
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
