//! The progress of a running call: its state, its last line of output, its log lines.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use tokio::sync::Notify;

use super::stderr_lines::{MAX_LINE_BYTES, StderrLines};
use super::transcript::Transcript;
use crate::lock::Unpoisoned as _;

/// Reports the progress of one call while it waits and runs.
#[derive(Debug, Default)]
pub struct Watch {
    inner: Mutex<Inner>,
    changed: Notify,
    lines: Option<StderrLines>,
    /// Records both streams.
    transcript: Option<Arc<Transcript>>,
    /// Records standard output alone.
    stdout: Option<Arc<Transcript>>,
    /// Lines with this prefix come from the child of the sandbox and are not reported.
    hidden_prefix: OnceLock<String>,
}

#[derive(Debug, Default)]
struct Inner {
    state: CallState,
    /// The command of a line that runs.
    stage: Option<String>,
    /// The unfinished line.
    partial: Vec<u8>,
}

/// The state of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CallState {
    /// The program has not been started.
    #[default]
    Waiting,
    /// The program runs and has not printed a whole line.
    Running,
    /// The program runs and printed this line last.
    Printed(String),
}

impl Watch {
    /// Makes a watch that also queues the lines of standard error.
    #[must_use]
    pub fn with_lines() -> Self {
        Self { lines: Some(StderrLines::default()), ..Self::default() }
    }

    /// Adds what the program prints to a transcript too.
    #[must_use]
    pub fn recorded(self, transcript: Option<Arc<Transcript>>) -> Self {
        Self { transcript, ..self }
    }

    /// Adds what the program prints on standard output to a transcript too.
    #[must_use]
    pub fn with_stdout(self, stdout: Arc<Transcript>) -> Self {
        Self { stdout: Some(stdout), ..self }
    }

    /// Returns the queued lines of standard error; `None` if this watch does not queue them.
    #[must_use]
    pub fn lines(&self) -> Option<&StderrLines> {
        self.lines.as_ref()
    }

    /// Returns the state of the call.
    #[must_use]
    pub fn state(&self) -> CallState {
        self.lock().state.clone()
    }

    /// Returns the command of a line that runs; `None` for a call of one program.
    #[must_use]
    pub fn stage(&self) -> Option<String> {
        self.lock().stage.clone()
    }

    /// Names the command of a line that runs now.
    pub fn name_stage(&self, text: &str) {
        self.lock().stage = Some(text.to_owned());
    }

    /// Waits until [`Self::state`] has changed since the last wait. It may return early.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    pub(crate) fn started(&self) {
        self.lock().state = CallState::Running;
        self.changed.notify_one();
    }

    /// Ignores lines that start with `prefix`.
    pub(crate) fn hide_prefix(&self, prefix: &str) {
        if let Some(lines) = &self.lines {
            lines.hide_prefix(prefix);
        }
        // A watch belongs to one call, and a call has one prefix.
        let _ = self.hidden_prefix.set(prefix.to_owned());
    }

    /// Reports what the line itself prints, and not a program of it.
    pub(crate) fn printed(&self, bytes: &[u8]) {
        self.output(bytes);
    }

    /// Reports output on standard output.
    pub(crate) fn stdout(&self, bytes: &[u8]) {
        if let Some(stdout) = &self.stdout {
            stdout.push(bytes);
        }
        self.output(bytes);
    }

    /// Reports output on standard error.
    pub(crate) fn stderr(&self, bytes: &[u8]) {
        if let Some(lines) = &self.lines {
            lines.push(bytes);
        }
        self.output(bytes);
    }

    /// Reports output on either stream, in the order in which it arrives.
    ///
    /// A carriage return ends a line too, because progress bars print no newline.
    fn output(&self, bytes: &[u8]) {
        if let Some(transcript) = &self.transcript
            && !self.is_hidden(bytes)
        {
            transcript.push(bytes);
        }

        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let mut inner = self.lock();
        let Some(end) = bytes.iter().rposition(is_end) else { return inner.extend(bytes) };
        let first = bytes.iter().position(is_end).unwrap_or(end);
        inner.extend(&bytes[..first]);

        // Only the last line counts, so the search starts at the end: much output must not slow the program down.
        let later = bytes[first..end].rsplit(is_end).find(|line| self.is_reported(line));
        let last = later.or_else(|| Some(inner.partial.as_slice()).filter(|line| self.is_reported(line)));
        let state = last.map(|line| CallState::Printed(line_text(line)));

        inner.partial.clear();
        inner.extend(&bytes[end + 1..]);
        if let Some(state) = state {
            inner.state = state;
            drop(inner);
            self.changed.notify_one();
        }
    }

    /// Whether a line is neither blank nor from the child of the sandbox.
    fn is_reported(&self, line: &[u8]) -> bool {
        !line.trim_ascii().is_empty() && !self.is_hidden(line)
    }

    fn is_hidden(&self, line: &[u8]) -> bool {
        self.hidden_prefix.get().is_some_and(|prefix| line.starts_with(prefix.as_bytes()))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unpoisoned()
    }
}

impl Inner {
    fn extend(&mut self, bytes: &[u8]) {
        let room = MAX_LINE_BYTES.saturating_sub(self.partial.len());
        self.partial.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

fn line_text(line: &[u8]) -> String {
    String::from_utf8_lossy(line[..line.len().min(MAX_LINE_BYTES)].trim_ascii()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_is_the_last_whole_line_that_is_not_blank() {
        let watch = Watch::default();
        assert_eq!(watch.state(), CallState::Waiting);
        watch.started();
        watch.output(b"no end yet");
        assert_eq!(watch.state(), CallState::Running);
        watch.output(b" now\r 50 %\r\n\n  \nstill open");
        assert_eq!(watch.state(), CallState::Printed("50 %".into()));
        watch.output(b"\n");
        assert_eq!(watch.state(), CallState::Printed("still open".into()));
        watch.output(b"one\ntwo\nthree\n");
        assert_eq!(watch.state(), CallState::Printed("three".into()));
        watch.output(b"an only line\n \n");
        assert_eq!(watch.state(), CallState::Printed("an only line".into()));
        watch.hide_prefix("secret");
        watch.output(b"secret: no such file\n");
        assert_eq!(watch.state(), CallState::Printed("an only line".into()));
    }
}
