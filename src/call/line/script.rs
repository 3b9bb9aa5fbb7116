//! The parts of a command line, as they are written: pipelines, stages, words.

use std::ops::Range;

/// A command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The directories of `cd DIR` at its start, in order.
    pub directories: Vec<Word>,
    /// The pipelines, in order.
    pub steps: Vec<Step>,
}

/// A pipeline, and when it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// When it runs.
    pub condition: Condition,
    /// The commands that pipes join; at least one.
    pub stages: Vec<Stage>,
}

/// When a pipeline runs, by the exit status of the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// In any case: it is the first, or `;` or a line break stands before it.
    Always,
    /// If the one before succeeded: `&&`.
    Success,
    /// If the one before failed: `||`.
    Failure,
}

/// A command of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Variables for its program: `NAME=value` before it.
    pub variables: Vec<(String, Word)>,
    /// The words; at least one.
    pub words: Vec<Word>,
    /// Where standard output and standard error go.
    pub streams: Redirections,
    /// Its place in the line, in bytes.
    pub range: Range<usize>,
}

/// Where the output of a program goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Redirections {
    /// Standard output.
    pub stdout: Stdout,
    /// Standard error.
    pub stderr: Stderr,
}

/// Where standard output goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stdout {
    /// To the next stage, or into the result.
    #[default]
    Output,
    /// Nowhere: `>/dev/null`.
    Null,
}

/// Where standard error goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stderr {
    /// Into the result, apart from standard output.
    #[default]
    Errors,
    /// To the next stage, or into the result's standard output: `2>&1`.
    Output,
    /// Nowhere: `2>/dev/null`.
    Null,
}

/// A redirection of one stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Redirection {
    /// `>/dev/null`.
    StdoutToNull,
    /// `2>/dev/null`.
    StderrToNull,
    /// `&>/dev/null`.
    BothToNull,
    /// `2>&1`.
    StderrToStdout,
}

impl Redirection {
    /// Returns the streams after this redirection: `2>&1` copies what standard output is at that time.
    pub(super) fn applied(self, streams: Redirections) -> Redirections {
        match (self, streams.stdout) {
            (Self::StdoutToNull, _) => Redirections { stdout: Stdout::Null, ..streams },
            (Self::StderrToNull, _) | (Self::StderrToStdout, Stdout::Null) => {
                Redirections { stderr: Stderr::Null, ..streams }
            }
            (Self::BothToNull, _) => Redirections { stdout: Stdout::Null, stderr: Stderr::Null },
            (Self::StderrToStdout, Stdout::Output) => Redirections { stderr: Stderr::Output, ..streams },
        }
    }
}

/// A word after quotes were removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// The text. Globs and a leading `~` stand as they are written.
    pub text: String,
    /// Whether an unquoted `~` starts it, and names the home directory.
    pub is_home: bool,
    /// The pattern, if an unquoted `*`, `?` or `[` makes it a glob. Quoted characters are escaped with a backslash.
    pub glob: Option<String>,
    /// Its place in the line, in bytes.
    pub range: Range<usize>,
}

/// A part of a command line that is not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {problem}; {remedy}", self.place())]
pub struct LineError {
    /// The text at the place.
    pub found: String,
    /// Its place in the line, in bytes.
    pub range: Range<usize>,
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub remedy: String,
}

impl LineError {
    /// Makes an error about a part of `line`.
    #[must_use]
    pub fn at(line: &str, range: Range<usize>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        let found = line.get(range.clone()).unwrap_or_default().to_owned();
        Self { found, range, problem: problem.into(), remedy: remedy.into() }
    }

    fn place(&self) -> String {
        let found = crate::call::arguments::echo(&self.found);
        match found.trim() {
            "" => format!("At byte {}", self.range.start),
            found => format!("At byte {}, `{found}`", self.range.start),
        }
    }
}
