//! A command in the background, as shells see it.

use std::sync::{Arc, OnceLock};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The status of `wait` for a command that the shell has not started. Source: POSIX.1-2024, `wait`.
pub(super) const NO_JOB: i32 = 127;

/// A command in the background, as shells see it.
#[derive(Clone, Debug)]
pub(super) struct Job {
    /// How many the line has started up to it.
    pub(super) count: u32,
    /// Its place among those of its shell, from 1.
    pub(super) place: usize,
    pub(super) text: Arc<str>,
    pub(super) ending: CancellationToken,
    /// The signal that has ended it.
    pub(super) signal: Arc<OnceLock<i32>>,
    /// Its status, once it has ended.
    pub(super) status: watch::Receiver<Option<i32>>,
    /// Whether its shell has waited for its end, behind which no place names it any more.
    pub(super) is_reported: bool,
}

impl Job {
    /// Returns its status, once it has ended.
    pub(super) fn status(&self) -> Option<i32> {
        *self.status.borrow()
    }

    /// Waits for its end, and returns its status, which its shell knows from then on.
    pub(super) async fn reported(&mut self) -> i32 {
        let ended = self.status.wait_for(Option::is_some).await.map(|status| *status);
        self.is_reported = true;
        ended.ok().flatten().unwrap_or(NO_JOB)
    }

    /// Ends it by a signal.
    pub(super) fn end(&self, signal: i32) {
        let _ = self.signal.set(signal);
        self.ending.cancel();
    }
}
