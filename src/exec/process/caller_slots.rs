//! Slots of callers: how much of one kind each of them may run at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use tokio::sync::Semaphore;

use crate::lock::Unpoisoned as _;

/// A semaphore per caller, for as long as the caller has calls.
#[derive(Debug, Default)]
pub(crate) struct CallerSlots(Mutex<HashMap<String, Weak<Semaphore>>>);

impl CallerSlots {
    /// Returns the semaphore of a caller, with `slots` permits if it is new.
    pub(crate) fn semaphore(&self, caller: &str, slots: usize) -> Arc<Semaphore> {
        let mut caller_slots = self.0.lock().unpoisoned();
        if let Some(semaphore) = caller_slots.get(caller).and_then(Weak::upgrade) {
            return semaphore;
        }

        caller_slots.retain(|_, semaphore| semaphore.strong_count() > 0);
        let semaphore = Arc::new(Semaphore::new(slots));
        caller_slots.insert(caller.to_owned(), Arc::downgrade(&semaphore));
        semaphore
    }
}
