//! The loopback that the caged programs of a session share.

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::confine::{Isolation, Loopback};
use super::invocation::Invocation;

/// The loopback that the caged programs of a session share, from when the session wants it.
#[derive(Debug, Default)]
pub(super) struct SharedLoopback {
    is_wanted: AtomicBool,
    /// `None` in it if this system has none to give.
    made: OnceLock<Option<Loopback>>,
}

impl SharedLoopback {
    /// Lets all caged programs that start from now on share it.
    pub(super) fn want(&self) {
        self.is_wanted.store(true, Ordering::Relaxed);
    }

    /// Returns the loopback, made for the first program; `None` if each program has its own, or none.
    pub(super) fn get(&self, isolation: Isolation) -> Option<&Loopback> {
        if !self.is_wanted.load(Ordering::Relaxed) {
            return None;
        }
        let is_given = isolation == Isolation::Namespaces;
        self.made.get_or_init(|| is_given.then(|| Loopback::make().ok()).flatten()).as_ref()
    }

    /// Returns the loopback, if it has been made.
    pub(super) fn made(&self) -> Option<&Loopback> {
        self.made.get()?.as_ref()
    }

    /// Returns whether a program outside of all cages is to enter it, because a caged one waits for connections at a port
    /// that its words name, and it names no host but this machine.
    pub(super) fn is_meant_by(&self, invocation: &Invocation) -> bool {
        invocation.names_this_machine
            && self.made().is_some_and(|loopback| loopback.serves(&ports(&invocation.argv[1..])))
    }
}

/// Returns the numbers in the words of a command that can be ports.
fn ports(words: &[String]) -> BTreeSet<u16> {
    let numbers = words.iter().flat_map(|word| word.split(|c: char| !c.is_ascii_digit()));
    numbers.filter_map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_found_in_urls_and_in_words_of_their_own() {
        let words = ["-s", "http://localhost:8080/v1?limit=70000", "9000"].map(str::to_owned);
        assert_eq!(ports(&words), [1, 8080, 9000].into());
    }
}
