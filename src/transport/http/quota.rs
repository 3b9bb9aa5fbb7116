//! A quota that all callers share: of memory for bodies, or of requests in flight.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::caller::LimitKey;
use crate::lock::Unpoisoned as _;

/// A number of units for all callers together.
#[derive(Debug)]
pub(super) struct Quota {
    limit: usize,
    used: Mutex<Used>,
}

#[derive(Debug, Default)]
struct Used {
    total: usize,
    by_caller: HashMap<LimitKey, usize>,
}

/// Units of a quota that one caller holds. They are free again when it is dropped.
#[derive(Debug)]
pub(super) struct Permit {
    quota: Arc<Quota>,
    caller: LimitKey,
    units: usize,
}

impl Quota {
    /// Creates a quota of `limit` units.
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, used: Mutex::default() })
    }

    /// A permit for this caller without units, which can grow.
    pub(super) fn empty_permit(self: &Arc<Self>, caller: LimitKey) -> Permit {
        Permit { quota: self.clone(), caller, units: 0 }
    }

    /// A permit of one unit for this caller; `None` if it may have no more.
    pub(super) fn permit(self: &Arc<Self>, caller: LimitKey) -> Option<Permit> {
        let mut permit = self.empty_permit(caller);
        permit.grow_to(1).then_some(permit)
    }
}

impl Permit {
    /// Grows to `units` in all, unless the caller would then hold more than it leaves to others.
    ///
    /// So the first caller gets half at most, and the next one half of the rest. A few callers that take all they can get leave
    /// something to another.
    #[must_use]
    pub(super) fn grow_to(&mut self, units: usize) -> bool {
        let more = units.saturating_sub(self.units);
        if more == 0 {
            return true;
        }

        let mut used = self.quota.used.lock().unpoisoned();
        let of_caller = used.by_caller.get(&self.caller).copied().unwrap_or(0) + more;
        if of_caller > self.quota.limit.saturating_sub(used.total + more) {
            return false;
        }

        used.total += more;
        used.by_caller.insert(self.caller.clone(), of_caller);
        drop(used);
        self.units = units;

        true
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if self.units == 0 {
            return;
        }

        let mut used = self.quota.used.lock().unpoisoned();
        used.total -= self.units;
        if let Some(of_caller) = used.by_caller.get_mut(&self.caller) {
            *of_caller -= self.units;
            if *of_caller == 0 {
                used.by_caller.remove(&self.caller);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 1 << 20;

    fn caller(number: u8) -> LimitKey {
        LimitKey::Address([127, 0, 0, number].into())
    }

    #[test]
    fn caller_holds_no_more_than_it_leaves() {
        let quota = Quota::new(LIMIT);
        let take = |number, bytes| {
            let mut permit = quota.empty_permit(caller(number));
            permit.grow_to(bytes).then_some(permit)
        };
        let half = take(1, LIMIT / 2).unwrap();
        assert!(take(1, 1).is_none());
        let quarter = take(2, LIMIT / 4).unwrap();
        assert!(take(2, 1).is_none() && take(3, LIMIT / 8).is_some());
        drop(half);
        assert!(take(1, LIMIT / 4).is_some());
        drop(quarter);
        let used = quota.used.lock().unpoisoned();

        assert!(used.by_caller.is_empty() && used.total == 0);
    }

    #[test]
    fn refused_growth_takes_nothing() {
        let quota = Quota::new(LIMIT);
        let mut permit = quota.empty_permit(caller(1));
        assert!(permit.grow_to(1_000) && !permit.grow_to(LIMIT));
        assert_eq!(quota.used.lock().unpoisoned().total, 1_000);
        drop(permit);
        assert!(quota.used.lock().unpoisoned().by_caller.is_empty());
    }
}
