//! Lines that a running program prints on standard error, until somebody takes them.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Bytes of one line of output that are shown; the rest of it is dropped.
pub(super) const MAX_LINE_BYTES: usize = 4 << 10;

/// Lines of standard error that a client of a call is sent as log messages, at most.
pub const MAX_LOG_LINES: usize = 1_000;

/// The same of lines that wait to be sent; what comes while so many wait is left out.
pub const MAX_WAITING_LOG_LINES: usize = 100;

/// Whole lines in their order, as many as are of use to somebody who reads along.
///
/// What is too much is counted and let go: the program never waits for its reader.
#[derive(Debug, Default)]
pub struct Lines {
    inner: Mutex<Inner>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    /// The line that is not at its end yet.
    open: Vec<u8>,
    /// Whether the next character stands at the start of the open line again.
    is_returned: bool,
    waiting: VecDeque<String>,
    taken_in: usize,
    left_out: u64,
    /// What lines start with that are not the program's.
    hidden: Option<String>,
}

/// What is left once a program has ended.
#[derive(Debug, PartialEq, Eq)]
pub struct Rest {
    /// Lines that nobody has taken.
    pub lines: VecDeque<String>,
    /// How many lines were let go, empty ones among them.
    pub left_out: u64,
}

impl Lines {
    /// Waits for the next line.
    pub async fn next(&self) -> String {
        loop {
            let arrived = self.arrived.notified();
            if let Some(line) = self.lock().waiting.pop_front() {
                return line;
            }
            arrived.await;
        }
    }

    /// Takes what is there. The last line needs no end: the program has ended.
    pub fn rest(&self) -> Rest {
        let mut inner = self.lock();
        inner.end_line();
        Rest { lines: std::mem::take(&mut inner.waiting), left_out: std::mem::take(&mut inner.left_out) }
    }

    /// Keeps no line that starts with `prefix`.
    pub(super) fn hide(&self, prefix: &str) {
        self.lock().hidden = Some(prefix.to_owned());
    }

    /// Takes in output.
    pub(super) fn printed(&self, mut bytes: &[u8]) {
        let mut inner = self.lock();
        while !inner.is_full()
            && let Some(end) = bytes.iter().position(|byte| *byte == b'\n')
        {
            inner.extend(&bytes[..end]);
            inner.end_line();
            bytes = &bytes[end + 1..];
        }
        // A program that floods its reader would otherwise be slowed by each line.
        if let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') {
            inner.left_out += bytes.iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
            inner.clear();
            bytes = &bytes[end + 1..];
        }
        inner.extend(bytes);
        if !inner.waiting.is_empty() {
            drop(inner);
            self.arrived.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Adds to the open line. What is printed after a carriage return replaces it, as a terminal would show it: progress bars
    /// print themselves so again and again.
    fn extend(&mut self, piece: &[u8]) {
        for (at, part) in piece.split(|byte| *byte == b'\r').enumerate() {
            self.is_returned |= at > 0;
            if part.is_empty() {
                continue;
            }
            if std::mem::take(&mut self.is_returned) {
                self.open.clear();
            }
            let room = MAX_LINE_BYTES.saturating_sub(self.open.len());
            self.open.extend_from_slice(&part[..part.len().min(room)]);
        }
    }

    fn end_line(&mut self) {
        let line = self.open.trim_ascii_end();
        let is_hidden = self.hidden.as_ref().is_some_and(|hidden| line.starts_with(hidden.as_bytes()));
        if !line.is_empty() && !is_hidden {
            if self.is_full() {
                self.left_out += 1;
            } else {
                self.taken_in += 1;
                self.waiting.push_back(String::from_utf8_lossy(line).into_owned());
            }
        }
        self.clear();
    }

    fn is_full(&self) -> bool {
        self.taken_in >= MAX_LOG_LINES || self.waiting.len() >= MAX_WAITING_LOG_LINES
    }

    fn clear(&mut self) {
        self.open.clear();
        self.is_returned = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pieces: &[&[u8]]) -> Vec<String> {
        let lines = Lines::default();
        lines.hide("secret");
        for piece in pieces {
            lines.printed(piece);
        }
        lines.rest().lines.into()
    }

    #[test]
    fn lines_are_whole_however_they_arrive() {
        assert_eq!(all(&[b"on", b"e\n  two \n\n \r\nthr", b"", b"ee\nfour"]), ["one", "  two", "three", "four"]);
        assert_eq!(all(&[b"a\r", b"\nb\r\nc\xff\n"]), ["a", "b", "c\u{fffd}"]);
        assert_eq!(all(&[&vec![b'x'; 2 * MAX_LINE_BYTES], b"\nnext\n"])[1], "next");
    }

    #[test]
    fn of_a_line_that_is_printed_over_the_last_text_is_shown() {
        assert_eq!(all(&[b" 1 %\r 50 %", b"\r100 %\r\ndone\n"]), ["100 %", "done"]);
    }

    #[test]
    fn what_the_program_did_not_print_is_not_shown() {
        assert_eq!(all(&[b"secret: no such file\nsec\nsecret"]), ["sec"]);
    }

    #[test]
    fn what_is_left_out_ends_where_a_line_does() {
        let lines = Lines::default();
        lines.printed(&b"line\n".repeat(MAX_WAITING_LOG_LINES));
        lines.printed(b"left out\nleft");
        lines.printed(b" out too\nlast");
        while lines.lock().waiting.pop_front().is_some() {}
        lines.printed(b" line\n");
        assert_eq!(lines.rest(), Rest { lines: ["last line".to_owned()].into(), left_out: 2 });
    }

    #[test]
    fn a_flood_is_counted_and_takes_no_memory() {
        let lines = Lines::default();
        for _ in 0..10 * MAX_LOG_LINES {
            lines.printed(b"line\n");
        }
        let rest = lines.rest();
        assert_eq!(rest.lines.len(), MAX_WAITING_LOG_LINES);
        assert_eq!(rest.left_out, (10 * MAX_LOG_LINES - MAX_WAITING_LOG_LINES) as u64);
        for _ in 0..MAX_LOG_LINES {
            lines.printed(b"line\n");
            lines.lock().waiting.clear();
        }
        assert_eq!(lines.rest().left_out, MAX_WAITING_LOG_LINES as u64, "a call has so many lines and no more");
    }
}
