//! Starts processes and sees them out: the only place that does.
//!
//! [`Runner`] runs the program of a call where the policy says: here, in a sandbox, or in a container.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use climax_catalog::CliView;

use climax_catalog::expansion::command_word;

mod append;
mod capture;
mod confine;
mod container;
mod descriptors;
mod error;
mod group;
mod invocation;
mod janitor;
mod limits;
mod lines;
mod process;
mod program;
mod random;
mod result_files;
mod runner;
mod sandbox;
mod self_exec;
pub mod shim;
mod watch;

pub(crate) use append::open_for_append;
pub use capture::Captured;
pub use descriptors::{keep_descriptors_private, room_for_connections};
pub use error::SpawnError;
pub use invocation::Invocation;
pub(crate) use janitor::CleanupGuard;
pub use limits::{DEFAULT_OUTPUT_BYTES, Limits, MAX_WHOLE_OUTPUT_BYTES, default_concurrency};
pub use lines::{Lines, MAX_LOG_LINES, MAX_WAITING_LOG_LINES, Rest};
pub use random::random_bytes;
pub(crate) use result_files::ResultFiles;
pub use result_files::{FileContent, ResultFile};
pub use runner::Runner;
pub use watch::{State, Watch};

/// What a process did.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Its standard output.
    pub stdout: Captured,
    /// Its standard error.
    pub stderr: Captured,
    /// How it ended.
    pub end: End,
    /// The files that it was to write, if it ended well.
    pub files: Vec<ResultFile>,
}

impl Outcome {
    /// What there is of a process that has printed nothing.
    fn ended(end: End) -> Self {
        Self { stdout: Captured::default(), stderr: Captured::default(), end, files: Vec::new() }
    }

    /// What there is of a process that was given up before it was started.
    #[must_use]
    pub fn not_started(why: Stop) -> Self {
        Self::ended(End::Stopped(why))
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

/// A variable of the server's environment, by which words of configs expand; `None` also if it is no Unicode.
#[must_use]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Where the program is that starts with `word` in a config of `cli`.
#[must_use]
pub fn locate(cli: CliView<'_>, word: &str) -> Option<std::path::PathBuf> {
    let search_path = cli.env().filter(|(name, _)| *name == "PATH").last().map(|(_, value)| OsStr::new(value));
    program::resolve(&command_word(word, &variable), search_path, cli.working_dir().map(Path::new))
}
