//! The server's side of a child that confines itself: builds its order, and reads its errors.
//!
//! Pure. Landlock, seccomp and namespaces confine the process that calls them. So this binary is started again as a child,
//! which confines itself and then executes the program ([`super::execute`]).

use std::ffi::OsString;
use std::path::PathBuf;

use super::isolation::Isolation;
use super::order::{Holder, Order};
use super::rights::{CageRights, Readable, Rights};
use crate::exec::outcome::Outcome;

/// Builds the order of a cage.
pub(crate) fn cage_order(rights: &Rights, cage: &CageRights, isolation: Isolation, password: &str) -> Order {
    let Rights { read, write, network, local_sockets, metadata: _, cage: _ } = rights;
    let words = |paths: &[PathBuf]| paths.iter().map(|path| path.clone().into_os_string()).collect::<Vec<OsString>>();
    let read = match read {
        Readable::Everything => vec!["/".into()],
        Readable::Listed(paths) => words(paths),
    };

    Order {
        password: password.into(),
        read,
        write: words(write),
        network: *network,
        holder: Holder::Cage { rights: cage.clone(), isolation, local_sockets: *local_sockets },
    }
}

/// Returns the error message of the child, if it could not execute the program.
pub(crate) fn child_error(outcome: &Outcome, password: &str) -> Option<String> {
    let text = outcome.stderr.text();
    text.strip_prefix(password).map(|problem| problem.trim().to_owned())
}
