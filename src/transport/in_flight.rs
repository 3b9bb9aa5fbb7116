//! The requests in flight of one client: their number and the length of their lines.

use std::collections::HashMap;
use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};

use rmcp::model::RequestId;
use tokio::sync::Notify;

use crate::call::space::Claim;
use crate::lock::Unpoisoned as _;

/// Requests over standard input that are being answered.
const MAX_OPEN_REQUESTS: usize = 4_096;

/// Bytes of lines over standard input, or of bodies of one caller over HTTP, that are being read or answered. The
/// memory that they take is several times as large, because each is copied.
pub(crate) const MAX_OPEN_BODY_BYTES: usize = 64 << 20;

/// Counts requests in flight.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    requests: Mutex<Requests>,
    /// Notified when none is left.
    emptied: Notify,
}

#[derive(Debug, Default)]
struct Requests {
    open: HashMap<RequestId, Open>,
    bytes: usize,
}

/// A request in flight.
#[derive(Debug)]
struct Open {
    /// The length of its line.
    length: usize,
    /// The space of its result.
    result: Arc<Claim>,
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
    /// Counts a request with a line of `length` bytes, and holds the space of its result until it is removed.
    pub(super) fn add(&self, id: &RequestId, length: usize, result: &Arc<Claim>) -> Result<(), InFlightError> {
        let mut requests = self.lock();
        if requests.open.contains_key(id) {
            return Err(InFlightError::DuplicateId);
        }
        if requests.open.len() >= MAX_OPEN_REQUESTS {
            return Err(InFlightError::TooMany);
        }
        if requests.bytes + length > MAX_OPEN_BODY_BYTES {
            return Err(InFlightError::TooLong);
        }

        requests.bytes += length;
        requests.open.insert(id.clone(), Open { length, result: result.clone() });

        Ok(())
    }

    /// Removes a request that is answered, or that will have no response.
    pub(super) fn remove(&self, id: &RequestId) {
        let mut requests = self.lock();
        if let Some(Open { length, .. }) = requests.open.remove(id) {
            requests.bytes -= length;
        }
        if requests.open.is_empty() {
            self.emptied.notify_waiters();
        }
    }

    /// Claims the space that the result of a request really takes.
    pub(super) fn set_result_bytes(&self, id: &RequestId, bytes: usize) {
        if let Some(request) = self.lock().open.get(id) {
            request.result.set(bytes);
        }
    }

    /// Waits until no request is in flight.
    pub(super) async fn emptied(&self) {
        let mut emptied = pin!(self.emptied.notified());
        // Before the check, so that no notification is lost between both.
        emptied.as_mut().enable();
        if !self.lock().open.is_empty() {
            emptied.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unpoisoned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::space::Space;

    #[test]
    fn limits_number_and_length_and_refuses_duplicate_ids() {
        let requests = InFlight::default();
        let id = |number| RequestId::Number(number);
        let claim = Arc::new(Space::new().client().claim());
        let add = |number, length| requests.add(&id(number), length, &claim);
        assert_eq!(add(0, MAX_OPEN_BODY_BYTES), Ok(()));
        assert_eq!(add(0, 0), Err(InFlightError::DuplicateId));
        assert_eq!(add(1, 1), Err(InFlightError::TooLong));
        requests.remove(&id(0));
        assert_eq!(add(1, 1), Ok(()));
        requests.remove(&id(2));
        let most = i64::try_from(MAX_OPEN_REQUESTS).unwrap();
        assert!((2..=most).all(|number| add(number, 1).is_ok()));
        assert_eq!(add(most + 1, 1), Err(InFlightError::TooMany));
    }
}
