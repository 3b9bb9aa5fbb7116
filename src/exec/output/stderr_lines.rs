//! Queues the lines that a running program prints on standard error, for log messages to the client.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use tokio::sync::Notify;

use crate::lock::Unpoisoned as _;

/// Maximum length of one line of output, in bytes. The rest of the line is dropped.
pub(crate) const MAX_LINE_BYTES: usize = 4 << 10;

/// Maximum lines of standard error that a client receives as log messages for one call.
pub const MAX_LOG_LINES: usize = 1_000;

/// Maximum lines that wait to be sent. Further lines are dropped while the queue is full.
pub const MAX_WAITING_LOG_LINES: usize = 100;

/// A bounded queue of whole lines of standard error.
///
/// Lines beyond the limits are counted and dropped: the program never waits for the reader of the queue.
#[derive(Debug, Default)]
pub struct StderrLines {
    inner: Mutex<Inner>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    /// The unfinished line.
    partial: Vec<u8>,
    /// Whether the last byte of the unfinished line was a carriage return.
    after_carriage_return: bool,
    queue: VecDeque<String>,
    /// Lines that were ever queued.
    queued: usize,
    dropped: u64,
    /// Lines with this prefix come from the child of the sandbox and are not logged.
    hidden_prefix: Option<String>,
}

/// The lines that are left in the queue after a program has ended.
#[derive(Debug, PartialEq, Eq)]
pub struct RemainingLines {
    /// Lines that were not taken from the queue.
    pub lines: VecDeque<String>,
    /// Number of dropped lines, empty ones included.
    pub dropped: u64,
}

impl StderrLines {
    /// Waits for the next line.
    pub async fn next(&self) -> String {
        loop {
            let arrived = self.arrived.notified();
            if let Some(line) = self.lock().queue.pop_front() {
                return line;
            }
            arrived.await;
        }
    }

    /// Empties the queue after the program has ended. The last line needs no newline.
    pub fn take_remaining(&self) -> RemainingLines {
        let mut inner = self.lock();
        inner.end_line();
        RemainingLines { lines: std::mem::take(&mut inner.queue), dropped: std::mem::take(&mut inner.dropped) }
    }

    /// Drops lines that start with `prefix`, without counting them.
    pub(crate) fn hide_prefix(&self, prefix: &str) {
        self.lock().hidden_prefix = Some(prefix.to_owned());
    }

    /// Appends output to the queue.
    pub(crate) fn push(&self, mut bytes: &[u8]) {
        let mut inner = self.lock();
        while !inner.is_full()
            && let Some(end) = bytes.iter().position(|byte| *byte == b'\n')
        {
            inner.extend(&bytes[..end]);
            inner.end_line();
            bytes = &bytes[end + 1..];
        }

        // The lines of a flood are counted together: one by one would slow the program down.
        if let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') {
            inner.dropped += bytes.iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
            inner.clear();
            bytes = &bytes[end + 1..];
        }

        inner.extend(bytes);
        if !inner.queue.is_empty() {
            drop(inner);
            self.arrived.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unpoisoned()
    }
}

impl Inner {
    /// Appends to the unfinished line.
    ///
    /// Text after a carriage return replaces the line, as on a terminal. Progress bars redraw themselves this way.
    fn extend(&mut self, piece: &[u8]) {
        for (at, part) in piece.split(|byte| *byte == b'\r').enumerate() {
            self.after_carriage_return |= at > 0;
            if part.is_empty() {
                continue;
            }

            if std::mem::take(&mut self.after_carriage_return) {
                self.partial.clear();
            }
            let room = MAX_LINE_BYTES.saturating_sub(self.partial.len());
            self.partial.extend_from_slice(&part[..part.len().min(room)]);
        }
    }

    fn end_line(&mut self) {
        let line = self.partial.trim_ascii_end();
        let is_hidden = self.hidden_prefix.as_ref().is_some_and(|prefix| line.starts_with(prefix.as_bytes()));

        if !line.is_empty() && !is_hidden {
            if self.is_full() {
                self.dropped += 1;
            } else {
                self.queued += 1;
                self.queue.push_back(String::from_utf8_lossy(line).into_owned());
            }
        }

        self.clear();
    }

    fn is_full(&self) -> bool {
        self.queued >= MAX_LOG_LINES || self.queue.len() >= MAX_WAITING_LOG_LINES
    }

    fn clear(&mut self) {
        self.partial.clear();
        self.after_carriage_return = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pieces: &[&[u8]]) -> Vec<String> {
        let lines = StderrLines::default();
        lines.hide_prefix("secret");
        for piece in pieces {
            lines.push(piece);
        }
        lines.take_remaining().lines.into()
    }

    #[test]
    fn joins_lines_that_arrive_in_pieces() {
        assert_eq!(all(&[b"on", b"e\n  two \n\n \r\nthr", b"", b"ee\nfour"]), ["one", "  two", "three", "four"]);
        assert_eq!(all(&[b"a\r", b"\nb\r\nc\xff\n"]), ["a", "b", "c\u{fffd}"]);
        assert_eq!(all(&[&vec![b'x'; 2 * MAX_LINE_BYTES], b"\nnext\n"])[1], "next");
    }

    #[test]
    fn carriage_return_keeps_last_overwrite() {
        assert_eq!(all(&[b" 1 %\r 50 %", b"\r100 %\r\ndone\n"]), ["100 %", "done"]);
    }

    #[test]
    fn drops_lines_with_the_hidden_prefix() {
        assert_eq!(all(&[b"secret: no such file\nsec\nsecret"]), ["sec"]);
    }

    #[test]
    fn drops_whole_lines_only() {
        let lines = StderrLines::default();
        lines.push(&b"line\n".repeat(MAX_WAITING_LOG_LINES));
        lines.push(b"left out\nleft");
        lines.push(b" out too\nlast");
        while lines.lock().queue.pop_front().is_some() {}
        lines.push(b" line\n");
        assert_eq!(lines.take_remaining(), RemainingLines { lines: ["last line".to_owned()].into(), dropped: 2 });
    }

    #[test]
    fn flood_is_counted_and_bounded() {
        let lines = StderrLines::default();
        for _ in 0..10 * MAX_LOG_LINES {
            lines.push(b"line\n");
        }
        let remaining = lines.take_remaining();
        assert_eq!(remaining.lines.len(), MAX_WAITING_LOG_LINES);
        assert_eq!(remaining.dropped, (10 * MAX_LOG_LINES - MAX_WAITING_LOG_LINES) as u64);
        for _ in 0..MAX_LOG_LINES {
            lines.push(b"line\n");
            lines.lock().queue.clear();
        }
        assert_eq!(lines.take_remaining().dropped, MAX_WAITING_LOG_LINES as u64, "the limit holds for the whole call");
    }
}
