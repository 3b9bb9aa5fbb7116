//! What a subshell has of its own.

use std::path::PathBuf;

use climax_shell::State;

use tokio_util::sync::CancellationToken;

use super::job::Job;
use super::streams::Streams;
use crate::call::plan_outcome::Tested;
use crate::call::sight::Sight;
use crate::exec;

/// What a subshell has of its own. A clone is another one.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub(super) struct Shell {
    /// Variables, positions, statuses and options.
    pub(super) state: State,
    /// Where commands run; the directory of this process if `None`.
    pub(super) directory: Option<String>,
    /// The directory before the last `cd`.
    pub(super) previous: Option<Before>,
    /// The directories that `pushd` has left, the last one at the end.
    pub(super) left: Vec<Before>,
    /// The files that globs and tests see.
    pub(super) sight: Sight,
    /// The environment of Python that `source` has activated.
    pub(super) environment: Option<PathBuf>,
    /// Whether it has read something: the output of a command, or a line of its input.
    pub(super) has_data: bool,
    /// Whether its input is a pipe or a file of a command of the line around it.
    pub(super) is_fed: bool,
    /// The streams of the command that runs, without its own redirections: those of the commands in its words.
    pub(super) around: Option<Streams>,
    /// Whether the input of these streams is a pipe or a file of the line.
    pub(super) is_around_fed: bool,
    /// Whether a command in the words of this one has run.
    pub(super) has_substituted: bool,
    /// The number of loops around the command.
    pub(super) loops: usize,
    /// Whether the nearest text around it is one of `sh`, whose `echo` may take backslashes for more than themselves.
    pub(super) is_sh: bool,
    /// The number of texts of `sh -c` around it.
    pub(super) texts: usize,
    /// The commands that it has started in the background, in order.
    pub(super) jobs: Vec<Job>,
    /// Cancelled to end it, if it runs in the background.
    pub(super) ending: Option<CancellationToken>,
    /// What looks at a failure, which then does not end the line under `set -e`.
    pub(super) tested: Tested,
}

/// A directory that a shell was in; that of this process if `None`.
#[derive(Clone, Debug)]
pub(super) struct Before(pub(super) Option<String>);

/// How a list goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// With the next command.
    Next,
    /// Behind this many loops.
    Break(usize),
    /// With the next turn of the loop that has this many around the command.
    Continue(usize),
    /// At the end of the subshell.
    Exit,
}

impl Shell {
    /// The status of the last command.
    pub(super) fn status(&self) -> i32 {
        self.state.status.unwrap_or_default()
    }

    /// Returns the path of the program that a name or a path names.
    pub(super) fn path_of_program(&self, word: &str) -> Option<PathBuf> {
        self.program_of_environment(word).or_else(|| exec::path_of_program(word))
    }

    /// Returns the paths of all programs of a name, the one that runs first.
    pub(super) fn paths_of_program(&self, word: &str) -> Vec<PathBuf> {
        self.program_of_environment(word).into_iter().chain(exec::paths_of_program(word)).collect()
    }

    /// Returns the path of a program in the environment of Python that the line has activated; `None` if it is not there.
    pub(super) fn program_of_environment(&self, word: &str) -> Option<PathBuf> {
        let environment = self.environment.as_ref().filter(|_| !word.contains('/'))?;
        Some(environment.join("bin").join(word)).filter(|path| path.is_file())
    }

    pub(super) fn set_status(&mut self, status: i32) {
        self.state.status = Some(status);
    }
}
