//! The server's side of a child that confines itself: builds its command line, and reads its errors.
//!
//! Pure. Landlock, seccomp and namespaces confine the process that calls them. So this binary is started again as a child,
//! which confines itself and then executes the program ([`super::execute`]).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::isolation::Isolation;
use super::order::{COMMAND, HANDED_ON, Holder, Order};
use super::rights::{CageRights, Readable, Rights};
use crate::exec::environment::is_named;
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
///
/// `environment` are the variables of this process. Those that tell the dynamic loader which code to load are for the
/// program, and not for the child, which would load that code before it confines itself: they go under other names.
pub(crate) fn child_command(
    order: &Order,
    path: &Path,
    invocation: &Invocation,
    environment: impl Iterator<Item = (String, String)>,
) -> Invocation {
    let mut argv = vec![this_program(), COMMAND.to_owned()];
    argv.extend(order.words());
    argv.extend(["--".to_owned(), path.display().to_string()]);
    argv.extend(invocation.argv.iter().cloned());

    let is_inherited = |name: &str| invocation.inherited.as_ref().is_none_or(|names| is_named(name, names));
    let inherited = environment.filter(|(name, _)| is_of_loader(name) && is_inherited(name));
    let mut env: Vec<(String, String)> = Vec::new();
    for (name, value) in inherited.chain(invocation.env.iter().cloned()) {
        if is_of_loader(&name) {
            env.push((format!("{HANDED_ON}{name}"), value));
            // The loader takes an empty one for none.
            env.push((name, String::new()));
        } else {
            env.push((name, value));
        }
    }
    Invocation { argv, env, program_dir: None, confinement: None, ..invocation.clone() }
}

/// Whether a variable tells the dynamic loader which code to load, or how. Source: `ld.so`(8), `dyld`(1).
fn is_of_loader(name: &str) -> bool {
    name.starts_with("LD_") || name.starts_with("DYLD_") || name == "GLIBC_TUNABLES"
}

/// Returns the error message of the child, if it could not execute the program.
pub(crate) fn child_error(outcome: &Outcome, password: &str) -> Option<String> {
    let text = outcome.stderr.text();
    text.strip_prefix(password).map(|problem| problem.trim().to_owned())
}
