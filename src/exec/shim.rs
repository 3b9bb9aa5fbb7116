//! What this program is when the server starts it again: a janitor, or a shim that confines itself and becomes another.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, Scope,
};
use rustix::process::{Resource, Rlimit, geteuid, setrlimit};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

pub(crate) use super::janitor::{COMMAND as JANITOR, run as janitor};
pub(crate) use super::sandbox::{Arguments, COMMAND as CONFINE};

/// This program, also if its file has been replaced since.
pub(super) const THIS_PROGRAM: &str = "/proc/self/exe";

/// The oldest Landlock that keeps files from being emptied.
const LEAST_ABI: ABI = ABI::V3;
/// The newest Landlock of which the crate knows what it can keep from being done.
const BEST_ABI: ABI = ABI::V9;

/// System calls by which a process reaches into others, or into the kernel. None is needed to be a command.
///
/// The calls of `io_uring` are among them because filters do not see what is asked for through its rings.
const FORBIDDEN: &[libc::c_long] = &[
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setns,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
];

/// The bit that marks a system call of the x32 ABI, which has the same calls under other numbers.
const X32_BIT: libc::c_long = 0x4000_0000;

/// Confines this process and becomes the program; returns only if that failed, having said why on standard error.
pub(crate) fn confine(arguments: &Arguments) {
    let Err(problem) = become_program(arguments);
    let _ = writeln!(io::stderr(), "{}{problem}", arguments.password);
}

fn become_program(arguments: &Arguments) -> Result<Infallible, String> {
    let [path, name, words @ ..] = arguments.command.as_slice() else {
        return Err("expected a program and its name".to_owned());
    };
    restrict_files_and_sockets(arguments)?;
    forbid_system_calls(arguments.network)?;
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

/// Leaves the files that are named, and with no network also no TCP; sockets of any other kind are `seccomp`'s matter.
fn restrict_files_and_sockets(arguments: &Arguments) -> Result<(), String> {
    let lacking = |_| "the kernel has no Landlock, or one that is too old: Linux 6.2 is needed".to_owned();
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(LEAST_ABI))
        .map_err(lacking)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(BEST_ABI))
        .map_err(|error| error.to_string())?
        .scope(Scope::from_all(BEST_ABI))
        .map_err(|error| error.to_string())?;
    let ruleset = if arguments.network {
        ruleset
    } else {
        ruleset.handle_access(AccessNet::from_all(BEST_ABI)).map_err(|error| error.to_string())?
    };
    let created = ruleset.create().map_err(|error| error.to_string())?;
    let created = beneath(created, &arguments.read, AccessFs::from_read)?;
    let created = beneath(created, &arguments.write, AccessFs::from_all)?;
    created.restrict_self().map(drop).map_err(|error| error.to_string())
}

fn beneath(
    mut ruleset: RulesetCreated,
    paths: &[OsString],
    access: fn(ABI) -> landlock::BitFlags<AccessFs>,
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

fn forbid_system_calls(network: bool) -> Result<(), String> {
    let text = |error: seccompiler::Error| error.to_string();
    let sockets = (!network).then_some(libc::SYS_socket);
    let forbidden = FORBIDDEN.iter().copied().chain(sockets);
    let numbers = forbidden.flat_map(|number| {
        let x32 = cfg!(target_arch = "x86_64").then_some(number | X32_BIT);
        std::iter::once(number).chain(x32)
    });
    let rules = numbers.map(|number| (number, Vec::new())).collect();
    let arch = std::env::consts::ARCH.try_into().map_err(|_| "no filter of system calls for this processor")?;
    let refuse = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).map_err(|error| text(error.into()))?;
    let program: BpfProgram = filter.try_into().map_err(|error: seccompiler::BackendError| text(error.into()))?;
    seccompiler::apply_filter(&program).map_err(text)
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
