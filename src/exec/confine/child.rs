//! The child's side: prepares itself, waits for its order, confines itself as it says, and executes a program in its place.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use climax_catalog::Cage;
use climax_catalog::policy::SandboxLimits;
use rustix::process::{Resource, Rlimit, geteuid, setrlimit};
use rustix::thread::CapabilitySet;

use super::bounds::MAX_PROCESSES;
use super::capabilities::drop_capabilities;
use super::connections::Connections;
use super::isolation::Isolation;
use super::landlock::{restrict_to_needs, restrict_to_sandbox};
use super::loopback;
use super::message::Message;
use super::mounts::{self, View};
use super::namespaces::{self, Entered, Init, Separated};
use super::order::{Holder, NeedsRights, Network, Order, Preparation};
use super::project;
use super::receive::receive;
use super::rights::CageRights;
use super::seccomp::{Filter, LocalSockets, compile, forbid_system_calls};
use super::system_rules::SystemRules;

/// Maximum size of a file that a caged program writes, in bytes.
const MAX_CAGED_FILE_BYTES: u64 = 1 << 30;

/// What a process has done before its order comes.
enum Prepared {
    /// Nothing.
    Nothing,
    /// It has no capabilities, and the filter of system calls.
    Filtered(SystemRules),
    /// It is the init of namespaces, and can answer for the connections of their own sockets.
    Init(Init, Option<Connections>, SystemRules),
}

/// Why a child could not execute the program.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The start of error messages that the order names.
    pub(crate) password: OsString,
    /// The reason.
    pub(crate) problem: String,
}

/// Returns why no program can be confined by a child: nothing, where there is one.
pub(crate) fn refusal() -> Option<String> {
    None
}

/// Does what needs no order, waits for the order, applies all restrictions, then executes the program.
///
/// Returns only in a process that holds the program, with the exit status of the program; and with `None`, if the server
/// has ended without an order.
///
/// # Errors
/// The program cannot be confined or executed.
pub(crate) fn execute(preparation: Preparation) -> Result<Option<u8>, Failure> {
    let prepared = match prepare(preparation) {
        Ok(Ok(prepared)) => Ok(prepared),
        Ok(Err(status)) => return Ok(Some(status)),
        // It is told with the password, which comes with the order.
        Err(problem) => Err(problem),
    };
    let Some((message, directory)) = receive() else { return Ok(None) };

    let become_program = |prepared| {
        rustix::process::fchdir(&directory).map_err(|error| format!("the directory of the call: {error}"))?;
        drop(directory);
        carry_out(prepared, &message)
    };
    let failure = |problem| Failure { password: message.order.password.clone(), problem };
    prepared.and_then(become_program).map(Some).map_err(failure)
}

/// Does what all orders of a kind have in common. Returns a status in a process that has held a program to its end.
fn prepare(preparation: Preparation) -> Result<Result<Prepared, u8>, String> {
    let Preparation { isolation, network, local_sockets, restores } = preparation;
    if network == Network::Session {
        loopback::enter()?;
    }
    let Some(isolation) = isolation else { return Ok(Ok(Prepared::Nothing)) };

    match isolation {
        Isolation::Landlock => {
            drop_capabilities(CapabilitySet::empty())?;
            let network = network == Network::Machine;
            let local_sockets = if local_sockets { LocalSockets::Any } else { LocalSockets::None };
            forbid_system_calls(Filter::Cage { network, local_sockets, namespaces: false, groups: !restores })?;
            Ok(Ok(Prepared::Filtered(SystemRules::new(network, project::system_secrets())?)))
        }
        Isolation::Namespaces => match namespaces::separate(network == Network::None)? {
            Separated::Ended(status) => Ok(Err(status)),
            Separated::Init(init) => {
                mounts::prepare()?;
                let connections = if local_sockets { None } else { Connections::new().ok() };
                let own = if connections.is_some() { LocalSockets::Own } else { LocalSockets::None };
                compile(filter_in_namespaces(if local_sockets { LocalSockets::Any } else { own }))?;
                // What is mounted over the secrets hides them.
                Ok(Ok(Prepared::Init(init, connections, SystemRules::new(true, Vec::new())?)))
            }
        },
    }
}

/// The network is one of its own, unless the needs share that of the machine.
fn filter_in_namespaces(local_sockets: LocalSockets) -> Filter {
    Filter::Cage { network: true, local_sockets, namespaces: true, groups: true }
}

/// Applies all restrictions, then executes the program. Returns only in a process that holds the program.
fn carry_out(prepared: Prepared, Message { order, command, variables }: &Message) -> Result<u8, String> {
    let [path, name, words @ ..] = command.as_slice() else {
        return Err("expected a program and its name".to_owned());
    };

    let way_on = match &order.holder {
        Holder::Sandbox(limits) => {
            enter_sandbox(order, *limits)?;
            "add its directory, and those of its libraries, to `executor.read` of the policy"
        }
        Holder::Needs(needs) => {
            enter_needs(order, *needs)?;
            "the program cannot be executed"
        }
        Holder::Cage { rights, local_sockets, .. } => {
            if let Entered::Ended(status) = enter_cage(prepared, order, rights, *local_sockets)? {
                return Ok(status);
            }
            "it is not among the files that the cage may read; `needs: {read: [DIRECTORY]}` in a config permits it"
        }
    };

    #[expect(clippy::disallowed_methods, reason = "the child that confines itself is part of `exec`")]
    let mut program = Command::new(path);
    // Its own variables may tell the loader which code to load: this process has never had them.
    program.arg0(name).args(words).env_clear();
    program.envs(variables.iter().map(|(name, value): &(OsString, OsString)| (name, value)));
    let error = program.exec();
    Err(match error.kind() {
        io::ErrorKind::PermissionDenied => format!("{}: {error}; {way_on}", path.display()),
        _ => error.to_string(),
    })
}

/// Confines this process to the policy's sandbox.
fn enter_sandbox(order: &Order, limits: SandboxLimits) -> Result<(), String> {
    let Order { read, write, network, .. } = order;
    check_paths(read, write)?;
    let network = *network == Network::Machine;
    restrict_to_sandbox(read, write, network)?;
    drop_capabilities(CapabilitySet::empty())?;
    forbid_system_calls(Filter::Sandbox { network })?;
    limit_resources(limits)
}

/// Confines this process to the needs of its tool, if it is to be. It has the rights of root in the network of its session
/// until then, and keeps none.
fn enter_needs(order: &Order, needs: Option<NeedsRights>) -> Result<(), String> {
    drop_capabilities(CapabilitySet::empty())?;
    let Some(NeedsRights { local_sockets, metadata }) = needs else { return Ok(()) };

    forbid_system_calls(Filter::Needs { network: true, local_sockets, metadata })?;
    let write: Vec<PathBuf> = order.write.iter().map(PathBuf::from).collect();
    restrict_to_needs(&write, true).map_err(String::from)
}

/// Confines this process to a cage.
fn enter_cage(prepared: Prepared, order: &Order, rights: &CageRights, local_sockets: bool) -> Result<Entered, String> {
    let Order { read, write, .. } = order;
    let hidden: Vec<PathBuf> = project::secrets(rights).into_iter().chain(project::system_secrets()).collect();
    let project = rights.project.as_deref();
    let read: Vec<&Path> = read.iter().map(Path::new).collect();
    // The project itself is among them. Paths in it, such as one on `PATH`, may be links that a program has made.
    let is_free = |path: &&Path| project::leads_past(path, project);
    let mut write: Vec<&Path> = write.iter().map(Path::new).filter(|path| path.is_file() || path.is_dir()).collect();

    match prepared {
        Prepared::Init(init, mut connections, system) => {
            let frozen = project.filter(|_| rights.cage == Cage::Workspace);
            let view = View {
                writable: write.iter().copied().map(Path::to_owned).collect(),
                frozen: frozen.map(|top| project::frozen(top, &rights.frozen)).unwrap_or_default(),
                hidden,
            };
            mounts::show(&view)?;
            let answer = || {
                if let Some(connections) = connections.take() {
                    connections.answer(&write, project);
                }
            };
            if let Entered::Ended(status) = init.hold(answer)? {
                return Ok(Entered::Ended(status));
            }

            write.push(Path::new(mounts::MEMORY_FILES));
            let (rules, read) = system.for_order(read, project, &[])?;
            let read: Vec<&Path> = read.into_iter().filter(is_free).collect();
            rules.reading(&read)?.everything(&write)?.restrict()?;
            drop_capabilities(CapabilitySet::empty())?;
            let local_sockets = match connections {
                _ if local_sockets => LocalSockets::Any,
                Some(connections) if connections.ask_first().is_ok() => LocalSockets::Own,
                // The kernel cannot ask, for instance because it asks somebody else already.
                Some(_) | None => LocalSockets::None,
            };
            forbid_system_calls(filter_in_namespaces(local_sockets))?;
            limit_caged(true)?;
        }
        Prepared::Filtered(system) => {
            // Landlock cannot forbid anything below a directory that it permits. Names in it are no secret.
            let has_hidden = |path: &&Path| hidden.iter().any(|hidden| hidden.starts_with(path));
            let (rules, read) = system.for_order(read, project, &hidden)?;
            let read: Vec<&Path> = read.into_iter().filter(is_free).collect();
            let parts: Vec<&Path> = read.iter().copied().filter(has_hidden).collect();
            let granted = read.iter().map(|path| project::around(path, &hidden)).collect::<Result<Vec<_>, _>>()?;
            let (change, write): (Vec<&Path>, Vec<&Path>) = write.into_iter().partition(has_hidden);
            rules.reading(&granted.concat())?.listing(&parts)?.everything(&write)?.changing(&change)?.restrict()?;
            limit_caged(false)?;
        }
        Prepared::Nothing => return Err("a cage needs means to hold the program".to_owned()),
    }
    Ok(Entered::Program)
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
