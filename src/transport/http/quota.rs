//! What callers share: the memory for bodies, and requests that are being answered.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use super::caller::Counted;
use crate::lock::Unpoisoned as _;

/// So much of something for all callers together.
#[derive(Debug)]
pub(super) struct Shares {
    most: usize,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    all: usize,
    by_caller: HashMap<Counted, usize>,
}

/// A part of it, which is free again when the last clone is gone.
#[derive(Clone, Debug)]
#[expect(dead_code, reason = "it is held, not read")]
pub(super) struct Share(Arc<Taken>);

/// A part of it that can grow, and is free again when it is dropped.
#[derive(Debug)]
pub(super) struct Taken {
    shares: Arc<Shares>,
    caller: Counted,
    units: usize,
}

impl Shares {
    /// Shares `most` units of something.
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, held: Mutex::default() })
    }

    /// Nothing yet, for this caller.
    pub(super) fn none_yet(self: &Arc<Self>, caller: Counted) -> Taken {
        Taken { shares: self.clone(), caller, units: 0 }
    }

    /// One unit for this caller, if it may have it.
    pub(super) fn one(self: &Arc<Self>, caller: Counted) -> Option<Taken> {
        let mut taken = self.none_yet(caller);
        taken.grow_to(1).then_some(taken)
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unpoisoned()
    }
}

impl Taken {
    /// Takes as much as makes `units` in all, unless the caller would hold more than what is left for others.
    ///
    /// So whoever comes first has half at most, and whoever comes next half of what is left: a few callers that take all they get
    /// leave something to another.
    #[must_use]
    pub(super) fn grow_to(&mut self, units: usize) -> bool {
        let more = units.saturating_sub(self.units);
        if more == 0 {
            return true;
        }
        let mut held = self.shares.lock();
        let of_caller = held.by_caller.get(&self.caller).copied().unwrap_or(0) + more;
        if of_caller > self.shares.most.saturating_sub(held.all + more) {
            return false;
        }
        held.all += more;
        held.by_caller.insert(self.caller.clone(), of_caller);
        drop(held);
        self.units = units;
        true
    }

    /// Keeps what was taken until the last clone is gone.
    pub(super) fn share(self) -> Share {
        Share(Arc::new(self))
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        if self.units == 0 {
            return;
        }
        let mut held = self.shares.lock();
        held.all -= self.units;
        if let Some(of_caller) = held.by_caller.get_mut(&self.caller) {
            *of_caller -= self.units;
            if *of_caller == 0 {
                held.by_caller.remove(&self.caller);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 1 << 20;

    fn caller(number: u8) -> Counted {
        Counted::Address([127, 0, 0, number].into())
    }

    #[test]
    fn a_caller_holds_no_more_than_it_leaves() {
        let all = Shares::new(MOST);
        let take = |number, bytes| {
            let mut taken = all.none_yet(caller(number));
            taken.grow_to(bytes).then(|| taken.share())
        };
        let half = take(1, MOST / 2).unwrap();
        assert!(take(1, 1).is_none());
        let quarter = take(2, MOST / 4).unwrap();
        assert!(take(2, 1).is_none() && take(3, MOST / 8).is_some());
        let clone = half.clone();
        drop(half);
        assert!(take(1, 1).is_none());
        drop(clone);
        assert!(take(1, MOST / 4).is_some());
        drop(quarter);
        assert!(all.lock().by_caller.is_empty() && all.lock().all == 0);
    }

    #[test]
    fn what_is_refused_takes_nothing() {
        let all = Shares::new(MOST);
        let mut taken = all.none_yet(caller(1));
        assert!(taken.grow_to(1_000) && !taken.grow_to(MOST));
        assert_eq!(all.lock().all, 1_000);
        drop(taken);
        assert!(all.lock().by_caller.is_empty());
    }
}
