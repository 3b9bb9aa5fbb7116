//! What a running call shows of itself.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::Notify;

use super::lines::Lines;

/// Bytes of a line that are kept; who watches shows fewer.
pub(super) const MAX_LINE_BYTES: usize = 4 << 10;

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
    pub(super) fn complained(&self, bytes: &[u8]) {
        if let Some(lines) = &self.lines {
            lines.printed(bytes);
        }
        self.printed(bytes);
    }

    /// Takes in output: of both streams, in the order of its arrival. A carriage return ends a line too: progress bars
    /// print no other end.
    pub(super) fn printed(&self, bytes: &[u8]) {
        let mut inner = self.lock();
        let mut lines = bytes.split(|byte| matches!(byte, b'\n' | b'\r')).peekable();
        let mut last = None;
        while let Some(line) = lines.next() {
            let room = MAX_LINE_BYTES.saturating_sub(inner.open.len());
            inner.open.extend_from_slice(&line[..line.len().min(room)]);
            if lines.peek().is_some() {
                let whole = std::mem::take(&mut inner.open);
                last = Some(whole).filter(|line| self.is_shown(line)).or(last);
            }
        }
        if let Some(line) = last {
            inner.state = State::Printed(String::from_utf8_lossy(line.trim_ascii()).into_owned());
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
        watch.hide("secret");
        watch.printed(b"secret: no such file\n");
        assert_eq!(watch.state(), State::Printed("still open".into()));
    }
}
