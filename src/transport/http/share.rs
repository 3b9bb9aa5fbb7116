//! The memory for bodies, shared among callers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::caller::Counted;
use crate::limits::MAX_OPEN_BODIES_BYTES;

/// The memory for all bodies together.
#[derive(Debug, Default)]
pub(super) struct Shares(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    bytes: usize,
    by_caller: HashMap<Counted, usize>,
}

/// A part of the memory, which is free again when the last clone is gone.
#[derive(Clone, Debug)]
#[expect(dead_code, reason = "it is held, not read")]
pub(super) struct Share(Arc<Taken>);

/// A part of the memory that grows with a body.
#[derive(Debug)]
pub(super) struct Taken {
    all: Arc<Shares>,
    caller: Counted,
    bytes: usize,
}

impl Shares {
    pub(super) fn none_yet(self: &Arc<Self>, caller: Counted) -> Taken {
        Taken { all: self.clone(), caller, bytes: 0 }
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    /// Takes as much as makes `bytes` in all, unless the caller would hold more than what is left for others.
    ///
    /// So whoever comes first has half at most, and whoever comes next half of what is left: a few callers that take all they get
    /// leave something to another.
    #[must_use]
    pub(super) fn grow_to(&mut self, bytes: usize) -> bool {
        let more = bytes.saturating_sub(self.bytes);
        if more == 0 {
            return true;
        }
        let mut held = self.all.lock();
        let of_caller = held.by_caller.get(&self.caller).copied().unwrap_or(0) + more;
        if of_caller > MAX_OPEN_BODIES_BYTES.saturating_sub(held.bytes + more) {
            return false;
        }
        held.bytes += more;
        held.by_caller.insert(self.caller.clone(), of_caller);
        drop(held);
        self.bytes = bytes;
        true
    }

    /// Keeps what was taken until the last clone is gone.
    pub(super) fn share(self) -> Share {
        Share(Arc::new(self))
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let mut held = self.all.lock();
        held.bytes -= self.bytes;
        if let Some(of_caller) = held.by_caller.get_mut(&self.caller) {
            *of_caller -= self.bytes;
            if *of_caller == 0 {
                held.by_caller.remove(&self.caller);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(number: u8) -> Counted {
        Counted::Address([127, 0, 0, number].into())
    }

    #[test]
    fn a_caller_holds_no_more_than_it_leaves() {
        let all = Arc::new(Shares::default());
        let take = |number, bytes| {
            let mut taken = all.none_yet(caller(number));
            taken.grow_to(bytes).then(|| taken.share())
        };
        let half = take(1, MAX_OPEN_BODIES_BYTES / 2).unwrap();
        assert!(take(1, 1).is_none());
        let quarter = take(2, MAX_OPEN_BODIES_BYTES / 4).unwrap();
        assert!(take(2, 1).is_none() && take(3, MAX_OPEN_BODIES_BYTES / 8).is_some());
        let clone = half.clone();
        drop(half);
        assert!(take(1, 1).is_none());
        drop(clone);
        assert!(take(1, MAX_OPEN_BODIES_BYTES / 4).is_some());
        drop(quarter);
        assert!(all.lock().by_caller.is_empty() && all.lock().bytes == 0);
    }

    #[test]
    fn what_is_refused_takes_nothing() {
        let all = Arc::new(Shares::default());
        let mut taken = all.none_yet(caller(1));
        assert!(taken.grow_to(1_000) && !taken.grow_to(MAX_OPEN_BODIES_BYTES));
        assert_eq!(all.lock().bytes, 1_000);
        drop(taken);
        assert!(all.lock().by_caller.is_empty());
    }
}
