//! The programs of a server: how many run at once, and their numbers.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::code::{ReplayLog, now_ms};
use crate::exec::random_bytes;

/// Maximum programs that run at once. Others wait.
pub(crate) const MAX_PROGRAMS: usize = 8;

/// The programs of a server.
#[derive(Debug)]
pub(in crate::mcp) struct Programs {
    /// The number of the next run.
    next: AtomicU64,
    slots: Semaphore,
}

impl Default for Programs {
    fn default() -> Self {
        Self { next: AtomicU64::new(0), slots: Semaphore::new(MAX_PROGRAMS) }
    }
}

impl Programs {
    /// Returns the log of a run that begins now.
    pub(in crate::mcp) fn begin(&self) -> ReplayLog {
        let run = self.next.fetch_add(1, Ordering::Relaxed);
        // If the system gives no random bytes, `Math.random` begins as in other runs.
        ReplayLog::new(run, u32::from_le_bytes(random_bytes().unwrap_or_default()), now_ms())
    }

    /// Waits until another program may run. It may for as long as the permit is held.
    pub(in crate::mcp) async fn slot(&self) -> Option<SemaphorePermit<'_>> {
        // Acquiring fails only for a closed semaphore, and this one is never closed.
        self.slots.acquire().await.ok()
    }
}
