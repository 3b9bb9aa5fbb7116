//! Builds the command line of the shim that runs a program in a sandbox.
//!
//! Pure. Landlock and seccomp confine the process that calls them. So this program is started again, confines itself,
//! and then executes the program ([`super::shim`]).

use std::ffi::OsString;
use std::path::Path;

use climax_catalog::expansion::{Lookup, policy_path};
use climax_catalog::policy::Sandbox;

use super::Outcome;
use super::invocation::Invocation;
use super::self_exec::THIS_PROGRAM;

/// Paths that a description names of each kind.
const MAX_NAMED_PATHS: usize = 8;

/// The subcommand that starts this program as the shim.
pub(crate) const COMMAND: &str = "confine";

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
    let mut argv = vec![THIS_PROGRAM.to_owned(), COMMAND.to_owned(), format!("--password={password}")];
    for (option, paths) in [("read", &sandbox.read), ("write", &sandbox.write)] {
        argv.extend(paths.iter().map(|path| format!("--{option}={}", policy_path(path, variables))));
    }
    argv.extend(invocation.files_dir.iter().map(|dir| format!("--write={}", dir.display())));
    if sandbox.network {
        argv.push("--network".to_owned());
    }
    let limits = sandbox.limits;
    for (option, limit) in [
        ("memory-mb", limits.memory_mb),
        ("cpu-s", limits.cpu_s),
        ("processes", limits.processes),
        ("file-mb", limits.file_mb),
    ] {
        argv.extend(limit.map(|limit| format!("--{option}={limit}")));
    }
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

/// The arguments of the shim.
#[derive(clap::Args, Debug)]
pub(crate) struct ShimArguments {
    #[arg(long)]
    pub(super) password: String,
    #[arg(long)]
    pub(super) read: Vec<OsString>,
    #[arg(long)]
    pub(super) write: Vec<OsString>,
    #[arg(long)]
    pub(super) network: bool,
    #[arg(long)]
    pub(super) memory_mb: Option<u32>,
    #[arg(long)]
    pub(super) cpu_s: Option<u32>,
    #[arg(long)]
    pub(super) processes: Option<u32>,
    #[arg(long)]
    pub(super) file_mb: Option<u32>,
    /// The program's path, then its name and arguments.
    #[arg(last = true, required = true)]
    pub(super) command: Vec<OsString>,
}
