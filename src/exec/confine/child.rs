//! The child's side of the sandbox: confines this process as the order says, and executes a program in its place.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use climax_catalog::policy::SandboxLimits;
use rustix::process::{Resource, Rlimit, geteuid, setrlimit};
use rustix::thread::CapabilitySet;

use super::capabilities::drop_capabilities;
use super::landlock::restrict_to_sandbox;
use super::order::Order;
use super::seccomp::{Filter, forbid_system_calls};

/// Applies all restrictions, then executes the program.
pub(crate) fn execute(order: &Order, command: &[OsString]) -> Result<Infallible, String> {
    let [path, name, words @ ..] = command else {
        return Err("expected a program and its name".to_owned());
    };

    let Order { password: _, read, write, network, limits } = order;
    check_paths(read, write)?;
    restrict_to_sandbox(read, write, *network)?;
    drop_capabilities(CapabilitySet::empty())?;
    forbid_system_calls(Filter::Sandbox { network: *network })?;
    limit_resources(*limits)?;

    #[expect(clippy::disallowed_methods, reason = "the child of the sandbox is part of `exec`")]
    let error = Command::new(path).arg0(name).args(words).exec();
    Err(match error.kind() {
        io::ErrorKind::PermissionDenied => {
            let path = path.display();
            format!("{path}: {error}; add its directory, and those of its libraries, to `executor.read` of the policy")
        }
        _ => error.to_string(),
    })
}

/// Rejects paths of the policy that a sandboxed program could influence.
///
/// Relative paths are rejected, since a call may choose the directory. So are paths below a writable one: the program
/// could replace them by a link before the next call.
fn check_paths(read: &[OsString], write: &[OsString]) -> Result<(), String> {
    for path in read.iter().chain(write).map(Path::new) {
        if !path.is_absolute() {
            return Err(format!(
                "`{}` of the policy's sandbox is not absolute, or a variable in it is not set",
                path.display()
            ));
        }

        let resolved = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        for writable in write.iter().map(Path::new) {
            let resolved_writable = writable.canonicalize().unwrap_or_else(|_| writable.to_owned());
            if is_below(path, writable) || is_below(&resolved, &resolved_writable) {
                let [path, writable] = [path.display(), writable.display()];
                return Err(format!(
                    "`{path}` of the policy's sandbox can be replaced, since it is below `{writable}`: name that alone"
                ));
            }
        }
    }
    Ok(())
}

fn is_below(path: &Path, other: &Path) -> bool {
    path != other && path.starts_with(other)
}

/// Sets the resource limits of the policy.
fn limit_resources(limits: SandboxLimits) -> Result<(), String> {
    const MIB: u64 = 1 << 20;

    if limits.processes.is_some() && geteuid().is_root() {
        return Err("the kernel does not limit the `processes` of root: run the server as another user".to_owned());
    }

    for (resource, limit, unit) in [
        (Resource::As, limits.memory_mb, MIB),
        (Resource::Cpu, limits.cpu_s, 1),
        (Resource::Nproc, limits.processes, 1),
        (Resource::Fsize, limits.file_mb, MIB),
    ] {
        if let Some(limit) = limit.map(|limit| u64::from(limit) * unit) {
            let both = Rlimit { current: Some(limit), maximum: Some(limit) };
            setrlimit(resource, both).map_err(|error| format!("a limit cannot be set: {error}"))?;
        }
    }
    Ok(())
}
