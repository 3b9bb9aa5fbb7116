//! What a process did: its output, and how it ended.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use super::files::ResultFile;
use super::output::{Captured, Masks};
use super::platform::ending_signal;

/// The output of a process and how it ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Its standard output.
    pub stdout: Captured,
    /// Its standard error.
    pub stderr: Captured,
    /// How it ended.
    pub end: End,
    /// The meaning of its exit code, if the tool's config lists the code as an answer.
    pub answer: Option<Box<str>>,
    /// Its result files; empty unless it succeeded.
    pub files: Vec<ResultFile>,
    /// The processes of its group that still ran when it had ended by itself, and were ended.
    pub background_processes: usize,
    /// The processes of its group that could not be ended, since they have changed to another user.
    pub survivors: usize,
    /// What became of the files that programs outside of its cage would load, which it made or changed, and the secrets that
    /// were kept from it.
    pub protected: Box<[Kept]>,
    /// The sandbox that it ran in, in words.
    pub sandbox: Option<Box<str>>,
    /// The secrets that its output does not show.
    pub masks: Masks,
}

impl Outcome {
    /// Makes the outcome of a process that printed nothing.
    pub(super) fn ended(end: End) -> Self {
        Self {
            stdout: Captured::default(),
            stderr: Captured::default(),
            end,
            answer: None,
            files: Vec::new(),
            background_processes: 0,
            survivors: 0,
            protected: Box::default(),
            sandbox: None,
            masks: Masks::default(),
        }
    }

    /// Makes the outcome of a builtin of a line.
    pub(crate) fn of_builtin(end: End) -> Self {
        Self::ended(end)
    }

    /// Returns whether it ended with status 0 or with an exit code that is an answer.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.end == End::Exited(0) || self.answer.is_some()
    }

    /// Makes the outcome of a call that was stopped before its process was started.
    #[must_use]
    pub fn not_started(why: Stop) -> Self {
        Self::ended(End::Stopped(why))
    }
}

/// What became of a file or directory that programs outside of a cage would load, after a program had written it; or what
/// was kept from a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It was told to leave out files with secrets: their names, and patterns where there are many files.
    LeftOut(Vec<String>),
    /// It was new, and has been moved.
    MovedAside(PathBuf, PathBuf),
    /// It has been put back as it was. What the program had made of it is at the second path, if there was anything.
    PutBack(PathBuf, Option<PathBuf>),
    /// It could not be put back, for this reason.
    NotPutBack(PathBuf, String),
    /// It was made or changed below the top of the project, and is left where it is.
    Left(PathBuf),
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal.
    Signaled(i32),
    /// By the server, after this timeout.
    TimedOut(Duration),
    /// By the server, because the call was stopped.
    Stopped(Stop),
}

/// Why a call was stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The client cancelled it.
    Cancelled,
    /// The server shuts down.
    ShuttingDown,
}

impl From<ExitStatus> for End {
    fn from(status: ExitStatus) -> Self {
        status.code().map_or_else(|| Self::Signaled(ending_signal(status)), Self::Exited)
    }
}
