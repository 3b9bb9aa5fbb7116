//! Lines of bounded length from a byte stream.

use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line, without its end. The last one may lack its newline.
    Whole(Vec<u8>),
    /// A line that was longer than allowed, and was dropped.
    Oversized,
}

/// Reads lines. Safe to cancel: what a dropped read had taken in is there for the next.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    max_bytes: usize,
    oversized: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
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
            let taken = &chunk[..newline.unwrap_or(chunk.len())];
            if self.line.len() + taken.len() > self.max_bytes {
                self.oversized = true;
                self.line = Vec::new();
            }
            if !self.oversized {
                self.line.extend_from_slice(taken);
            }
            let consumed = taken.len() + usize::from(newline.is_some());
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
        if std::mem::take(&mut self.oversized) { Line::Oversized } else { Line::Whole(line) }
    }
}
