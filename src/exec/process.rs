//! One process: from its start to the end of its group.
//!
//! A program leads a process group of its own and is waited for without being reaped, so that its group's number stays
//! taken until the last signal has been sent.

use std::ffi::OsStr;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::{sleep, timeout};

use super::group::Group;
use super::invocation::Invocation;
use super::janitor::Janitor;
use super::limits::Limits;
use super::watch::Watch;
use super::{End, Outcome, SpawnError, Stop, capture, program};

/// What a process is run with.
#[derive(Clone, Copy)]
pub(super) struct RunContext<'a> {
    pub(super) limits: &'a Limits,
    /// Who ends the group if this process cannot.
    pub(super) janitor: Option<&'a Janitor>,
    /// Who wants to see what is printed.
    pub(super) watch: Option<&'a Watch>,
}

/// Runs `invocation` and waits until it ends or is ended.
///
/// Output past `limits.stream_bytes` is read and dropped; [`Captured::text`] says how much. On timeout, or when `stop`
/// completes, the whole process group gets TERM, then KILL after a grace period; what it had printed is kept. After exit,
/// pipes that a descendant still holds are awaited for at most `limits.drain`; then the rest of the group is killed.
/// Dropping the future kills the group too.
///
/// # Errors
/// The program could not be started. A non-zero exit is an [`Outcome`].
///
/// Source: POSIX `setpgid`, `kill`, `waitid`.
pub(super) async fn run(
    invocation: &Invocation,
    context: RunContext<'_>,
    stop: impl Future<Output = Stop>,
) -> Result<Outcome, SpawnError> {
    let RunContext { limits, janitor, watch } = context;
    if let Some(janitor) = janitor {
        janitor.prepare();
    }
    let mut child = spawn(invocation)?;
    let mut group = Group::of(&child).map_err(|error| refused(invocation, error))?;
    let entry = janitor.map(|janitor| janitor.register_group(group.number()));
    let mut stdout = capture::Capture::new(limits.stream_bytes, limits.whole_bytes);
    let mut stderr = capture::Capture::new(limits.stream_bytes, 0);
    let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let end = {
        let io = async {
            tokio::join!(
                write_all(streams.0, invocation.stdin.as_deref()),
                read_all(streams.1, &mut stdout, |bytes| watch.into_iter().for_each(|watch| watch.printed(bytes))),
                read_all(streams.2, &mut stderr, |bytes| watch.into_iter().for_each(|watch| watch.stderr(bytes)))
            );
        };
        let mut io = Streams { io: std::pin::pin!(io), done: false };
        let ended = see_out(&mut group, &mut io, invocation.timeout, limits, stop).await;
        // The leader is dead but not reaped: its group cannot be anybody else's yet.
        let _ = timeout(limits.drain, io.finish()).await;
        group.kill();
        ended
    };
    // Before the number of the group is free for others.
    drop(entry);
    let status = child.wait().await.map_err(|error| refused(invocation, error))?;
    group.disarm();
    Ok(Outcome {
        stdout: stdout.finish(),
        stderr: stderr.finish(),
        end: end.unwrap_or_else(|| end_of(status)),
        files: Vec::new(),
    })
}

/// Waits until the leader has ended; `Some` says why it was made to.
async fn see_out<F: Future<Output = ()>>(
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
    io.alongside(group.exited()).await;
    Some(end)
}

/// Finds the program of an invocation.
pub(super) fn find(invocation: &Invocation) -> Result<PathBuf, SpawnError> {
    let name = &invocation.argv[0];
    let search_path = invocation.env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| OsStr::new(value));
    program::resolve(name, search_path, invocation.program_dir.as_deref())
        .ok_or_else(|| SpawnError::NotFound(name.clone()))
}

fn spawn(invocation: &Invocation) -> Result<Child, SpawnError> {
    if let Some(dir) = &invocation.cwd {
        check_directory(dir)?;
    }
    let program = find(invocation)?;
    #[expect(clippy::disallowed_methods, reason = "the one place that starts processes")]
    let mut command = Command::new(program);
    command
        .arg0(&invocation.argv[0])
        .args(&invocation.argv[1..])
        .envs(invocation.env.iter().map(|(name, value)| (name, value)))
        .stdin(if invocation.stdin.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        // Until the group is guarded.
        .kill_on_drop(true);
    if let Some(dir) = &invocation.cwd {
        command.current_dir(dir);
    }
    command.spawn().map_err(|error| match error.kind() {
        // The program is there, so what is not is what its first line names.
        io::ErrorKind::NotFound => refused(invocation, io::Error::other("its interpreter does not exist")),
        _ => refused(invocation, error),
    })
}

fn refused(invocation: &Invocation, error: io::Error) -> SpawnError {
    SpawnError::Refused(invocation.argv[0].clone(), error)
}

fn check_directory(dir: &Path) -> Result<(), SpawnError> {
    let problem = match std::fs::metadata(dir) {
        // Who may not enter is told by the directory's name, not by the program's.
        Ok(found) if found.is_dir() => match rustix::fs::access(dir, rustix::fs::Access::EXEC_OK) {
            Ok(()) => return Ok(()),
            Err(error) => error.into(),
        },
        Ok(_) => io::ErrorKind::NotADirectory.into(),
        Err(error) => error,
    };
    Err(SpawnError::Directory(dir.display().to_string(), problem))
}

fn end_of(status: std::process::ExitStatus) -> End {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, signal) => End::Signaled(signal.unwrap_or_default()),
    }
}

/// Writes all of `text` and closes the pipe. A program that does not read it is no mistake of ours.
async fn write_all(pipe: Option<ChildStdin>, text: Option<&str>) {
    if let (Some(mut pipe), Some(text)) = (pipe, text) {
        let _ = pipe.write_all(text.as_bytes()).await;
    }
}

/// Reads to the end; a stream that breaks has ended.
async fn read_all(stream: Option<impl AsyncRead + Unpin>, capture: &mut capture::Capture, show: impl Fn(&[u8])) {
    let Some(mut stream) = stream else { return };
    let mut buffer = Vec::with_capacity(16 << 10);
    while let Ok(1..) = stream.read_buf(&mut buffer).await {
        capture.push(&buffer);
        show(&buffer);
        buffer.clear();
    }
}

/// The child's streams, pumped while something else is awaited.
struct Streams<'a, F> {
    io: Pin<&'a mut F>,
    done: bool,
}

impl<F: Future<Output = ()>> Streams<'_, F> {
    /// Awaits `other` while the streams are pumped.
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

    async fn finish(&mut self) {
        if !self.done {
            self.io.as_mut().await;
            self.done = true;
        }
    }
}
