//! Starts processes and ends them. No other module does.
//!
//! [`Runner`] runs the program of a call locally, in a sandbox or in a container, as the policy requires.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use climax_catalog::expansion::command_word;
use climax_catalog::{CliView, EnvValue};

mod append;
mod caller_slots;
mod capture;
mod children;
#[cfg(native_linux)]
mod confine;
#[cfg(native_linux)]
mod confined;
#[cfg(not(native_linux))]
#[path = "confined_portable.rs"]
mod confined;
mod confinement;
mod container;
mod descriptors;
mod error;
pub mod glob;
mod group;
#[cfg(has_code)]
mod guest;
mod invocation;
#[cfg(has_code)]
mod isolation;
mod janitor;
mod joint;
#[cfg(native_linux)]
mod landlock_rules;
mod limits;
mod lines;
mod masks;
mod members;
pub mod paths;
mod pipeline;
mod process;
mod program;
mod random;
#[cfg(native_linux)]
mod restrict;
#[cfg(not(native_linux))]
#[path = "restrict_portable.rs"]
mod restrict;
mod result_files;
mod runner;
mod sandbox;
mod secrets;
mod self_exec;
pub mod shim;
mod shim_order;
mod start_queue;
mod transcript;
mod watch;

pub(crate) use append::open_for_append;
#[cfg(has_code)]
pub(crate) use caller_slots::CallerSlots;
#[cfg(has_code)]
pub(crate) use capture::Capture;
pub use capture::Captured;
pub use children::reap_given_children;
pub use confined::kernel_abi;
pub use confinement::Confinement;
pub use descriptors::{keep_descriptors_private, room_for_connections};
pub use error::SpawnError;
#[cfg(has_code)]
pub(crate) use guest::Guest;
pub use invocation::{Invocation, SecretSource};
#[cfg(has_code)]
pub(crate) use isolation::isolate;
pub(crate) use janitor::CleanupGuard;
pub use joint::{ErrorSink, Sink};
pub use limits::{DEFAULT_OUTPUT_BYTES, Limits, MAX_WHOLE_OUTPUT_BYTES, default_concurrency};
pub use lines::{MAX_LOG_LINES, MAX_WAITING_LOG_LINES, RemainingLines, StderrLines};
pub use masks::Masks;
pub use pipeline::{PipelineEnds, PipelineStage, StageError};
pub use random::random_bytes;
pub(crate) use result_files::ResultFiles;
pub use result_files::{FileContent, ResultFile};
pub use runner::Runner;
pub use transcript::{Excerpt, MAX_TRANSCRIPT_BYTES, Transcript};
pub use watch::{CallState, Watch};

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
    pub answer: Option<String>,
    /// Its result files; empty unless it succeeded.
    pub files: Vec<ResultFile>,
    /// The processes of its group that still ran when it had ended by itself, and were ended.
    pub background_processes: usize,
    /// The processes of its group that could not be ended, since they have changed to another user.
    pub survivors: usize,
    /// The sandbox that it ran in, in words.
    pub sandbox: Option<String>,
    /// The secrets that its output does not show.
    pub masks: Masks,
}

impl Outcome {
    /// Makes the outcome of a process that printed nothing.
    fn ended(end: End) -> Self {
        Self {
            stdout: Captured::default(),
            stderr: Captured::default(),
            end,
            answer: None,
            files: Vec::new(),
            background_processes: 0,
            survivors: 0,
            sandbox: None,
            masks: Masks::default(),
        }
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

/// Reads a variable of the server's environment, for the expansion of config words.
///
/// Returns `None` if it is unset or not UTF-8.
#[must_use]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Returns whether this process may write a path, or make it.
#[must_use]
pub fn could_write(path: &Path) -> bool {
    let path = if path.exists() { path } else { path.parent().unwrap_or(path) };
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

/// Returns whether the first word of a command line names the program that a config names as `word`.
///
/// That is the same name, or a path to the file that would run.
#[must_use]
pub fn names_program(first: &str, word: &str) -> bool {
    // Most words are plain names, and a line is compared with many.
    if !first.contains('/') && !word.contains(['/', '$', '~']) {
        return first == word;
    }
    let word = command_word(word, &variable);
    if first == word || Path::new(&word).file_name().is_some_and(|name| name == first) {
        return true;
    }
    let same_file = |path: std::path::PathBuf| match (path.canonicalize(), Path::new(first).canonicalize()) {
        (Ok(path), Ok(first)) => path == first,
        (Err(_), _) | (_, Err(_)) => false,
    };
    first.starts_with('/')
        && Path::new(first).file_name() == Path::new(&word).file_name()
        && program::resolve(&word, None, None).is_some_and(same_file)
}

/// The directory of this process; empty if it has been removed.
#[must_use]
pub fn directory() -> PathBuf {
    std::env::current_dir().unwrap_or_default()
}

/// Finds the program that `word` names in a config of `cli`.
#[must_use]
pub fn locate(cli: CliView<'_>, word: &str) -> Option<std::path::PathBuf> {
    let literal = |(name, value)| match value {
        EnvValue::Literal(value) if name == "PATH" => Some(OsStr::new(value)),
        EnvValue::Literal(_) | EnvValue::From(_) | EnvValue::File(_) => None,
    };
    let search_path = cli.env().filter_map(literal).last();
    program::resolve(&command_word(word, &variable), search_path, cli.working_dir().map(Path::new))
}
