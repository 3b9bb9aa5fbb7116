//! Stores long outputs, so that clients can read them after the call.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::replica::{ReplicaName, new_id};
use crate::lock::Unpoisoned as _;

/// The largest total size of the stored outputs of all calls, in bytes.
pub const MAX_STORED_BYTES: usize = 64 << 20;

/// The time for which an output is stored.
const MAX_OUTPUT_AGE: Duration = Duration::from_mins(10);

/// The start of the URIs of stored outputs.
pub(super) const OUTPUT_URI_PREFIX: &str = "climax://output/";

/// An upper bound of what an output occupies besides its bytes: URI, reader, media type and queue entry.
const OVERHEAD_BYTES: usize = 512;

/// The stored outputs of all calls of a server.
#[derive(Debug, Default)]
pub(super) struct OutputStore(Mutex<StoredOutputs>);

#[derive(Debug, Default)]
struct StoredOutputs {
    /// Oldest first.
    queue: VecDeque<StoredOutput>,
    /// The sum of the outputs' sizes.
    bytes: usize,
    /// Whether a task removes expired outputs.
    is_sweeping: bool,
}

#[derive(Debug)]
struct StoredOutput {
    uri: String,
    reader: OutputReader,
    bytes: Vec<u8>,
    /// The media type. `None` for text of which clients read parts.
    mime: Option<String>,
    stored_at: Instant,
}

/// The caller and the connection that may read an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OutputReader {
    /// The identity of the caller; empty if the transport knows none.
    pub(super) caller: Vec<u8>,
    /// The id of the connection. `None` if the protocol revision has no connections.
    pub(super) connection: Option<u64>,
}

impl OutputStore {
    /// Stores an output of this replica and returns its URI. Returns `None` if the system gives no random bytes.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub(super) fn store(
        self: &Arc<Self>,
        replica: Option<&ReplicaName>,
        reader: OutputReader,
        bytes: Vec<u8>,
        mime: Option<String>,
    ) -> Option<String> {
        let uri = format!("{OUTPUT_URI_PREFIX}{}", new_id(replica)?);
        let output = StoredOutput { uri: uri.clone(), reader, bytes, mime, stored_at: Instant::now() };
        let mut outputs = self.lock();
        outputs.bytes += output.size();
        while outputs.bytes > MAX_STORED_BYTES && outputs.remove_oldest() {}
        outputs.queue.push_back(output);
        if !std::mem::replace(&mut outputs.is_sweeping, true) {
            tokio::spawn(sweep(Arc::downgrade(self)));
        }

        Some(uri)
    }

    /// Calls `read` with the bytes and the media type of an output, if it is stored and `reader` may read it.
    pub(super) fn read<T>(
        &self,
        reader: &OutputReader,
        uri: &str,
        read: impl FnOnce(&[u8], Option<&str>) -> T,
    ) -> Option<T> {
        let outputs = self.lock();
        let is_readable = |output: &&StoredOutput| {
            output.uri == uri && output.reader == *reader && output.stored_at.elapsed() < MAX_OUTPUT_AGE
        };
        outputs.queue.iter().find(is_readable).map(|output| read(&output.bytes, output.mime.as_deref()))
    }

    fn lock(&self) -> MutexGuard<'_, StoredOutputs> {
        self.0.lock().unpoisoned()
    }
}

impl StoredOutputs {
    /// Removes the oldest output. Returns whether there was one.
    fn remove_oldest(&mut self) -> bool {
        let oldest = self.queue.pop_front();
        self.bytes -= oldest.as_ref().map_or(0, StoredOutput::size);
        oldest.is_some()
    }

    /// Removes expired outputs. Returns when the next one expires; `None` if the store is empty.
    fn sweep(&mut self) -> Option<Instant> {
        while let Some(end) = self.queue.front().map(|oldest| oldest.stored_at + MAX_OUTPUT_AGE) {
            if end > Instant::now() {
                return Some(end);
            }
            self.remove_oldest();
        }
        self.is_sweeping = false;
        None
    }
}

impl StoredOutput {
    fn size(&self) -> usize {
        self.bytes.len() + OVERHEAD_BYTES
    }
}

/// Removes outputs when they expire, until the store is empty or dropped.
async fn sweep(store: Weak<OutputStore>) {
    let next = || store.upgrade().and_then(|store| store.lock().sweep());
    while let Some(end) = next() {
        sleep_until(end).await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    fn reader(caller: &str, connection: Option<u64>) -> OutputReader {
        OutputReader { caller: caller.into(), connection }
    }

    #[tokio::test]
    async fn only_its_reader_can_read_an_output() {
        let store = Arc::new(OutputStore::default());
        let uri = store.store(None, reader("ada", Some(1)), b"abc".to_vec(), None).unwrap();
        assert_eq!(store.read(&reader("ada", Some(1)), &uri, |bytes, _| bytes.len()), Some(3));
        for other in [reader("bob", Some(1)), reader("ada", Some(2)), reader("ada", None)] {
            assert_eq!(store.read(&other, &uri, |bytes, _| bytes.len()), None, "{other:?}");
        }
        assert_eq!(store.read(&reader("ada", Some(1)), &format!("{uri}0"), |bytes, _| bytes.len()), None);
    }

    #[tokio::test]
    async fn new_outputs_displace_the_oldest() {
        let store = Arc::new(OutputStore::default());
        let uris: Vec<String> = (0..3)
            .map(|_| store.store(None, reader("", None), vec![0; MAX_STORED_BYTES / 2 - OVERHEAD_BYTES], None).unwrap())
            .collect();
        let is_stored: Vec<bool> =
            uris.iter().map(|uri| store.read(&reader("", None), uri, |_, _| ()).is_some()).collect();
        assert_eq!(is_stored, [false, true, true]);
    }

    #[tokio::test]
    async fn empty_outputs_count_towards_the_limit() {
        let store = Arc::new(OutputStore::default());
        for _ in 0..=MAX_STORED_BYTES / OVERHEAD_BYTES {
            store.store(None, reader("", None), Vec::new(), None).unwrap();
        }
        assert_eq!(store.lock().queue.len(), MAX_STORED_BYTES / OVERHEAD_BYTES);
    }

    #[tokio::test(start_paused = true)]
    async fn expired_outputs_are_removed() {
        let store = Arc::new(OutputStore::default());
        for round in 0..2 {
            store.store(None, reader("", None), vec![0; 9], None).unwrap();
            sleep(MAX_OUTPUT_AGE / 2).await;
            store.store(None, reader("", None), vec![0; 9], None).unwrap();
            sleep(MAX_OUTPUT_AGE * 3 / 4).await;
            assert_eq!(store.lock().queue.len(), 1, "{round}");
            sleep(MAX_OUTPUT_AGE / 2).await;
            assert!(store.lock().queue.is_empty(), "{round}");
            assert_eq!(store.lock().bytes, 0);
        }
    }
}
