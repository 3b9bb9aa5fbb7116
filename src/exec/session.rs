//! What the programs of a session share: temporary files, and a loopback.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::confine::{Isolation, Loopback};
use super::invocation::Invocation;
use super::temporary::SessionFiles;

/// What the programs of a session share. It goes with the session.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) files: SessionFiles,
    /// The loopback, made for the first caged program; `None` in it if this system has none to give.
    loopback: OnceLock<Option<Loopback>>,
}

impl Session {
    /// Returns the loopback of its caged programs; `None` if each has its own, or none.
    pub(super) fn loopback(&self, isolation: Isolation) -> Option<&Loopback> {
        let is_given = isolation == Isolation::Namespaces;
        self.loopback.get_or_init(|| is_given.then(|| Loopback::make().ok()).flatten()).as_ref()
    }

    /// Returns the loopback, if it has been made.
    pub(super) fn made_loopback(&self) -> Option<&Loopback> {
        self.loopback.get()?.as_ref()
    }

    /// Returns the loopback that a program outside of all cages is to enter, because a caged one waits for connections at
    /// a port that its words name, and it names no host but this machine.
    pub(super) fn loopback_for(&self, invocation: &Invocation) -> Option<&Loopback> {
        if !invocation.names_this_machine {
            return None;
        }
        let loopback = self.made_loopback()?;
        let ports = ports(&invocation.argv[1..]);
        loopback.serves(&ports).then_some(loopback)
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
