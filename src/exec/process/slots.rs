//! Slots: how many programs may run at once, and how many of them one caller may have.

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

use super::caller_slots::CallerSlots;
use crate::exec::outcome::Stop;

/// The slots of a runner. Calls get them in order of arrival.
#[derive(Debug)]
pub(crate) struct Slots {
    all: Semaphore,
    count: usize,
    waiting: AtomicUsize,
    callers: CallerSlots,
}

impl Slots {
    /// Makes `count` slots.
    pub(crate) fn new(count: usize) -> Self {
        Self { all: Semaphore::new(count), count, waiting: AtomicUsize::new(0), callers: CallerSlots::default() }
    }

    /// Returns the number of slots.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of slots that are taken now.
    pub(crate) fn taken(&self) -> usize {
        self.count.saturating_sub(self.all.available_permits())
    }

    /// Returns the number of calls that wait for a slot now.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Waits for a slot, until `stop` completes.
    ///
    /// # Errors
    /// The reason of the stop.
    pub(crate) async fn take(&self, stop: impl Future<Output = Stop>) -> Result<Option<SemaphorePermit<'_>>, Stop> {
        let _waiting = WaitingGuard::new(&self.waiting);
        tokio::select! {
            biased;
            why = stop => Err(why),
            // Acquiring fails only for a closed semaphore, and this one is never closed.
            slot = self.all.acquire() => Ok(slot.ok()),
        }
    }

    /// Waits for one of the slots of a caller, until `stop` completes.
    ///
    /// Each caller can have all slots but one, so that one caller cannot block all others.
    ///
    /// # Errors
    /// The reason of the stop.
    pub(crate) async fn take_of_caller(
        &self,
        caller: &str,
        stop: impl Future<Output = Stop>,
    ) -> Result<Option<OwnedSemaphorePermit>, Stop> {
        let slots = self.callers.semaphore(caller, self.count.saturating_sub(1).max(1));
        let _waiting = WaitingGuard::new(&self.waiting);
        tokio::select! {
            biased;
            why = stop => Err(why),
            // Acquiring fails only for a closed semaphore, and this one is never closed.
            slot = slots.acquire_owned() => Ok(slot.ok()),
        }
    }
}

/// Counts a waiting call until it is dropped.
struct WaitingGuard<'a>(&'a AtomicUsize);

impl<'a> WaitingGuard<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for WaitingGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
