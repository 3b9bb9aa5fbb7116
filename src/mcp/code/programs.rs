//! The programs of a server: how many run at once, and their numbers.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

use crate::code::{ReplayLog, now_ms};
use crate::exec::{CallerSlots, Stop, random_bytes};

/// Maximum programs that run at once. Others wait.
pub(crate) const MAX_PROGRAMS: usize = 8;

/// Maximum programs of one caller that run at once.
pub(crate) const MAX_PROGRAMS_OF_CALLER: usize = 4;

/// The programs of a server.
#[derive(Debug)]
pub(in crate::mcp) struct Programs {
    /// The number of the next run.
    next: AtomicU64,
    slots: Semaphore,
    of_callers: CallerSlots,
}

/// The slot of a program that runs.
pub(in crate::mcp) struct ProgramSlot<'a> {
    _own: Option<OwnedSemaphorePermit>,
    _all: Option<SemaphorePermit<'a>>,
}

impl Default for Programs {
    fn default() -> Self {
        Self { next: AtomicU64::new(0), slots: Semaphore::new(MAX_PROGRAMS), of_callers: CallerSlots::default() }
    }
}

impl Programs {
    /// Returns the log of a run that begins now.
    pub(in crate::mcp) fn begin(&self) -> ReplayLog {
        let run = self.next.fetch_add(1, Ordering::Relaxed);
        // If the system gives no random bytes, `Math.random` begins as in other runs.
        ReplayLog::new(run, u32::from_le_bytes(random_bytes().unwrap_or_default()), now_ms())
    }

    /// Waits until another program of this caller may run. It may for as long as the slot is held.
    ///
    /// # Errors
    /// The reason of the stop, which ends the wait.
    pub(in crate::mcp) async fn slot(
        &self,
        caller: &[u8],
        stop: impl Future<Output = Stop>,
    ) -> Result<ProgramSlot<'_>, Stop> {
        let own = self.of_callers.semaphore(&hex::encode(caller), MAX_PROGRAMS_OF_CALLER);
        // Acquiring fails only for a closed semaphore, and these are never closed.
        let slots =
            async { ProgramSlot { _own: own.acquire_owned().await.ok(), _all: self.slots.acquire().await.ok() } };
        tokio::select! {
            biased;
            why = stop => Err(why),
            slots = slots => Ok(slots),
        }
    }
}
