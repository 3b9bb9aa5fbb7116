//! The server's side of the sandbox: builds the command line of the child, and reads its errors.
//!
//! Pure. Landlock and seccomp confine the process that calls them. So this binary is started again as a child, which
//! confines itself and then executes the program ([`super::execute`]).

use std::ffi::OsString;
use std::path::Path;

use climax_catalog::expansion::{Lookup, policy_path};
use climax_catalog::policy::Sandbox;

use super::order::{COMMAND, Order};
use crate::exec::invocation::Invocation;
use crate::exec::outcome::Outcome;
use crate::exec::platform::this_program;

/// Paths that a description names of each kind.
const MAX_NAMED_PATHS: usize = 8;

/// Builds the command line that runs `invocation`, whose program is at `path`, in the sandbox.
///
/// Error messages of the child start with `password`, which the program does not know.
pub(crate) fn child_command(
    sandbox: &Sandbox,
    password: &str,
    path: &Path,
    invocation: &Invocation,
    variables: Lookup<'_>,
) -> Invocation {
    let mut write = expanded(&sandbox.write, variables);
    write.extend(invocation.files_dir.iter().map(|dir| dir.clone().into_os_string()));

    let order = Order {
        password: password.into(),
        read: expanded(&sandbox.read, variables),
        write,
        network: sandbox.network,
        limits: sandbox.limits,
    };

    let mut argv = vec![this_program(), COMMAND.to_owned()];
    argv.extend(order.words());
    argv.extend(["--".to_owned(), path.display().to_string()]);
    argv.extend(invocation.argv.iter().cloned());

    Invocation { argv, program_dir: None, ..invocation.clone() }
}

fn expanded(paths: &[String], variables: Lookup<'_>) -> Vec<OsString> {
    paths.iter().map(|path| policy_path(path, variables).into()).collect()
}

/// Describes what a program could reach in the sandbox, in one line for its user.
pub(crate) fn description(sandbox: &Sandbox, variables: Lookup<'_>) -> String {
    let (read, write) = (named(&sandbox.read, variables), named(&sandbox.write, variables));
    let network = if sandbox.network { "It had the network." } else { "It had no network." };
    format!("The program ran in the policy's sandbox. It could read {read}. It could write {write}. {network}")
}

/// Names the first of the paths, and the number of the others.
fn named(paths: &[String], variables: Lookup<'_>) -> String {
    let named: Vec<String> = paths.iter().take(MAX_NAMED_PATHS).map(|path| policy_path(path, variables)).collect();

    match paths.len() - named.len() {
        0 if named.is_empty() => "nothing".to_owned(),
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// Returns the error message of the child, if it could not execute the program.
pub(crate) fn child_error(outcome: &Outcome, password: &str) -> Option<String> {
    let text = outcome.stderr.text();
    text.strip_prefix(password).map(|problem| problem.trim().to_owned())
}
