//! What this program is when the server starts it again: a janitor, or a shim that confines itself and becomes another.

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
pub(crate) use super::sandbox::{Arguments, COMMAND as CONFINE};

/// The oldest Landlock that keeps files from being emptied (V3) and other processes from being signalled (V6).
const LEAST_ABI: ABI = ABI::V6;
/// The newest Landlock of which the crate knows what it can keep from being done.
const BEST_ABI: ABI = ABI::V9;

/// What is made of a device is not among the files of the policy.
const DEVICES: BitFlags<AccessFs> = make_bitflags!(AccessFs::{MakeChar | MakeBlock});

/// Confines this process and becomes the program; returns only if that failed, having said why on standard error.
pub(crate) fn confine(arguments: &Arguments) {
    let Err(problem) = become_program(arguments);
    let _ = writeln!(io::stderr(), "{}{problem}", arguments.password);
}

fn become_program(arguments: &Arguments) -> Result<Infallible, String> {
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

/// Refuses paths that a sandboxed program could have chosen: its directory is a call's choice, and what can be changed can be
/// replaced by a link before the next call.
fn check_paths(arguments: &Arguments) -> Result<(), String> {
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

/// Leaves the files that are named, and with no network also no TCP; sockets of any other kind are `seccomp`'s matter.
fn restrict_files_and_sockets(arguments: &Arguments) -> Result<(), String> {
    let lacking = "the kernel has no Landlock, or one that is too old: Linux 6.12 is needed";
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(LEAST_ABI))
        .map_err(|_| lacking)?
        .scope(Scope::from_all(LEAST_ABI))
        .map_err(|_| lacking)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(BEST_ABI))
        .map_err(|error| error.to_string())?;
    let ruleset = if arguments.network {
        ruleset
    } else {
        ruleset.handle_access(AccessNet::from_all(BEST_ABI)).map_err(|error| error.to_string())?
    };
    let created = ruleset.create().map_err(|error| error.to_string())?;
    let created = beneath(created, &arguments.read, AccessFs::from_read)?;
    let created = beneath(created, &arguments.write, |abi| AccessFs::from_all(abi) & !DEVICES)?;
    created.restrict_self().map(drop).map_err(|error| error.to_string())
}

fn beneath(
    mut ruleset: RulesetCreated,
    paths: &[OsString],
    access: fn(ABI) -> BitFlags<AccessFs>,
) -> Result<RulesetCreated, String> {
    for path in paths {
        let shown = path.display();
        let open = PathFd::new(path).map_err(|error| format!("a path of the policy's sandbox: {error}"))?;
        let is_file = std::fs::metadata(path).is_ok_and(|found| !found.is_dir());
        let all = access(BEST_ABI);
        // What can be done with a directory only is refused for a file.
        let rule = PathBeneath::new(open, if is_file { all & AccessFs::from_file(BEST_ABI) } else { all });
        ruleset = ruleset.add_rule(rule).map_err(|error| format!("`{shown}`: {error}"))?;
    }
    Ok(ruleset)
}

/// Gives up what root, or who was given powers, may do beyond other users. `no_new_privs` keeps it from coming back.
fn drop_capabilities() -> Result<(), String> {
    for capability in CapabilitySet::all().iter() {
        // Who may not has none to give up.
        let _ = remove_capability_from_bounding_set(capability);
    }
    let none = CapabilitySet::empty();
    let none = CapabilitySets { effective: none, permitted: none, inheritable: none };
    set_capabilities(None, none).map_err(|error| format!("capabilities cannot be given up: {error}"))
}

fn limit_resources(arguments: &Arguments) -> Result<(), String> {
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
