//! Bounds the memory of results that clients have not read.
//!
//! A call claims space before it runs, and waits while its client leaves too much unread. The claim lasts until the transport has
//! written the result.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};

use climax_catalog::ResolvedTool;
use tokio::sync::Notify;

use crate::exec::Limits;
use crate::lock::Unpoisoned as _;

/// Bytes of results that all clients may leave unread. A client may leave as many as it leaves to others, so a single one has half.
/// The results of running calls come on top, where they are longer than their calls have claimed.
pub const MAX_UNREAD_BYTES: usize = 128 << 20;

/// The most that a call claims, in bytes, so that a few calls with long results can run at once.
const MAX_CLAIMED_BYTES: usize = 8 << 20;

/// The space for the results of all clients.
#[derive(Debug)]
pub struct Space {
    /// The bytes that are claimed.
    claimed: Mutex<usize>,
    /// Notified when bytes are free again.
    freed: Notify,
}

/// The part of one client.
#[derive(Debug)]
pub struct ClientSpace {
    space: Arc<Space>,
    /// The bytes that the client has claimed. Locked after those of all clients.
    claimed: Mutex<usize>,
}

/// The bytes of one result, or of a message on its way to the client. They are free again when it is dropped.
#[derive(Debug)]
pub struct Claim {
    client: Arc<ClientSpace>,
    bytes: Mutex<usize>,
}

impl Space {
    /// Makes a space of [`MAX_UNREAD_BYTES`].
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::new(Self { claimed: Mutex::default(), freed: Notify::new() })
    }

    /// Returns the part of another client.
    #[must_use]
    pub fn client(self: &Arc<Self>) -> Arc<ClientSpace> {
        Arc::new(ClientSpace { space: self.clone(), claimed: Mutex::default() })
    }
}

impl ClientSpace {
    /// Makes a claim of no bytes.
    #[must_use]
    pub fn claim(self: &Arc<Self>) -> Claim {
        Claim { client: self.clone(), bytes: Mutex::default() }
    }

    /// Returns whether the client may claim `bytes` more. If nothing is claimed, it may claim any number.
    fn has_room(&self, bytes: usize) -> bool {
        let all = *self.space.claimed.lock().unpoisoned() + bytes;
        let own = *self.claimed.lock().unpoisoned() + bytes;
        all == bytes || own <= MAX_UNREAD_BYTES.saturating_sub(all)
    }

    /// Waits until the client may claim `bytes` more.
    pub async fn room(&self, bytes: usize) {
        loop {
            let mut freed = pin!(self.space.freed.notified());
            // Before the check, so that no notification is lost between both.
            freed.as_mut().enable();
            if self.has_room(bytes) {
                return;
            }
            freed.await;
        }
    }
}

impl Claim {
    /// Waits until the client may claim `bytes`, and claims them.
    pub async fn wait_for(&self, bytes: usize) {
        // Between room and claim another call may claim the same bytes only on another thread; then both go on.
        self.client.room(bytes).await;
        self.set(bytes);
    }

    /// Claims exactly `bytes`, without waiting.
    pub fn set(&self, bytes: usize) {
        let mut own = self.bytes.lock().unpoisoned();
        let had = std::mem::replace(&mut *own, bytes);
        for claimed in [&self.client.space.claimed, &self.client.claimed] {
            let mut claimed: MutexGuard<'_, usize> = claimed.lock().unpoisoned();
            *claimed = *claimed - had + bytes;
        }

        if bytes < had {
            self.client.space.freed.notify_waiters();
        }
    }

    /// Claims at least `bytes`, without waiting.
    pub fn raise_to(&self, bytes: usize) {
        if *self.bytes.lock().unpoisoned() < bytes {
            self.set(bytes);
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.set(0);
    }
}

/// Returns the bytes that a call of a tool claims: about what its longest result takes.
///
/// A failed call has both streams in its text and in its structure.
pub(super) fn claimed_bytes(tool: ResolvedTool<'_>, limits: &Limits) -> usize {
    let has_media = tool.output().is_some() || tool.args().any(|arg| arg.output().is_some());
    let bytes = if has_media { limits.whole_bytes } else { limits.stream_bytes.saturating_mul(4) };
    bytes.min(MAX_CLAIMED_BYTES)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn client_leaves_as_much_as_it_claims() {
        let space = Space::new();
        let [first, second] = [space.client(), space.client()];
        let claim = first.claim();
        claim.set(MAX_UNREAD_BYTES / 2);
        assert!(!first.has_room(1) && second.has_room(MAX_UNREAD_BYTES / 4) && !second.has_room(MAX_UNREAD_BYTES / 2));
        drop(claim);
        assert!(first.has_room(2 * MAX_UNREAD_BYTES), "a result may be longer than all space");
    }

    #[test]
    fn claims_wait_until_bytes_are_free() {
        let client = Space::new().client();
        let [unread, next] = [client.claim(), client.claim()];
        unread.set(MAX_UNREAD_BYTES);
        assert!(next.wait_for(1_000).now_or_never().is_none());
        unread.set(1_000);
        assert!(next.wait_for(1_000).now_or_never().is_some());
        assert_eq!(*client.claimed.lock().unpoisoned(), 2_000);
        next.raise_to(10);
        drop((unread, next));
        assert_eq!(*client.claimed.lock().unpoisoned(), 0);
    }
}
