//! Calls that run in a sandbox: the command line of the shim that confines the program.
//!
//! Pure. The kernel's means are for a process to confine itself, so this program is started again, confines itself, and
//! becomes the program ([`super::shim`]).

use std::ffi::OsString;
use std::path::Path;

use climax_catalog::policy::Sandbox;

use super::Outcome;
use super::invocation::Invocation;
use super::self_exec::THIS_PROGRAM;
use climax_catalog::expansion::{Lookup, policy_path};

/// The word that starts this program as the shim.
pub(crate) const COMMAND: &str = "confine";

/// The command line that runs `invocation`, whose program is at `path`, in the sandbox.
///
/// What the shim has to say starts with `password`; the program that it becomes does not know it.
pub(super) fn confined(
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

/// What the shim says if it could not become the program.
pub(super) fn confinement_error(outcome: &Outcome, password: &str) -> Option<String> {
    let text = outcome.stderr.text();
    text.strip_prefix(password).map(|problem| problem.trim().to_owned())
}

/// The command line of the shim.
#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
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
    /// The program's path, then its words.
    #[arg(last = true, required = true)]
    pub(super) command: Vec<OsString>,
}
