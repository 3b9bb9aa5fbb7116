//! The server's side of a child that confines itself: builds its order, and reads its errors.
//!
//! Pure. Landlock, seccomp and namespaces confine the process that calls them. So this binary is started again as a child,
//! which confines itself and then executes the program ([`super::execute`]).

use std::ffi::OsString;
use std::path::PathBuf;

use super::isolation::Isolation;
use super::order::{Holder, NeedsRights, Network, Order};
use super::rights::{CageRights, Readable, Rights};
use crate::exec::outcome::Outcome;

/// Builds the order of a cage. Without the network of the machine, the program has `network`.
pub(crate) fn cage_order(
    (rights, cage): (&Rights, &CageRights),
    (isolation, network): (Isolation, Network),
    password: &str,
) -> Order {
    let Rights { read, write, network: has_machine, local_sockets, metadata: _, cage: _ } = rights;
    let read = match read {
        Readable::Everything => vec!["/".into()],
        Readable::Listed(paths) => words(paths),
    };

    Order {
        password: password.into(),
        read,
        write: words(write),
        network: if *has_machine { Network::Machine } else { network },
        holder: Holder::Cage { rights: cage.clone(), isolation, local_sockets: *local_sockets },
    }
}

/// Builds the order of a program outside of all cages that enters the loopback of its session. It stays confined to the
/// needs of its tool, if it is.
pub(crate) fn session_order(rights: Option<&Rights>, password: &str) -> Order {
    let needs = |rights: &Rights| NeedsRights { local_sockets: rights.local_sockets, metadata: rights.metadata };
    Order {
        password: password.into(),
        read: Vec::new(),
        write: words(rights.map(|rights| rights.write.as_slice()).unwrap_or_default()),
        network: Network::Session,
        holder: Holder::Needs(rights.map(needs)),
    }
}

fn words(paths: &[PathBuf]) -> Vec<OsString> {
    paths.iter().map(|path| path.clone().into_os_string()).collect()
}

/// Returns the error message of the child, if it could not execute the program.
pub(crate) fn child_error(outcome: &Outcome, password: &str) -> Option<String> {
    let text = outcome.stderr.text();
    text.strip_prefix(password).map(|problem| problem.trim().to_owned())
}
