//! Restricts this process to what the policy's sandbox permits, and executes a program in its place.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use climax_catalog::policy::SandboxLimits;
use landlock::{ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, Scope};
use rustix::process::{Resource, Rlimit, geteuid, setrlimit};
use rustix::thread::CapabilitySet;

use super::confine::{self, Filter, drop_capabilities};
use super::landlock_rules::{DEVICES, MAX_ABI, Refused, allow};
use super::shim_order::ShimOrder;

/// The oldest supported Landlock ABI: it restricts truncation (V3) and signals to other processes (V6).
const MIN_ABI: ABI = ABI::V6;

/// Applies all restrictions, then executes the program.
pub(super) fn execute(order: &ShimOrder, command: &[OsString]) -> Result<Infallible, String> {
    let [path, name, words @ ..] = command else {
        return Err("expected a program and its name".to_owned());
    };
    let ShimOrder { password: _, read, write, network, limits } = order;
    check_paths(read, write)?;
    restrict_files_and_sockets(read, write, *network)?;
    drop_capabilities(CapabilitySet::empty())?;
    confine::forbid_system_calls(Filter::Sandbox { network: *network })?;
    limit_resources(*limits)?;
    #[expect(clippy::disallowed_methods, reason = "the shim is part of `exec`")]
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
            let is_below = |path: &Path, other: &Path| path != other && path.starts_with(other);
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

/// Restricts file access to the paths of the policy, and TCP if it permits no network (Landlock).
///
/// [`confine`] restricts all other sockets (seccomp).
fn restrict_files_and_sockets(read: &[OsString], write: &[OsString], network: bool) -> Result<(), String> {
    let unsupported = "the kernel has no Landlock, or one that is too old: Linux 6.12 is needed";
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(MIN_ABI))
        .map_err(|_| unsupported)?
        .scope(Scope::from_all(MIN_ABI))
        .map_err(|_| unsupported)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(MAX_ABI))
        .map_err(|error| error.to_string())?;
    let ruleset = if network {
        ruleset
    } else {
        ruleset.handle_access(AccessNet::from_all(MAX_ABI)).map_err(|error| error.to_string())?
    };
    let created = ruleset.create().map_err(|error| error.to_string())?;
    let created = allow(created, read, AccessFs::from_read).map_err(of_policy)?;
    let created = allow(created, write, |abi| AccessFs::from_all(abi) & !DEVICES).map_err(of_policy)?;
    created.restrict_self().map(drop).map_err(|error| error.to_string())
}

/// Says that a path of the policy was refused.
fn of_policy(refused: Refused) -> String {
    format!("a path of the policy's sandbox: {}", String::from(refused))
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
