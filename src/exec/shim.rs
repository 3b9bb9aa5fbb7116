//! The sandbox shim: confines itself, then executes another program. The server starts this program again for it.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, Scope, make_bitflags,
};
use rustix::process::{Resource, Rlimit, geteuid, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets, remove_capability_from_bounding_set, set_capabilities};

use super::confine;

pub(crate) use super::janitor::{COMMAND as JANITOR, run as janitor};
pub(crate) use super::sandbox::{COMMAND as CONFINE, ShimArguments};

/// The oldest supported Landlock ABI: it restricts truncation (V3) and signals to other processes (V6).
const MIN_ABI: ABI = ABI::V6;
/// The newest Landlock ABI that the crate supports.
const MAX_ABI: ABI = ABI::V9;

/// Rights to make device files, which are never granted.
const DEVICES: BitFlags<AccessFs> = make_bitflags!(AccessFs::{MakeChar | MakeBlock});

/// Confines this process and executes the program.
///
/// Returns only if that fails, after writing the reason to standard error.
pub(crate) fn confine(arguments: &ShimArguments) {
    let Err(problem) = execute(arguments);
    let _ = writeln!(io::stderr(), "{}{problem}", arguments.password);
}

/// Applies all restrictions, then executes the program.
fn execute(arguments: &ShimArguments) -> Result<Infallible, String> {
    let [path, name, words @ ..] = arguments.command.as_slice() else {
        return Err("expected a program and its name".to_owned());
    };
    check_paths(arguments)?;
    restrict_files_and_sockets(arguments)?;
    drop_capabilities()?;
    confine::forbid_system_calls(arguments.network)?;
    limit_resources(arguments)?;
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
fn check_paths(arguments: &ShimArguments) -> Result<(), String> {
    for path in arguments.read.iter().chain(&arguments.write).map(Path::new) {
        if !path.is_absolute() {
            return Err(format!(
                "`{}` of the policy's sandbox is not absolute, or a variable in it is not set",
                path.display()
            ));
        }
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        for writable in arguments.write.iter().map(Path::new) {
            let real_writable = writable.canonicalize().unwrap_or_else(|_| writable.to_owned());
            let is_below = |path: &Path, other: &Path| path != other && path.starts_with(other);
            if is_below(path, writable) || is_below(&real, &real_writable) {
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
fn restrict_files_and_sockets(arguments: &ShimArguments) -> Result<(), String> {
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
    let ruleset = if arguments.network {
        ruleset
    } else {
        ruleset.handle_access(AccessNet::from_all(MAX_ABI)).map_err(|error| error.to_string())?
    };
    let created = ruleset.create().map_err(|error| error.to_string())?;
    let created = allow(created, &arguments.read, AccessFs::from_read)?;
    let created = allow(created, &arguments.write, |abi| AccessFs::from_all(abi) & !DEVICES)?;
    created.restrict_self().map(drop).map_err(|error| error.to_string())
}

/// Grants `access` to `paths` and everything below them.
fn allow(
    mut ruleset: RulesetCreated,
    paths: &[OsString],
    access: fn(ABI) -> BitFlags<AccessFs>,
) -> Result<RulesetCreated, String> {
    for path in paths {
        let path_text = path.display();
        let open = PathFd::new(path).map_err(|error| format!("a path of the policy's sandbox: {error}"))?;
        let is_file = std::fs::metadata(path).is_ok_and(|found| !found.is_dir());
        let all = access(MAX_ABI);
        // The kernel rejects rights for directories in a rule for a file.
        let rule = PathBeneath::new(open, if is_file { all & AccessFs::from_file(MAX_ABI) } else { all });
        ruleset = ruleset.add_rule(rule).map_err(|error| format!("`{path_text}`: {error}"))?;
    }
    Ok(ruleset)
}

/// Drops all capabilities. `no_new_privs`, which Landlock sets, prevents the program from regaining them.
fn drop_capabilities() -> Result<(), String> {
    for capability in CapabilitySet::all().iter() {
        // It fails without CAP_SETPCAP. Then `no_new_privs` alone prevents new capabilities.
        let _ = remove_capability_from_bounding_set(capability);
    }
    let none = CapabilitySet::empty();
    let none = CapabilitySets { effective: none, permitted: none, inheritable: none };
    set_capabilities(None, none).map_err(|error| format!("capabilities cannot be given up: {error}"))
}

/// Sets the resource limits of the policy.
fn limit_resources(arguments: &ShimArguments) -> Result<(), String> {
    const MIB: u64 = 1 << 20;
    if arguments.processes.is_some() && geteuid().is_root() {
        return Err("the kernel does not limit the `processes` of root: run the server as another user".to_owned());
    }
    for (resource, limit, unit) in [
        (Resource::As, arguments.memory_mb, MIB),
        (Resource::Cpu, arguments.cpu_s, 1),
        (Resource::Nproc, arguments.processes, 1),
        (Resource::Fsize, arguments.file_mb, MIB),
    ] {
        if let Some(limit) = limit.map(|limit| u64::from(limit) * unit) {
            let both = Rlimit { current: Some(limit), maximum: Some(limit) };
            setrlimit(resource, both).map_err(|error| format!("a limit cannot be set: {error}"))?;
        }
    }
    Ok(())
}
