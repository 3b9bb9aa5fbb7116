//! Outputs that were too long for their answer, for as long as they can be read.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use climax_catalog::hex;

use crate::exec::random_bytes;
use crate::limits::{KEPT_LIMIT, MAX_KEPT_BYTES};

/// The start of the URIs of outputs.
pub(super) const URI_START: &str = "climax://output/";

/// Bytes of an output's number, which nobody guesses.
const NUMBER_BYTES: usize = 16;

/// Outputs of all calls of a server, oldest first.
#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<VecDeque<Output>>);

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

impl Kept {
    /// Keeps an output; the URI that it can be read by. `None` if the system gives no number for it.
    pub(super) fn keep(&self, owner: Owner, bytes: Vec<u8>, mime: Option<String>) -> Option<String> {
        let uri = format!("{URI_START}{}", hex(&random_bytes::<NUMBER_BYTES>().ok()?));
        let mut outputs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        outputs.retain(|output| output.since.elapsed() < KEPT_LIMIT);
        let mut total = bytes.len() + outputs.iter().map(|output| output.bytes.len()).sum::<usize>();
        while total > MAX_KEPT_BYTES
            && let Some(oldest) = outputs.pop_front()
        {
            total -= oldest.bytes.len();
        }
        outputs.push_back(Output { uri: uri.clone(), owner, bytes, mime, since: Instant::now() });
        Some(uri)
    }

    /// Hands the bytes of an output, and what they are, to `read`, if it is there and `owner`'s.
    pub(super) fn read<T>(&self, owner: &Owner, uri: &str, read: impl FnOnce(&[u8], Option<&str>) -> T) -> Option<T> {
        let outputs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let there =
            |output: &&Output| output.uri == uri && output.owner == *owner && output.since.elapsed() < KEPT_LIMIT;
        outputs.iter().find(there).map(|output| read(&output.bytes, output.mime.as_deref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(caller: &str, conversation: Option<u64>) -> Owner {
        Owner { caller: caller.into(), conversation }
    }

    #[test]
    fn only_its_owner_reads_an_output() {
        let kept = Kept::default();
        let uri = kept.keep(owner("ada", Some(1)), b"abc".to_vec(), None).unwrap();
        assert_eq!(kept.read(&owner("ada", Some(1)), &uri, |bytes, _| bytes.len()), Some(3));
        for other in [owner("bob", Some(1)), owner("ada", Some(2)), owner("ada", None)] {
            assert_eq!(kept.read(&other, &uri, |bytes, _| bytes.len()), None, "{other:?}");
        }
        assert_eq!(kept.read(&owner("ada", Some(1)), &format!("{uri}0"), |bytes, _| bytes.len()), None);
    }

    #[test]
    fn the_oldest_make_room() {
        let kept = Kept::default();
        let uris: Vec<String> =
            (0..3).map(|_| kept.keep(owner("", None), vec![0; MAX_KEPT_BYTES / 2], None).unwrap()).collect();
        let there: Vec<bool> = uris.iter().map(|uri| kept.read(&owner("", None), uri, |_, _| ()).is_some()).collect();
        assert_eq!(there, [false, true, true]);
    }
}
