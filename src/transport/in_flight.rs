//! The requests in flight of one client: their number and the length of their lines.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard};

use rmcp::model::RequestId;

use crate::lock::Unpoisoned as _;

/// Requests over standard input that are being answered.
const MAX_OPEN_REQUESTS: usize = 4_096;

/// Bytes of lines over standard input, or of bodies of one caller over HTTP, that are being read or answered. The memory is some
/// times that, since each is copied.
pub(crate) const MAX_OPEN_BODY_BYTES: usize = 64 << 20;

/// Counts requests in flight.
#[derive(Debug, Default)]
pub(super) struct InFlight(Mutex<Requests>);

#[derive(Debug, Default)]
struct Requests {
    lengths: HashMap<RequestId, usize>,
    bytes: usize,
}

/// The reason why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InFlightError {
    /// There are too many.
    TooMany,
    /// They are too long together.
    TooLong,
    /// Another one has the same id.
    DuplicateId,
}

impl fmt::Display for InFlightError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany => write!(f, "{MAX_OPEN_REQUESTS} requests are open; wait for answers, and read them"),
            Self::TooLong => {
                let most = MAX_OPEN_BODY_BYTES >> 20;
                write!(f, "requests of {most} MiB are open; wait for answers, and read them")
            }
            Self::DuplicateId => f.write_str("a request with this id is open; each needs its own"),
        }
    }
}

impl InFlight {
    /// Counts a request with a line of `length` bytes.
    pub(super) fn add(&self, id: &RequestId, length: usize) -> Result<(), InFlightError> {
        let mut requests = self.lock();
        if requests.lengths.contains_key(id) {
            return Err(InFlightError::DuplicateId);
        }
        if requests.lengths.len() >= MAX_OPEN_REQUESTS {
            return Err(InFlightError::TooMany);
        }
        if requests.bytes + length > MAX_OPEN_BODY_BYTES {
            return Err(InFlightError::TooLong);
        }
        requests.bytes += length;
        requests.lengths.insert(id.clone(), length);
        Ok(())
    }

    /// Removes a request that is answered, or that will have no response.
    pub(super) fn remove(&self, id: &RequestId) {
        let mut requests = self.lock();
        if let Some(length) = requests.lengths.remove(id) {
            requests.bytes -= length;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Requests> {
        self.0.lock().unpoisoned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_number_and_length_and_refuses_duplicate_ids() {
        let requests = InFlight::default();
        let id = |number| RequestId::Number(number);
        assert_eq!(requests.add(&id(0), MAX_OPEN_BODY_BYTES), Ok(()));
        assert_eq!(requests.add(&id(0), 0), Err(InFlightError::DuplicateId));
        assert_eq!(requests.add(&id(1), 1), Err(InFlightError::TooLong));
        requests.remove(&id(0));
        assert_eq!(requests.add(&id(1), 1), Ok(()));
        requests.remove(&id(2));
        let most = i64::try_from(MAX_OPEN_REQUESTS).unwrap();
        assert!((2..=most).all(|number| requests.add(&id(number), 1).is_ok()));
        assert_eq!(requests.add(&id(most + 1), 1), Err(InFlightError::TooMany));
    }
}
