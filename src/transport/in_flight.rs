//! The requests of one client that have not been answered yet: how many there are, and how long they were.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard};

use rmcp::model::RequestId;

use crate::lock::Unpoisoned as _;

/// Requests over standard input that are being answered.
const MAX_OPEN_REQUESTS: usize = 4_096;

/// Bytes of lines over standard input, or of bodies of one caller over HTTP, that are being read or answered. Some copies of each are
/// made.
pub(crate) const MAX_OPEN_BODY_BYTES: usize = 64 << 20;

/// Open requests with the lengths of their lines.
#[derive(Debug, Default)]
pub(super) struct InFlight(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    lengths: HashMap<RequestId, usize>,
    bytes: usize,
}

/// Why a request is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// There are too many.
    TooMany,
    /// They are too long together.
    TooLong,
    /// Another one has its id.
    SameId,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany => write!(f, "{MAX_OPEN_REQUESTS} requests are open; wait for answers, and read them"),
            Self::TooLong => {
                let most = MAX_OPEN_BODY_BYTES >> 20;
                write!(f, "requests of {most} MiB are open; wait for answers, and read them")
            }
            Self::SameId => f.write_str("a request with this id is open; each needs its own"),
        }
    }
}

impl InFlight {
    /// Counts a request, whose line had this length.
    pub(super) fn add(&self, id: &RequestId, length: usize) -> Result<(), Refused> {
        let mut open = self.lock();
        if open.lengths.contains_key(id) {
            return Err(Refused::SameId);
        }
        if open.lengths.len() >= MAX_OPEN_REQUESTS {
            return Err(Refused::TooMany);
        }
        if open.bytes + length > MAX_OPEN_BODY_BYTES {
            return Err(Refused::TooLong);
        }
        open.bytes += length;
        open.lengths.insert(id.clone(), length);
        Ok(())
    }

    /// A request has been answered, or will not be.
    pub(super) fn remove(&self, id: &RequestId) {
        let mut open = self.lock();
        if let Some(length) = open.lengths.remove(id) {
            open.bytes -= length;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unpoisoned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_and_length_are_bounded_and_ids_differ() {
        let open = InFlight::default();
        let id = |number| RequestId::Number(number);
        assert_eq!(open.add(&id(0), MAX_OPEN_BODY_BYTES), Ok(()));
        assert_eq!(open.add(&id(0), 0), Err(Refused::SameId));
        assert_eq!(open.add(&id(1), 1), Err(Refused::TooLong));
        open.remove(&id(0));
        assert_eq!(open.add(&id(1), 1), Ok(()));
        open.remove(&id(2));
        let most = i64::try_from(MAX_OPEN_REQUESTS).unwrap();
        assert!((2..=most).all(|number| open.add(&id(number), 1).is_ok()));
        assert_eq!(open.add(&id(most + 1), 1), Err(Refused::TooMany));
    }
}
