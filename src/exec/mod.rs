//! Starts processes and sees them out: the only place that does.
//!
//! A program leads a process group of its own and is waited for without being reaped, so that its group's number stays
//! taken until the last signal has been sent.

use std::ffi::OsStr;
use std::fmt;
use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::process::Stdio;
use std::time::Duration;

use climax_catalog::ResolvedTool;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::{sleep, timeout};

use crate::argv::Invocation;
use crate::expand::command_word;
use crate::limits::Limits;

mod capture;
mod descriptors;
mod group;
mod program;

pub use capture::Captured;
pub use descriptors::keep_descriptors_private;
use group::Group;

/// What a process did.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Its standard output.
    pub stdout: Captured,
    /// Its standard error.
    pub stderr: Captured,
    /// How it ended.
    pub end: End,
}

impl Outcome {
    /// What there is of a process that was given up before it was started.
    #[must_use]
    pub fn not_started(why: Stop) -> Self {
        Self { stdout: Captured::default(), stderr: Captured::default(), end: End::Stopped(why) }
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal.
    Signaled(i32),
    /// By us, after this time.
    TimedOut(Duration),
    /// By us, because nobody waits for it any more.
    Stopped(Stop),
}

/// Why a call is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The client cancelled it.
    Cancelled,
    /// The server is ending.
    ShuttingDown,
}

/// A program that could not be started.
#[derive(Debug)]
pub enum SpawnError {
    /// No such program.
    NotFound(String),
    /// The directory to run in cannot be used.
    Directory(String, io::Error),
    /// The system refused.
    Refused(String, io::Error),
}

/// `Command not found` is part of the contract (SPEC §7).
impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound(program) => write!(f, "Command not found: {program}"),
            Self::Directory(path, error) => write!(f, "Cannot run in directory {path}: {error}"),
            Self::Refused(program, error) => write!(f, "Cannot start {program}: {error}"),
        }
    }
}

impl std::error::Error for SpawnError {}

impl SpawnError {
    /// Whether the same start may succeed later: the system was short of something, or the program was being written.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        use rustix::io::Errno;
        let temporary = [Errno::AGAIN, Errno::NOMEM, Errno::MFILE, Errno::NFILE, Errno::TXTBSY];
        match self {
            Self::Refused(_, error) => temporary.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error())),
            Self::NotFound(_) | Self::Directory(..) => false,
        }
    }
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
pub async fn run(
    invocation: &Invocation,
    limits: &Limits,
    stop: impl Future<Output = Stop>,
) -> Result<Outcome, SpawnError> {
    let mut child = spawn(invocation)?;
    let mut group = Group::of(&child).map_err(|error| refused(invocation, error))?;
    let mut stdout = capture::Capture::new(limits.stream_bytes);
    let mut stderr = capture::Capture::new(limits.stream_bytes);
    let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let end = {
        let io = async {
            tokio::join!(
                write_all(streams.0, invocation.stdin.as_deref()),
                read_all(streams.1, &mut stdout),
                read_all(streams.2, &mut stderr)
            );
        };
        let mut io = Streams { io: std::pin::pin!(io), done: false };
        let ended = see_out(&mut group, &mut io, invocation.timeout, limits, stop).await;
        // The leader is dead but not reaped: its group cannot be anybody else's yet.
        let _ = timeout(limits.drain, io.finish()).await;
        group.kill();
        ended
    };
    let status = child.wait().await.map_err(|error| refused(invocation, error))?;
    group.disarm();
    Ok(Outcome { stdout: stdout.finish(), stderr: stderr.finish(), end: end.unwrap_or_else(|| end_of(status)) })
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

fn spawn(invocation: &Invocation) -> Result<Child, SpawnError> {
    let name = &invocation.argv[0];
    if let Some(dir) = &invocation.cwd {
        check_directory(dir)?;
    }
    let search_path = invocation.env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| OsStr::new(value));
    let program = program::resolve(name, search_path, invocation.program_dir.as_deref())
        .ok_or_else(|| SpawnError::NotFound(name.clone()))?;
    #[expect(clippy::disallowed_methods, reason = "the one place that starts processes")]
    let mut command = Command::new(program);
    command
        .arg0(name)
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

/// A variable of the server's environment, by which words of configs expand; `None` also if it is no Unicode.
#[must_use]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Whether the program that `tool` starts is there.
#[must_use]
pub fn is_installed(tool: ResolvedTool<'_>) -> bool {
    let cli = tool.cli();
    let search_path = cli.env().filter(|(name, _)| *name == "PATH").last().map(|(_, value)| OsStr::new(value));
    cli.words().chain(tool.words()).next().is_some_and(|word| {
        let program = command_word(word, &variable);
        program::resolve(&program, search_path, cli.working_dir().map(Path::new)).is_some()
    })
}

fn check_directory(dir: &Path) -> Result<(), SpawnError> {
    let problem = match std::fs::metadata(dir) {
        Ok(found) if found.is_dir() => return Ok(()),
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
async fn read_all(stream: Option<impl AsyncRead + Unpin>, capture: &mut capture::Capture) {
    let Some(mut stream) = stream else { return };
    let mut buffer = vec![0; 16 << 10];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        capture.push(&buffer[..count]);
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
