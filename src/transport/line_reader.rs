//! Reads lines of limited length from a byte stream.

use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// A line that was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line without its newline. The last one may have none.
    Complete(Vec<u8>),
    /// A line that was longer than allowed, and was dropped.
    Oversized,
}

/// Reads lines. A read can be cancelled: the next one continues its line.
pub(super) struct LineReader<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    max_bytes: usize,
    oversized: bool,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Reads lines of at most `max_bytes`.
    pub(super) fn new(input: R, max_bytes: usize) -> Self {
        Self { input: BufReader::new(input), line: Vec::new(), max_bytes, oversized: false }
    }

    /// The next line; `None` at the end of the input.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let chunk = self.input.fill_buf().await?;
            let at_end = chunk.is_empty();
            let newline = chunk.iter().position(|byte| *byte == b'\n');
            let part = &chunk[..newline.unwrap_or(chunk.len())];
            if self.line.len() + part.len() > self.max_bytes {
                self.oversized = true;
                self.line = Vec::new();
            }
            if !self.oversized {
                self.line.extend_from_slice(part);
            }
            let consumed = part.len() + usize::from(newline.is_some());
            self.input.consume(consumed);
            if at_end && self.line.is_empty() && !self.oversized {
                return Ok(None);
            }
            if at_end || newline.is_some() {
                return Ok(Some(self.take()));
            }
        }
    }

    fn take(&mut self) -> Line {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.oversized) { Line::Oversized } else { Line::Complete(line) }
    }
}
