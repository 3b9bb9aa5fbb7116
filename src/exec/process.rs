//! Runs one process, from its start to the end of its process group.
//!
//! Each program leads a process group of its own. It is reaped after the last signal has been sent, because only an
//! unreaped leader reserves the ID of its group.

use std::ffi::{OsStr, OsString};
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::{sleep, timeout};
use tokio_util::either::Either;

use super::capture::Capture;
use super::children;
use super::group::Group;
use super::invocation::Invocation;
use super::janitor::Janitor;
use super::joint::{Descriptors, Joint, Merged};
use super::limits::Limits;
use super::masks::{MaskedStream, Masks};
use super::start_queue::StartQueue;
use super::watch::Watch;
use super::{End, Outcome, SpawnError, Stop, confined, program};

/// The context that a process runs in.
#[derive(Clone, Copy)]
pub(super) struct RunContext<'a> {
    pub(super) limits: &'a Limits,
    /// Starts the process in its turn.
    pub(super) queue: &'a StartQueue,
    /// Kills the process group if the server is killed.
    pub(super) janitor: Option<&'a Janitor>,
    /// Reports the progress of the call.
    pub(super) watch: Option<&'a Watch>,
    /// The secrets that output does not show.
    pub(super) masks: &'a Masks,
}

/// Runs `invocation` and waits until it ends or is ended. Its streams are those of `joint`.
///
/// Output past `limits.stream_bytes` is read and dropped; [`Captured::text`](super::Captured::text) contains the
/// number of dropped bytes. On timeout, or when `stop` completes, the whole process group gets TERM, then KILL after
/// a grace period. The output until then is part of the result. After exit, pipes that a descendant still holds, and
/// then other members of the group, are awaited for at most `limits.drain`. Then the rest of the group is killed and
/// counted. Members that have changed to another user survive KILL; they are counted too, and not awaited.
/// Dropping the future kills the group too.
/// The start waits while the system lacks descriptors, processes or memory and other programs run.
///
/// # Errors
/// The program could not be started. A non-zero exit is an [`Outcome`].
///
/// Source: POSIX `setpgid`, `kill`, `waitid`.
pub(super) async fn run(
    invocation: &Invocation,
    joint: Joint,
    context: RunContext<'_>,
    stop: impl Future<Output = Stop>,
) -> Result<Outcome, SpawnError> {
    let RunContext { limits, queue, janitor, watch, masks } = context;
    let mut stop = std::pin::pin!(stop);
    if let Some(janitor) = janitor {
        janitor.prepare();
    }
    let (descriptors, merged) = joint.open().map_err(|error| system_error(invocation, error))?;
    // Dropped after the child, whose descriptors are then free for the next start.
    let (_running, mut child) = tokio::select! {
        biased;
        why = stop.as_mut() => return Ok(Outcome::not_started(why)),
        started = queue.start(|| spawn(invocation, &descriptors)) => started?,
    };
    // The child has its own. A pipe ends when its last writer is gone.
    drop(descriptors);
    if let Some(watch) = watch {
        watch.started();
    }
    let mut group = Group::of(&child).map_err(|error| system_error(invocation, error))?;
    let cleanup = janitor.map(|janitor| janitor.register_group(group.id()));
    let mut stdout = Capture::new(limits.stream_bytes, limits.whole_bytes);
    let mut stderr = Capture::new(limits.stream_bytes, 0);
    let (end, background_processes) = {
        let io = pump(&mut child, merged, invocation.stdin.as_deref(), (watch, masks), &mut stdout, &mut stderr);
        let mut io = Streams { io: std::pin::pin!(io), done: false };
        let end = wait_for_exit(&mut group, &mut io, invocation.timeout, limits, stop.as_mut()).await;
        // The leader has exited and is not reaped, so no other group can have its ID yet.
        let _ = timeout(limits.drain, async {
            io.finish().await;
            group.all_exited().await;
        })
        .await;
        let left = if end.is_none() { group.other_members() } else { 0 };
        group.kill();
        (end, left)
    };
    let survivors = if end.is_some() || background_processes > 0 { group.survivors() } else { 0 };
    // Before the leader is reaped: afterwards another group could get the ID.
    drop(cleanup);
    let id = group.id();
    let end = match end {
        // The runtime reaps the leader when it ends.
        Some(end) if !group.has_ended() => end,
        end => {
            let status = child.wait().await.map_err(|error| system_error(invocation, error))?;
            children::waited_for(id);
            end.unwrap_or_else(|| end_of(status))
        }
    };
    group.disarm();
    Ok(Outcome {
        stdout: stdout.finish(),
        stderr: stderr.finish(),
        background_processes: background_processes.saturating_sub(survivors),
        survivors,
        masks: masks.clone(),
        ..Outcome::ended(end)
    })
}

/// Waits until the leader has exited, and ends the group on timeout or stop.
///
/// Returns `None` if the leader exited by itself.
async fn wait_for_exit<F: Future<Output = ()>>(
    group: &mut Group,
    io: &mut Streams<'_, F>,
    time: Duration,
    limits: &Limits,
    stop: impl Future<Output = Stop>,
) -> Option<End> {
    let (end, grace) = tokio::select! {
        () = io.alongside(group.exited()) => return None,
        () = sleep(time) => (End::TimedOut(time), limits.grace),
        stop = stop => (End::Stopped(stop), match stop {
            Stop::Cancelled => limits.grace,
            Stop::ShuttingDown => limits.shutdown_grace,
        }),
    };
    group.terminate();
    let _ = timeout(grace, io.alongside(group.all_exited())).await;
    group.kill();
    if !group.is_beyond_reach() {
        io.alongside(group.exited()).await;
    }
    Some(end)
}

/// Finds the program of an invocation.
///
/// # Errors
/// [`SpawnError::NotFound`].
pub(super) fn find(invocation: &Invocation) -> Result<PathBuf, SpawnError> {
    let name = &invocation.argv[0];
    let search_path = invocation.env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| OsStr::new(value));
    program::resolve(name, search_path, invocation.program_dir.as_deref())
        .ok_or_else(|| SpawnError::NotFound(name.clone()))
}

/// Starts the program as the leader of a new process group.
fn spawn(invocation: &Invocation, descriptors: &Descriptors) -> Result<Child, SpawnError> {
    if let Some(dir) = &invocation.cwd {
        check_directory(dir)?;
    }
    let program = find(invocation)?;
    let failed = |error| system_error(invocation, error);
    #[expect(clippy::disallowed_methods, reason = "the one place that starts processes")]
    let mut command = Command::new(program);
    if let Some(names) = &invocation.inherited {
        command.env_clear().envs(inherited(names));
    }
    command
        .arg0(&invocation.argv[0])
        .args(&invocation.argv[1..])
        .envs(invocation.env.iter().map(|(name, value)| (name, value)))
        .stdin(descriptors.input(invocation.stdin.is_some()).map_err(failed)?)
        .stdout(descriptors.output().map_err(failed)?)
        .stderr(descriptors.errors().map_err(failed)?)
        .process_group(0)
        // Until `Group` takes over.
        .kill_on_drop(true);
    if let Some(dir) = &invocation.cwd {
        command.current_dir(dir);
    }
    let Some(confinement) = &invocation.confinement else {
        return children::start(|| command.spawn(), Child::id).map_err(|error| start_error(invocation, error));
    };
    let runtime = tokio::runtime::Handle::current();
    let start = move || {
        let _context = runtime.enter();
        command.spawn()
    };
    let confined = || match confined::start(confinement, start) {
        Ok(started) => started.map_err(|error| start_error(invocation, error)),
        Err(problem) => Err(SpawnError::Sandbox(invocation.argv[0].clone(), problem)),
    };
    children::start(confined, Child::id)
}

/// Makes the error of a start that failed.
fn start_error(invocation: &Invocation, error: io::Error) -> SpawnError {
    match error.kind() {
        // The program was found, so the interpreter that its first line names is missing.
        io::ErrorKind::NotFound => system_error(invocation, io::Error::other("its interpreter does not exist")),
        _ => system_error(invocation, error),
    }
}

/// Returns the variables of this process that are among `names`, of which one may end in `*`.
fn inherited(names: &[String]) -> impl Iterator<Item = (OsString, OsString)> {
    let is_named = |name: &OsStr| {
        names.iter().any(|known| match known.strip_suffix('*') {
            Some(start) => name.as_encoded_bytes().starts_with(start.as_bytes()),
            None => name == known.as_str(),
        })
    };
    std::env::vars_os().filter(move |(name, _)| is_named(name))
}

fn system_error(invocation: &Invocation, error: io::Error) -> SpawnError {
    SpawnError::System(invocation.argv[0].clone(), error)
}

fn check_directory(dir: &Path) -> Result<(), SpawnError> {
    let problem = match std::fs::metadata(dir) {
        // Checked here because the error of the start would name the program instead of the directory.
        Ok(found) if found.is_dir() => match rustix::fs::access(dir, rustix::fs::Access::EXEC_OK) {
            Ok(()) => return Ok(()),
            Err(error) => error.into(),
        },
        Ok(_) => io::ErrorKind::NotADirectory.into(),
        Err(error) => error,
    };
    Err(SpawnError::Directory(dir.display().to_string(), problem))
}

/// Returns how a process with this status has ended.
pub(super) fn end_of(status: std::process::ExitStatus) -> End {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, signal) => End::Signaled(signal.unwrap_or_default()),
    }
}

/// Transfers standard input, standard output and standard error until all three have ended.
async fn pump(
    child: &mut Child,
    merged: Merged,
    stdin: Option<&str>,
    (watch, masks): (Option<&Watch>, &Masks),
    stdout: &mut Capture,
    stderr: &mut Capture,
) {
    let output = merged.map(Either::Right).or_else(|| child.stdout.take().map(Either::Left));
    tokio::join!(
        write_all(child.stdin.take(), stdin),
        read_all(output, stdout, masks, |bytes| watch.into_iter().for_each(|watch| watch.stdout(bytes))),
        read_all(child.stderr.take(), stderr, masks, |bytes| watch.into_iter().for_each(|watch| watch.stderr(bytes)))
    );
}

/// Writes `text` and closes the pipe. Programs may exit without reading their input, so errors are ignored.
async fn write_all(pipe: Option<ChildStdin>, text: Option<&str>) {
    if let (Some(mut pipe), Some(text)) = (pipe, text) {
        let _ = pipe.write_all(text.as_bytes()).await;
    }
}

/// Reads a stream to its end or its first error, and reports each piece to `watch`.
async fn read_all(stream: Option<impl AsyncRead + Unpin>, capture: &mut Capture, masks: &Masks, watch: impl Fn(&[u8])) {
    let Some(mut stream) = stream else { return };
    let mut masked = (!masks.is_empty()).then(|| MaskedStream::new(masks));
    let mut show = |bytes: &[u8]| {
        capture.push(bytes);
        watch(bytes);
    };
    let mut buffer = Vec::with_capacity(16 << 10);
    while let Ok(1..) = stream.read_buf(&mut buffer).await {
        match &mut masked {
            Some(masked) => show(&masked.push(&buffer)),
            None => show(&buffer),
        }
        buffer.clear();
    }
    if let Some(masked) = masked {
        show(&masked.finish());
    }
}

/// The transfer of the child's streams, which runs while another future is awaited.
struct Streams<'a, F> {
    io: Pin<&'a mut F>,
    done: bool,
}

impl<F: Future<Output = ()>> Streams<'_, F> {
    /// Awaits `other` and runs the transfer meanwhile.
    async fn alongside(&mut self, other: impl Future<Output = ()>) {
        let mut other = std::pin::pin!(other);
        if !self.done {
            tokio::select! {
                () = other.as_mut() => return,
                () = self.io.as_mut() => self.done = true,
            }
        }
        other.await;
    }

    /// Waits until all streams have ended.
    async fn finish(&mut self) {
        if !self.done {
            self.io.as_mut().await;
            self.done = true;
        }
    }
}
