//! Starts programs in order. A start that lacks descriptors, processes or memory waits until a program ends.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Mutex, Notify};

use crate::exec::error::SpawnError;

/// The queue of programs to start.
#[derive(Debug, Default)]
pub(crate) struct StartQueue {
    /// The start that is first in the queue holds it, also while it waits.
    turn: Mutex<()>,
    running: AtomicUsize,
    ended: Notify,
}

/// A running program of a queue, until it is dropped.
pub(crate) struct RunningProgram<'a>(&'a StartQueue);

impl StartQueue {
    /// Starts a program with `spawn`, after the starts that came before.
    ///
    /// If the system lacks a resource that a running program may free, it tries again whenever one ends.
    ///
    /// # Errors
    /// The error of `spawn`. A lack of resources is one only if no program of this queue runs.
    pub(crate) async fn start<T>(
        &self,
        spawn: impl Fn() -> Result<T, SpawnError>,
    ) -> Result<(RunningProgram<'_>, T), SpawnError> {
        let _turn = self.turn.lock().await;

        loop {
            match spawn() {
                Err(error) if error.is_exhaustion() && self.running.load(Ordering::Relaxed) > 0 => {
                    tracing::debug!(%error, "the start waits for a program to end");
                    self.ended.notified().await;
                }
                started => return started.map(|program| (RunningProgram::new(self), program)),
            }
        }
    }
}

impl<'a> RunningProgram<'a> {
    fn new(queue: &'a StartQueue) -> Self {
        queue.running.fetch_add(1, Ordering::Relaxed);
        Self(queue)
    }
}

impl Drop for RunningProgram<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
        // If no start waits yet, the notification is stored for the next one that does.
        self.0.ended.notify_one();
    }
}
