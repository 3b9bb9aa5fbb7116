//! The janitor: a process that ends what a killed server leaves behind.
//!
//! It is this program again, in a session of its own, and reads from a pipe what runs and what has ended. When the pipe
//! closes, the server is gone, however it went; what still runs then is killed. The kernel's own means to that end,
//! `PR_SET_PDEATHSIG`, follows the thread that started a child, and reaches no grandchild.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, setsid};

use serde_json::{Value, json};

use super::append::append_line;
use super::self_exec::THIS_PROGRAM;

/// The word that starts this program as a janitor.
pub(crate) const COMMAND: &str = "janitor";

/// How much the janitor may be told while it is not looking; the system may allow less.
const PIPE_BYTES: usize = 1 << 20;

/// How long the janitor lets news come together; the pipe has room for thousands of calls meanwhile.
const PAUSE: Duration = Duration::from_millis(10);

/// Something that must not outlive the server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cleanup {
    /// A process group.
    Group(i32),
    /// A container, by the runtime that knows it and its name.
    Container(String, String),
    /// A line to append to a file: the JSON of both.
    Line(String),
}

impl fmt::Display for Cleanup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Group(number) => write!(f, "group {number}"),
            Self::Container(runtime, name) => write!(f, "container {name} {runtime}"),
            Self::Line(json) => write!(f, "line {json}"),
        }
    }
}

impl Cleanup {
    fn parse(text: &str) -> Option<Self> {
        match text.split_once(' ')? {
            ("group", number) => number.parse().ok().map(Self::Group),
            ("container", rest) => {
                rest.split_once(' ').map(|(name, runtime)| Self::Container(runtime.to_owned(), name.to_owned()))
            }
            ("line", json) => Some(Self::Line(json.to_owned())),
            _ => None,
        }
    }

    fn end(&self) {
        match self {
            Self::Line(json) => {
                if let Ok((file, line)) = serde_json::from_str::<(PathBuf, Value)>(json) {
                    let _ = append_line(&file, &line);
                }
            }
            Self::Group(number) => {
                if let Some(group) = Pid::from_raw(*number).filter(|_| *number > 1) {
                    let _ = kill_process_group(group, Signal::KILL);
                }
            }
            Self::Container(runtime, name) => {
                for words in [&["kill", name.as_str()][..], &["rm", "--force", name.as_str()]] {
                    #[expect(clippy::disallowed_methods, reason = "the janitor is part of `exec`")]
                    let _ = Command::new(runtime).args(words).stdout(Stdio::null()).stderr(Stdio::null()).status();
                }
            }
        }
    }
}

/// The server's end of the pipe. The process is started when the first cleanup is given to it.
#[derive(Debug, Default)]
pub(super) struct Janitor {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    process: Option<(Child, ChildStdin)>,
    cleanups: BTreeSet<Cleanup>,
}

/// A cleanup, until this is dropped.
pub(crate) struct CleanupGuard<'a> {
    janitor: &'a Janitor,
    cleanup: Cleanup,
}

impl Drop for CleanupGuard<'_> {
    fn drop(&mut self) {
        let mut inner = self.janitor.lock();
        inner.cleanups.remove(&self.cleanup);
        inner.tell(&format!("- {}\n", self.cleanup));
    }
}

impl Janitor {
    /// Makes sure that there is somebody to take a cleanup, before there is one: starting a janitor takes longer than
    /// telling it.
    pub(super) fn prepare(&self) {
        let mut inner = self.lock();
        inner.tell("\n");
        if inner.process.is_none() {
            inner.spawn();
        }
    }

    /// Has a process group ended if the server cannot do it.
    pub(super) fn register_group(&self, number: i32) -> CleanupGuard<'_> {
        self.guard(Cleanup::Group(number))
    }

    /// Has a container ended if the server cannot do it.
    pub(super) fn register_container(&self, runtime: &str, name: &str) -> CleanupGuard<'_> {
        self.guard(Cleanup::Container(runtime.to_owned(), name.to_owned()))
    }

    /// Has a line appended to a file if the server cannot do it.
    pub(super) fn register_line(&self, file: &Path, line: &Value) -> CleanupGuard<'_> {
        let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        self.guard(Cleanup::Line(json!([file, line]).to_string()))
    }

    fn guard(&self, cleanup: Cleanup) -> CleanupGuard<'_> {
        let mut inner = self.lock();
        inner.cleanups.insert(cleanup.clone());
        if inner.process.is_some() {
            inner.tell(&format!("+ {cleanup}\n"));
        }
        if inner.process.is_none() {
            inner.spawn();
        }
        CleanupGuard { janitor: self, cleanup }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Starts the process and tells it all that there is.
    fn spawn(&mut self) {
        match start() {
            Ok(process) => {
                self.process = Some(process);
                let all: Vec<String> = self.cleanups.iter().map(|cleanup| format!("+ {cleanup}\n")).collect();
                self.tell(&all.concat());
            }
            Err(error) => tracing::warn!(%error, "no janitor: if the server is killed, what it runs is left behind"),
        }
    }

    /// A janitor that takes nothing any more is given up; the next cleanup starts another.
    fn tell(&mut self, text: &str) {
        let Some((child, pipe)) = &mut self.process else { return };
        if let Err(error) = pipe.write_all(text.as_bytes()) {
            tracing::warn!(%error, "the janitor is gone");
            let _ = child.kill().and_then(|()| child.wait());
            self.process = None;
        }
    }
}

fn start() -> io::Result<(Child, ChildStdin)> {
    #[expect(clippy::disallowed_methods, reason = "the janitor is part of `exec`")]
    let mut command = Command::new(THIS_PROGRAM);
    // The environment is kept: the runtimes of containers need what they were started with.
    command.arg0("climax").arg(COMMAND).current_dir("/");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let pipe = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    // A janitor that is stopped must not stop the server; it then knows less than it should.
    let _ = rustix::pipe::fcntl_setpipe_size(&pipe, PIPE_BYTES);
    rustix::fs::fcntl_setfl(&pipe, rustix::fs::OFlags::NONBLOCK)?;
    Ok((child, pipe))
}

/// A stream that is read now and then: the pipe keeps what is written meanwhile, also by a server that is gone, and calls
/// need not wait for the janitor to be woken.
struct DelayedReader<R>(R);

impl<R: Read> Read for DelayedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        std::thread::sleep(PAUSE);
        self.0.read(buffer)
    }
}

/// Is the janitor, until the server is gone and what it left has been ended.
pub(crate) fn run() {
    // The server's terminal, if it has one, must not end the janitor first.
    let _ = setsid();
    let mut cleanups = BTreeSet::new();
    for line in BufReader::new(DelayedReader(io::stdin())).lines().map_while(Result::ok) {
        match line.split_at_checked(2).map(|(sign, text)| (sign, Cleanup::parse(text))) {
            Some(("+ ", Some(cleanup))) => drop(cleanups.insert(cleanup)),
            Some(("- ", Some(cleanup))) => drop(cleanups.remove(&cleanup)),
            _ => {}
        }
    }
    // Groups first: the clients of containers are among them.
    cleanups.iter().for_each(Cleanup::end);
}
