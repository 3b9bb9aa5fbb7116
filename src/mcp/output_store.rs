//! Outputs that were too long for their answer, for as long as they can be read.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::time::{Instant, sleep_until};

use crate::exec::random_bytes;
use std::time::Duration;

/// Bytes of outputs that can be read later, of all calls.
pub const MAX_KEPT_BYTES: usize = 64 << 20;

/// How long an output can be read later.
const KEPT_LIMIT: Duration = Duration::from_mins(10);

/// The start of the URIs of outputs.
pub(super) const URI_START: &str = "climax://output/";

/// Bytes of an output's number, which nobody guesses.
const NUMBER_BYTES: usize = 16;

/// What an output takes besides its bytes, at most: its number, its owner, and their places.
const OVERHEAD_BYTES: usize = 512;

/// Outputs of all calls of a server.
#[derive(Debug, Default)]
pub(super) struct OutputStore(Mutex<Outputs>);

#[derive(Debug, Default)]
struct Outputs {
    /// Oldest first.
    queue: VecDeque<Output>,
    /// What all of them take.
    bytes: usize,
    /// Whether a task waits to forget the oldest.
    is_swept: bool,
}

#[derive(Debug)]
struct Output {
    uri: String,
    owner: Owner,
    bytes: Vec<u8>,
    /// What it is, if it is more than text.
    mime: Option<String>,
    since: Instant,
}

/// Who may read an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    /// What tells the caller from others, if the transport knows one.
    pub(super) caller: Vec<u8>,
    /// The number of the conversation, where there are conversations.
    pub(super) conversation: Option<u64>,
}

impl OutputStore {
    /// Keeps an output; the URI that it can be read by. `None` if the system gives no number for it.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub(super) fn keep(self: &Arc<Self>, owner: Owner, bytes: Vec<u8>, mime: Option<String>) -> Option<String> {
        let uri = format!("{URI_START}{}", hex::encode(random_bytes::<NUMBER_BYTES>().ok()?));
        let output = Output { uri: uri.clone(), owner, bytes, mime, since: Instant::now() };
        let mut outputs = self.lock();
        outputs.bytes += output.cost();
        while outputs.bytes > MAX_KEPT_BYTES && outputs.forget_oldest() {}
        outputs.queue.push_back(output);
        if !std::mem::replace(&mut outputs.is_swept, true) {
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
        Some(uri)
    }

    /// Hands the bytes of an output, and what they are, to `read`, if it is there and `owner`'s.
    pub(super) fn read<T>(&self, owner: &Owner, uri: &str, read: impl FnOnce(&[u8], Option<&str>) -> T) -> Option<T> {
        let outputs = self.lock();
        let there =
            |output: &&Output| output.uri == uri && output.owner == *owner && output.since.elapsed() < KEPT_LIMIT;
        outputs.queue.iter().find(there).map(|output| read(&output.bytes, output.mime.as_deref()))
    }

    fn lock(&self) -> MutexGuard<'_, Outputs> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outputs {
    /// Whether there was one.
    fn forget_oldest(&mut self) -> bool {
        let oldest = self.queue.pop_front();
        self.bytes -= oldest.as_ref().map_or(0, Output::cost);
        oldest.is_some()
    }

    /// Forgets what cannot be read any more; when the oldest of the others cannot be, if there are others.
    fn sweep(&mut self) -> Option<Instant> {
        while let Some(end) = self.queue.front().map(|oldest| oldest.since + KEPT_LIMIT) {
            if end > Instant::now() {
                return Some(end);
            }
            self.forget_oldest();
        }
        self.is_swept = false;
        None
    }
}

impl Output {
    fn cost(&self) -> usize {
        self.bytes.len() + OVERHEAD_BYTES
    }
}

/// Forgets outputs in time, whether or not there are calls, until none is left.
async fn sweep(kept: Weak<OutputStore>) {
    let next = || kept.upgrade().and_then(|kept| kept.lock().sweep());
    while let Some(end) = next() {
        sleep_until(end).await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    fn owner(caller: &str, conversation: Option<u64>) -> Owner {
        Owner { caller: caller.into(), conversation }
    }

    #[tokio::test]
    async fn only_its_owner_reads_an_output() {
        let kept = Arc::new(OutputStore::default());
        let uri = kept.keep(owner("ada", Some(1)), b"abc".to_vec(), None).unwrap();
        assert_eq!(kept.read(&owner("ada", Some(1)), &uri, |bytes, _| bytes.len()), Some(3));
        for other in [owner("bob", Some(1)), owner("ada", Some(2)), owner("ada", None)] {
            assert_eq!(kept.read(&other, &uri, |bytes, _| bytes.len()), None, "{other:?}");
        }
        assert_eq!(kept.read(&owner("ada", Some(1)), &format!("{uri}0"), |bytes, _| bytes.len()), None);
    }

    #[tokio::test]
    async fn the_oldest_make_room() {
        let kept = Arc::new(OutputStore::default());
        let uris: Vec<String> = (0..3)
            .map(|_| kept.keep(owner("", None), vec![0; MAX_KEPT_BYTES / 2 - OVERHEAD_BYTES], None).unwrap())
            .collect();
        let there: Vec<bool> = uris.iter().map(|uri| kept.read(&owner("", None), uri, |_, _| ()).is_some()).collect();
        assert_eq!(there, [false, true, true]);
    }

    #[tokio::test]
    async fn small_outputs_are_bounded_too() {
        let kept = Arc::new(OutputStore::default());
        for _ in 0..=MAX_KEPT_BYTES / OVERHEAD_BYTES {
            kept.keep(owner("", None), Vec::new(), None).unwrap();
        }
        assert_eq!(kept.lock().queue.len(), MAX_KEPT_BYTES / OVERHEAD_BYTES);
    }

    #[tokio::test(start_paused = true)]
    async fn what_cannot_be_read_any_more_takes_no_memory() {
        let kept = Arc::new(OutputStore::default());
        for round in 0..2 {
            kept.keep(owner("", None), vec![0; 9], None).unwrap();
            sleep(KEPT_LIMIT / 2).await;
            kept.keep(owner("", None), vec![0; 9], None).unwrap();
            sleep(KEPT_LIMIT * 3 / 4).await;
            assert_eq!(kept.lock().queue.len(), 1, "{round}");
            sleep(KEPT_LIMIT / 2).await;
            assert!(kept.lock().queue.is_empty(), "{round}");
            assert_eq!(kept.lock().bytes, 0);
        }
    }
}
