//! The janitor: a process that cleans up after a server that was killed.
//!
//! It runs this program in a session of its own, and reads cleanups from a pipe as they are registered and removed. The
//! pipe closes when the server ends for any reason; then the janitor performs the cleanups that are left.
//! `PR_SET_PDEATHSIG` would not do: it follows the thread that started a child, and reaches no grandchild.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use serde_json::{Value, json};

use super::children;
use crate::exec::platform::{enlarge_pipe, kill_group, leave_terminal, open_for_append, this_program};
use crate::identity;
use crate::lock::Unpoisoned as _;

/// The subcommand that starts this program as a janitor.
pub(crate) const COMMAND: &str = "janitor";

/// Interval at which the janitor reads the pipe, which holds the messages of thousands of calls.
const READ_INTERVAL: Duration = Duration::from_millis(10);

/// How often a directory is tried to be removed.
const REMOVALS: usize = 100;

/// An action to perform if the server is killed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cleanup {
    /// Kill a process group.
    Group(i32),
    /// Remove a container: the runtime, then the container's name.
    Container(String, String),
    /// Append a line to a file: a JSON array of both.
    Line(String),
    /// Remove a directory with what is in it: its path as JSON.
    Directory(String),
}

impl fmt::Display for Cleanup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Group(number) => write!(f, "group {number}"),
            Self::Container(runtime, name) => write!(f, "container {name} {runtime}"),
            Self::Line(json) => write!(f, "line {json}"),
            Self::Directory(json) => write!(f, "directory {json}"),
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
            ("directory", json) => Some(Self::Directory(json.to_owned())),
            _ => None,
        }
    }

    /// Performs the action. Errors are ignored, because the server that could report them has ended.
    fn perform(&self) {
        match self {
            Self::Line(json) => {
                if let Ok((file, line)) = serde_json::from_str::<(PathBuf, Value)>(json) {
                    let _ = append_line(&file, &line);
                }
            }
            Self::Directory(json) => {
                if let Ok(path) = serde_json::from_str::<PathBuf>(json) {
                    remove(&path);
                }
            }
            Self::Group(number) => {
                // Smaller numbers stand for the janitor's own group and for all processes.
                if *number > 1 {
                    kill_group(*number);
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

/// Removes a directory. Programs that have just been killed may still write in it, so it is tried more than once.
fn remove(path: &Path) {
    for _ in 0..REMOVALS {
        if fs::remove_dir_all(path).is_ok() || !path.exists() {
            return;
        }
        std::thread::sleep(READ_INTERVAL);
    }
}

/// Appends a line in one write, since other processes may append to the same file.
fn append_line(path: &Path, line: &Value) -> io::Result<()> {
    open_for_append(path)?.write_all(format!("{line}\n").as_bytes())
}

/// The server's side of the janitor. The process starts with the first call.
#[derive(Debug, Default)]
pub(crate) struct Janitor {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    process: Option<(Child, ChildStdin)>,
    cleanups: BTreeSet<Cleanup>,
}

/// A registered cleanup. Dropping the guard removes it.
pub(crate) struct CleanupGuard<'a> {
    janitor: &'a Janitor,
    cleanup: Cleanup,
}

impl Drop for CleanupGuard<'_> {
    fn drop(&mut self) {
        let mut inner = self.janitor.lock();
        inner.cleanups.remove(&self.cleanup);
        inner.send(&format!("- {}\n", self.cleanup));
    }
}

impl Janitor {
    /// Starts the process, if it does not run, before a cleanup is registered: starting takes longer than registering.
    pub(crate) fn prepare(&self) {
        let mut inner = self.lock();
        inner.send("\n");
        if inner.process.is_none() {
            inner.spawn();
        }
    }

    /// Registers a process group to kill.
    pub(crate) fn register_group(&self, number: i32) -> CleanupGuard<'_> {
        self.register(Cleanup::Group(number))
    }

    /// Registers a container to remove.
    pub(crate) fn register_container(&self, runtime: &str, name: &str) -> CleanupGuard<'_> {
        self.register(Cleanup::Container(runtime.to_owned(), name.to_owned()))
    }

    /// Registers a line to append to a file.
    pub(crate) fn register_line(&self, file: &Path, line: &Value) -> CleanupGuard<'_> {
        let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        self.register(Cleanup::Line(json!([file, line]).to_string()))
    }

    /// Registers a directory to remove, until the server ends. Then it is gone, unless the server was killed.
    pub(crate) fn register_directory(&self, path: &Path) {
        self.add(&Cleanup::Directory(json!(path).to_string()));
    }

    /// Registers a directory, or a link, to remove.
    pub(crate) fn register_removal(&self, path: &Path) -> CleanupGuard<'_> {
        self.register(Cleanup::Directory(json!(path).to_string()))
    }

    fn register(&self, cleanup: Cleanup) -> CleanupGuard<'_> {
        self.add(&cleanup);
        CleanupGuard { janitor: self, cleanup }
    }

    fn add(&self, cleanup: &Cleanup) {
        let mut inner = self.lock();

        inner.cleanups.insert(cleanup.clone());
        if inner.process.is_some() {
            inner.send(&format!("+ {cleanup}\n"));
        }
        if inner.process.is_none() {
            inner.spawn();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unpoisoned()
    }
}

impl Inner {
    /// Starts the process and sends it all cleanups.
    fn spawn(&mut self) {
        match start() {
            Ok(process) => {
                self.process = Some(process);
                let all: Vec<String> = self.cleanups.iter().map(|cleanup| format!("+ {cleanup}\n")).collect();
                self.send(&all.concat());
            }
            Err(error) => {
                tracing::warn!(%error, "no janitor: if the server is killed, its child processes keep running");
            }
        }
    }

    /// Writes to the pipe. If that fails, the process is ended, and the next cleanup starts another.
    fn send(&mut self, text: &str) {
        let Some((child, pipe)) = &mut self.process else { return };
        if let Err(error) = pipe.write_all(text.as_bytes()) {
            tracing::warn!(%error, "the janitor is gone");
            let _ = child.kill().and_then(|()| child.wait());
            children::waited_for(child.id().cast_signed());
            self.process = None;
        }
    }
}

/// Starts the process.
fn start() -> io::Result<(Child, ChildStdin)> {
    #[expect(clippy::disallowed_methods, reason = "the janitor is part of `exec`")]
    let mut command = Command::new(this_program());
    // The environment is inherited, because container runtimes may need it.
    command.arg0(identity::name()).arg(COMMAND).current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());

    let mut child = children::start(|| command.spawn(), |child: &Child| Some(child.id()))?;
    let pipe = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;

    enlarge_pipe(&pipe);
    // Without blocking: a stopped janitor must not stop the server.
    rustix::fs::fcntl_setfl(&pipe, rustix::fs::OFlags::NONBLOCK)?;
    Ok((child, pipe))
}

/// A reader that waits for [`READ_INTERVAL`] before each read.
///
/// The pipe holds the messages meanwhile, so that a call does not wait for the scheduler to wake the janitor.
struct DelayedReader<R>(R);

impl<R: Read> Read for DelayedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        std::thread::sleep(READ_INTERVAL);
        self.0.read(buffer)
    }
}

/// Runs the janitor: reads cleanups until the server ends, then performs those that are left.
pub(crate) fn run() {
    // A signal from the server's terminal must not end the janitor first.
    leave_terminal();

    let mut cleanups = BTreeSet::new();
    for line in BufReader::new(DelayedReader(io::stdin())).lines().map_while(Result::ok) {
        match line.split_at_checked(2).map(|(sign, text)| (sign, Cleanup::parse(text))) {
            Some(("+ ", Some(cleanup))) => drop(cleanups.insert(cleanup)),
            Some(("- ", Some(cleanup))) => drop(cleanups.remove(&cleanup)),
            _ => {}
        }
    }

    // In the order of the enum: process groups come first, because the clients of containers are among them.
    cleanups.iter().for_each(Cleanup::perform);
}
