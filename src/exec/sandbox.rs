//! Builds the command line of the shim that runs a program in a sandbox.
//!
//! Pure. Landlock and seccomp confine the process that calls them. So this program is started again, confines itself,
//! and then executes the program ([`super::shim`]).

use std::path::Path;

use climax_catalog::expansion::{Lookup, policy_path};
use climax_catalog::policy::Sandbox;

use super::Outcome;
use super::invocation::Invocation;
use super::self_exec::this_program;
use super::shim_order::{COMMAND, ShimOrder};

/// Paths that a description names of each kind.
const MAX_NAMED_PATHS: usize = 8;

/// Builds the command line that runs `invocation`, whose program is at `path`, in the sandbox.
///
/// Error messages of the shim start with `password`, which the program does not know.
pub(super) fn shim_command(
    sandbox: &Sandbox,
    password: &str,
    path: &Path,
    invocation: &Invocation,
    variables: Lookup<'_>,
) -> Invocation {
    let expanded = |paths: &[String]| paths.iter().map(|path| policy_path(path, variables).into()).collect::<Vec<_>>();
    let mut write = expanded(&sandbox.write);
    write.extend(invocation.files_dir.iter().map(|dir| dir.clone().into_os_string()));
    let order = ShimOrder {
        password: password.into(),
        read: expanded(&sandbox.read),
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

/// Describes what a program could reach in the sandbox, in one line for its user.
pub(super) fn description(sandbox: &Sandbox, variables: Lookup<'_>) -> String {
    let paths = |paths: &[String]| {
        let named: Vec<String> = paths.iter().take(MAX_NAMED_PATHS).map(|path| policy_path(path, variables)).collect();
        match paths.len() - named.len() {
            0 if named.is_empty() => "nothing".to_owned(),
            0 => named.join(", "),
            more => format!("{} and {more} more", named.join(", ")),
        }
    };
    let network = if sandbox.network { "It had the network." } else { "It had no network." };
    let (read, write) = (paths(&sandbox.read), paths(&sandbox.write));
    format!("The program ran in the policy's sandbox. It could read {read}. It could write {write}. {network}")
}

/// Returns the error message of the shim, if it could not execute the program.
pub(super) fn shim_error(outcome: &Outcome, password: &str) -> Option<String> {
    let text = outcome.stderr.text();
    text.strip_prefix(password).map(|problem| problem.trim().to_owned())
}
