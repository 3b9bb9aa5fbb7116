//! The child's side: confines this process as the order says, and executes a program in its place.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use climax_catalog::Cage;
use climax_catalog::policy::SandboxLimits;
use rustix::process::{Resource, Rlimit, geteuid, setrlimit};
use rustix::thread::CapabilitySet;

use super::bounds::MAX_PROCESSES;
use super::capabilities::drop_capabilities;
use super::isolation::Isolation;
use super::landlock::{restrict_to_cage, restrict_to_sandbox};
use super::mounts::{self, View};
use super::namespaces::{self, Entered};
use super::order::{HANDED_ON, Holder, Order};
use super::project;
use super::rights::CageRights;
use super::seccomp::{Filter, forbid_system_calls};

/// Maximum size of a file that a caged program writes, in bytes.
const MAX_CAGED_FILE_BYTES: u64 = 1 << 30;

/// Applies all restrictions, then executes the program. Returns only in a process that holds the program, with the exit
/// status of the program.
pub(crate) fn execute(order: &Order, command: &[OsString]) -> Result<u8, String> {
    let [path, name, words @ ..] = command else {
        return Err("expected a program and its name".to_owned());
    };

    let way_on = match &order.holder {
        Holder::Sandbox(limits) => {
            enter_sandbox(order, *limits)?;
            "add its directory, and those of its libraries, to `executor.read` of the policy"
        }
        Holder::Cage { rights, isolation, local_sockets } => {
            if let Entered::Ended(status) = enter_cage(order, rights, *isolation, *local_sockets)? {
                return Ok(status);
            }
            "it is not among the files that the cage may read; `needs: {read: [DIRECTORY]}` in a config permits it"
        }
    };

    #[expect(clippy::disallowed_methods, reason = "the child that confines itself is part of `exec`")]
    let error = hand_on(Command::new(path).arg0(name).args(words)).exec();
    Err(match error.kind() {
        io::ErrorKind::PermissionDenied => format!("{}: {error}; {way_on}", path.display()),
        _ => error.to_string(),
    })
}

/// Gives a program the variables that were kept from this process, under their own names.
fn hand_on(command: &mut Command) -> &mut Command {
    for (name, value) in std::env::vars_os() {
        if let Some(own) = name.to_str().and_then(|name| name.strip_prefix(HANDED_ON)) {
            command.env(own, value).env_remove(&name);
        }
    }
    command
}

/// Confines this process to the policy's sandbox.
fn enter_sandbox(order: &Order, limits: SandboxLimits) -> Result<(), String> {
    let Order { read, write, network, .. } = order;
    check_paths(read, write)?;
    restrict_to_sandbox(read, write, *network)?;
    drop_capabilities(CapabilitySet::empty())?;
    forbid_system_calls(Filter::Sandbox { network: *network })?;
    limit_resources(limits)
}

/// Confines this process to a cage.
fn enter_cage(
    order: &Order,
    rights: &CageRights,
    isolation: Isolation,
    local_sockets: bool,
) -> Result<Entered, String> {
    let Order { read, write, network, .. } = order;
    let hidden: Vec<PathBuf> = project::secrets(rights).into_iter().chain(project::system_secrets()).collect();
    let is_isolated = isolation == Isolation::Namespaces;
    // The project itself is among them. Paths in it, such as one on `PATH`, may be links that a program has made.
    let is_free =
        |path: &&OsString| !rights.project.iter().any(|project| project::leads_through(Path::new(path), project));
    let read: Vec<OsString> = read.iter().filter(is_free).cloned().collect();

    let mut write: Vec<OsString> = write.iter().filter(|path| Path::new(path).is_dir()).cloned().collect();
    let read = if is_isolated {
        let is_written = rights.cage == Cage::Workspace;
        let frozen = rights.project.as_deref().filter(|_| is_written).map(|top| project::frozen(top, &rights.frozen));
        let view =
            View { writable: write.iter().map(PathBuf::from).collect(), frozen: frozen.unwrap_or_default(), hidden };
        forget_words();
        if let Entered::Ended(status) = namespaces::enter(!network, || mounts::show(&view))? {
            return Ok(Entered::Ended(status));
        }
        write.push(mounts::MEMORY_FILES.into());
        read
    } else {
        // Landlock cannot forbid anything below a directory that it permits.
        let granted =
            read.iter().map(|path| project::around(Path::new(path), &hidden)).collect::<Result<Vec<_>, _>>()?;
        granted.into_iter().flatten().map(PathBuf::into_os_string).collect()
    };

    // In namespaces it is one of its own, unless the needs share that of the machine.
    let has_network = *network || is_isolated;
    restrict_to_cage(&read, &write, has_network)?;
    drop_capabilities(CapabilitySet::empty())?;
    forbid_system_calls(Filter::Cage { network: has_network, local_sockets, namespaces: is_isolated })?;
    limit_caged(is_isolated)?;
    Ok(Entered::Program)
}

/// Removes the words of the command line from the memory of this process, but for its name.
///
/// The program sees those of its init, and the password by which errors of this process are known is one of them.
fn forget_words() {
    let erase = || {
        let status = fs::read_to_string("/proc/self/stat").ok()?;
        // The fields after the name, which may hold spaces, are the third and later ones. Source: `proc_pid_stat`(5).
        let mut fields = status.rsplit_once(')')?.1.split_whitespace().skip(45).map(|field| field.parse::<u64>().ok());
        let (start, end) = (fields.next()??, fields.next()??);
        let memory = fs::OpenOptions::new().write(true).open("/proc/self/mem").ok()?;
        let name = fs::read("/proc/self/cmdline").ok()?.iter().position(|byte| *byte == 0)?;
        let rest = usize::try_from(end.checked_sub(start)?).ok()?.checked_sub(name)?;
        memory.write_all_at(&vec![0; rest], start + u64::try_from(name).ok()?).ok()
    };
    // The password protects the wording of errors alone: without this, a program could give its output as one.
    let _ = erase();
}

/// Sets the resource limits of a cage.
fn limit_caged(is_isolated: bool) -> Result<(), String> {
    let mut limits = vec![(Resource::Core, 0), (Resource::Fsize, MAX_CAGED_FILE_BYTES)];
    // Outside of a namespace the kernel would count all processes of the user.
    limits.extend(is_isolated.then_some((Resource::Nproc, MAX_PROCESSES as u64)));
    limits.into_iter().try_for_each(|(resource, limit)| set_limit(resource, limit))
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
            set_limit(resource, limit)?;
        }
    }
    Ok(())
}

fn set_limit(resource: Resource, limit: u64) -> Result<(), String> {
    let both = Rlimit { current: Some(limit), maximum: Some(limit) };
    setrlimit(resource, both).map_err(|error| format!("a limit cannot be set: {error}"))
}
