//! What a running call shows of itself.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::Notify;

use super::lines::{Lines, MAX_LINE_BYTES};

/// A view of a call from the side, while it waits and runs.
#[derive(Debug, Default)]
pub struct Watch {
    inner: Mutex<Inner>,
    changed: Notify,
    lines: Option<Lines>,
    /// What lines start with that are not the program's.
    hidden: OnceLock<String>,
}

#[derive(Debug, Default)]
struct Inner {
    state: State,
    /// The line that is not at its end yet.
    open: Vec<u8>,
}

/// What a call is at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Nothing has been started.
    #[default]
    Waiting,
    /// The program runs and has printed nothing.
    Running,
    /// The program runs, and this is the last line that it has printed.
    Printed(String),
}

impl Watch {
    /// A watch that keeps the lines of standard error too.
    #[must_use]
    pub fn with_lines() -> Self {
        Self { lines: Some(Lines::default()), ..Self::default() }
    }

    /// The lines of standard error, if this watch keeps them.
    #[must_use]
    pub fn lines(&self) -> Option<&Lines> {
        self.lines.as_ref()
    }

    /// What the call is at.
    #[must_use]
    pub fn state(&self) -> State {
        self.lock().state.clone()
    }

    /// Waits until [`Self::state`] may have changed since the last wait.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    pub(super) fn started(&self) {
        self.lock().state = State::Running;
        self.changed.notify_one();
    }

    /// Shows no line that starts with `prefix`.
    pub(super) fn hide(&self, prefix: &str) {
        if let Some(lines) = &self.lines {
            lines.hide(prefix);
        }
        // A watch is of one call, which has one such prefix.
        let _ = self.hidden.set(prefix.to_owned());
    }

    /// Takes in what the program prints on standard error.
    pub(super) fn stderr(&self, bytes: &[u8]) {
        if let Some(lines) = &self.lines {
            lines.printed(bytes);
        }
        self.printed(bytes);
    }

    /// Takes in output: of both streams, in the order of its arrival. A carriage return ends a line too: progress bars
    /// print no other end.
    pub(super) fn printed(&self, bytes: &[u8]) {
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let mut inner = self.lock();
        let Some(end) = bytes.iter().rposition(is_end) else { return inner.extend(bytes) };
        let first = bytes.iter().position(is_end).unwrap_or(end);
        inner.extend(&bytes[..first]);
        // From the last back: who prints a lot would be slowed by each line.
        let later = bytes[first..end].rsplit(is_end).find(|line| self.is_shown(line));
        let last = later.or_else(|| Some(inner.open.as_slice()).filter(|line| self.is_shown(line)));
        let state = last.map(|line| State::Printed(shown(line)));
        inner.open.clear();
        inner.extend(&bytes[end + 1..]);
        if let Some(state) = state {
            inner.state = state;
            drop(inner);
            self.changed.notify_one();
        }
    }

    fn is_shown(&self, line: &[u8]) -> bool {
        let is_hidden = self.hidden.get().is_some_and(|hidden| line.starts_with(hidden.as_bytes()));
        !line.trim_ascii().is_empty() && !is_hidden
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn extend(&mut self, bytes: &[u8]) {
        let room = MAX_LINE_BYTES.saturating_sub(self.open.len());
        self.open.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(line[..line.len().min(MAX_LINE_BYTES)].trim_ascii()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_whole_line_with_something_in_it_is_shown() {
        let watch = Watch::default();
        assert_eq!(watch.state(), State::Waiting);
        watch.started();
        watch.printed(b"no end yet");
        assert_eq!(watch.state(), State::Running);
        watch.printed(b" now\r 50 %\r\n\n  \nstill open");
        assert_eq!(watch.state(), State::Printed("50 %".into()));
        watch.printed(b"\n");
        assert_eq!(watch.state(), State::Printed("still open".into()));
        watch.printed(b"one\ntwo\nthree\n");
        assert_eq!(watch.state(), State::Printed("three".into()));
        watch.printed(b"an only line\n \n");
        assert_eq!(watch.state(), State::Printed("an only line".into()));
        watch.hide("secret");
        watch.printed(b"secret: no such file\n");
        assert_eq!(watch.state(), State::Printed("an only line".into()));
    }
}
