//! Starts a program: finds it, gives it its variables, directory and streams, and confines it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

use tokio::process::{Child, Command};

use super::children;
use super::joint::{Descriptors, give};
use super::waiting::{Spare, Streams};
use crate::exec::confine;
use crate::exec::confine::message::Message;
use crate::exec::confine::order::Order;
use crate::exec::environment::{directory, is_named};
use crate::exec::error::SpawnError;
use crate::exec::files::{missing_interpreter, resolve};
use crate::exec::invocation::Invocation;
use crate::exec::platform::{is_executable, may_enter};
use crate::exec::shared_loopback::SharedLoopback;

/// The variable with the directory of a process. Source: POSIX.1-2024, "Environment Variables".
const DIRECTORY: &str = "PWD";

/// Finds the program of an invocation.
///
/// # Errors
/// [`SpawnError::NotFound`], [`SpawnError::NotExecutable`], or [`SpawnError::Directory`] if the directory of this process
/// is gone.
fn find(invocation: &Invocation) -> Result<PathBuf, SpawnError> {
    let name = &invocation.argv[0];
    let search_path = invocation.env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| OsStr::new(value));

    let found = resolve(name, search_path, invocation.program_dir.as_deref());
    let program = found.ok_or_else(|| match std::env::current_dir() {
        Ok(_) => SpawnError::NotFound(name.clone()),
        Err(error) => SpawnError::Directory("., where this process started".to_owned(), error),
    })?;

    let reason = match program.metadata() {
        Ok(found) if found.is_dir() => "it is a directory".to_owned(),
        Ok(_) if !is_executable(&program) => format!("it is not executable; `chmod +x {name}` makes it so"),
        _ => return Ok(program),
    };
    Err(SpawnError::NotExecutable(name.clone(), reason))
}

/// Starts the program as the leader of a new process group.
pub(super) fn spawn(invocation: &Invocation, descriptors: &Descriptors) -> Result<Child, SpawnError> {
    if let Some(dir) = &invocation.cwd {
        check_directory(dir)?;
    }
    let program = find(invocation)?;
    let failed = |error| system_error(invocation, error);

    #[expect(clippy::disallowed_methods, reason = "the one place that starts processes")]
    let mut command = Command::new(&program);
    command
        .arg0(&invocation.argv[0])
        .args(&invocation.argv[1..])
        .env_clear()
        .envs(variables(invocation))
        .stdin(descriptors.input(invocation.stdin.is_some()).map_err(failed)?)
        .stdout(descriptors.output().map_err(failed)?)
        .stderr(descriptors.errors().map_err(failed)?)
        .process_group(0)
        // Until `Group` takes over.
        .kill_on_drop(true);
    if let Some(dir) = &invocation.cwd {
        command.current_dir(dir);
    }
    let more = descriptors.more().map_err(failed)?;
    give(&mut command, more.into_iter().map(|(number, own)| (number.cast_signed(), own))).map_err(failed)?;

    if invocation.confinement.is_none() && invocation.places.is_empty() {
        return children::start(|| command.spawn(), Child::id)
            .map_err(|error| start_error(invocation, &program, error));
    }

    let runtime = tokio::runtime::Handle::current();
    let start = move || {
        let _context = runtime.enter();
        command.spawn()
    };
    let confined = || match &invocation.confinement {
        Some(rights) => confine::start(rights, start),
        None => confine::start_in_places(&invocation.places, start),
    };
    let start_confined = || match confined() {
        Ok(started) => started.map_err(|error| start_error(invocation, &program, error)),
        Err(problem) => Err(SpawnError::Sandbox(invocation.argv[0].clone(), problem)),
    };
    children::start(start_confined, Child::id)
}

/// Starts the program as the leader of a new process group, by a child of this binary that confines itself.
pub(super) fn spawn_held(
    invocation: &Invocation,
    descriptors: &Descriptors,
    (order, loopback, spare): (&Order, Option<&SharedLoopback>, &Spare),
) -> Result<Child, SpawnError> {
    let directory = invocation.cwd.as_deref().unwrap_or(Path::new("."));
    check_directory(directory)?;
    let program = find(invocation)?;
    // The child could say it on the program's own streams alone, which may not be those of the server.
    if let Some(interpreter) = missing_interpreter(&program) {
        return Err(SpawnError::NoInterpreter(invocation.argv[0].clone(), interpreter));
    }
    let failed = |error| system_error(invocation, error);

    let message = Message {
        order: order.clone(),
        command: [program.into_os_string()].into_iter().chain(invocation.argv.iter().map(OsString::from)).collect(),
        variables: variables(invocation).into_iter().collect(),
    };

    let open = || {
        Ok(Streams {
            input: descriptors.input(invocation.stdin.is_some())?,
            output: descriptors.output()?,
            errors: descriptors.errors()?,
            more: descriptors.more()?,
        })
    };
    spare.send(&message, (directory, loopback), open).map_err(failed)
}

/// Makes the error of a start that failed.
fn start_error(invocation: &Invocation, program: &Path, error: io::Error) -> SpawnError {
    if error.kind() != io::ErrorKind::NotFound {
        return system_error(invocation, error);
    }
    // The program was found: the interpreter that its first line names is missing, or its loader.
    match missing_interpreter(program) {
        Some(interpreter) => SpawnError::NoInterpreter(invocation.argv[0].clone(), interpreter),
        None => system_error(invocation, io::Error::other("its loader does not exist")),
    }
}

/// Returns the variables of a program: what it inherits of those of this process, its directory, and its own.
fn variables(invocation: &Invocation) -> BTreeMap<OsString, OsString> {
    let is_inherited = |name: &OsStr| invocation.inherited.as_ref().is_none_or(|names| is_named(name, names));
    let inherited = std::env::vars_os().filter(|(name, _)| is_inherited(name));
    let directory = Some(DIRECTORY).filter(|name| is_inherited(name.as_ref()));
    let directory = directory.and_then(|name| Some((name.into(), directory_of(invocation)?.into_os_string())));
    let own = invocation.env.iter().map(|(name, value)| (name.into(), value.into()));
    inherited.chain(directory).chain(own).collect()
}

/// Returns the directory of a program as a shell would name it: links in it stay, `.` and `..` do not. `None` if it is
/// that of this process, which has the variable already.
fn directory_of(invocation: &Invocation) -> Option<PathBuf> {
    let own = directory();
    let Some(cwd) = &invocation.cwd else {
        let is_own = |path: &OsString| Path::new(path).canonicalize().is_ok_and(|path| path == own);
        return if std::env::var_os(DIRECTORY).as_ref().is_some_and(is_own) {
            None
        } else {
            Some(own).filter(|own| own.has_root())
        };
    };
    let path = own.join(cwd);
    let has_parent = path.components().any(|part| part == Component::ParentDir);
    if has_parent { path.canonicalize().ok() } else { Some(path.components().collect()) }
}

/// Makes the error of a system that refused something to the program.
pub(super) fn system_error(invocation: &Invocation, error: io::Error) -> SpawnError {
    SpawnError::System(invocation.argv[0].clone(), error)
}

fn check_directory(dir: &Path) -> Result<(), SpawnError> {
    let problem = match std::fs::metadata(dir) {
        // Checked here because the error of the start would name the program instead of the directory.
        Ok(found) if found.is_dir() => match may_enter(dir) {
            Ok(()) => return Ok(()),
            Err(error) => error,
        },
        Ok(_) => io::ErrorKind::NotADirectory.into(),
        Err(error) => error,
    };

    Err(SpawnError::Directory(dir.display().to_string(), problem))
}
