//! Locks that stay usable after a panic.
//!
//! A thread that panics while it holds a lock poisons it. The state behind the locks of this crate is whole after each single step,
//! so the other threads go on with it.

use std::sync::{LockResult, PoisonError};

/// Ignores that a lock is poisoned: `mutex.lock().unpoisoned()`, `rw_lock.read().unpoisoned()`.
pub(crate) trait Unpoisoned {
    /// The guard of a lock.
    type Guard;

    /// Returns the guard, whether or not the lock is poisoned.
    fn unpoisoned(self) -> Self::Guard;
}

impl<Guard> Unpoisoned for LockResult<Guard> {
    type Guard = Guard;

    fn unpoisoned(self) -> Guard {
        self.unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, RwLock};

    use super::*;

    #[test]
    fn locks_stay_usable_after_a_panic() {
        let (mutex, rw_lock) = (Mutex::new(1), RwLock::new(2));
        std::thread::scope(|scope| {
            let panicking = scope.spawn(|| {
                let _guards = (mutex.lock().unpoisoned(), rw_lock.write().unpoisoned());
                panic!("with both locks held");
            });
            assert!(panicking.join().is_err());
        });
        assert!(mutex.is_poisoned() && rw_lock.is_poisoned());
        assert_eq!(*mutex.lock().unpoisoned(), 1);
        *rw_lock.write().unpoisoned() += 1;
        assert_eq!(*rw_lock.read().unpoisoned(), 3);
    }
}
