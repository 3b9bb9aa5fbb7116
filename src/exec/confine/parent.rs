//! The server's side of a child that confines itself: builds its command line, and reads its errors.
//!
//! Pure. Landlock, seccomp and namespaces confine the process that calls them. So this binary is started again as a child,
//! which confines itself and then executes the program ([`super::execute`]).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::isolation::Isolation;
use super::order::{COMMAND, Holder, Order};
use super::rights::{CageRights, Readable, Rights};
use crate::exec::invocation::Invocation;
use crate::exec::outcome::Outcome;
use crate::exec::platform::this_program;

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

/// Builds the command line that runs `invocation`, whose program is at `path`, as the order says.
pub(crate) fn child_command(order: &Order, path: &Path, invocation: &Invocation) -> Invocation {
    let mut argv = vec![this_program(), COMMAND.to_owned()];
    argv.extend(order.words());
    argv.extend(["--".to_owned(), path.display().to_string()]);
    argv.extend(invocation.argv.iter().cloned());

    Invocation { argv, program_dir: None, confinement: None, ..invocation.clone() }
}

/// Returns the error message of the child, if it could not execute the program.
pub(crate) fn child_error(outcome: &Outcome, password: &str) -> Option<String> {
    let text = outcome.stderr.text();
    text.strip_prefix(password).map(|problem| problem.trim().to_owned())
}
