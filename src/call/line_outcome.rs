//! The request to run a command line, and what its programs did.

use std::os::fd::OwnedFd;
use std::time::Duration;

use crate::call::outcome::CallError;
use crate::call::request::Purpose;
use crate::call::space::Claim;
use crate::exec::{End, Outcome, Watch};

/// The request to run a command line.
#[derive(Clone, Copy, Debug)]
pub struct LineRequest<'a> {
    /// The command line.
    pub line: &'a str,
    /// The directory in which it starts; that of the server if `None`.
    pub directory: Option<&'a str>,
    /// The standard input of the first command.
    pub stdin: Option<&'a str>,
    /// Reports the progress of the last command of each pipeline.
    pub watch: Option<&'a Watch>,
    /// Environment variables for its programs. Variables of configs override them.
    pub env: &'a [(String, String)],
    /// The caller's name; `None` if callers are anonymous.
    pub caller: Option<&'a str>,
    /// The purpose of the result.
    pub purpose: Purpose,
    /// The space that the result takes until the client has read it.
    pub space: Option<&'a Claim>,
}

/// What would become of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineVerdict {
    /// It would run.
    Permitted,
    /// It would run once somebody has approved it.
    NeedsApproval,
    /// It would be refused, for these reasons.
    Refused(Vec<String>),
}

/// Streams of this process that the programs of a line get.
#[derive(Debug)]
pub struct RawStreams {
    /// The standard input of the first command, if it reads one.
    pub input: Option<OwnedFd>,
    /// The standard output of the last command of each pipeline.
    pub output: OwnedFd,
    /// The standard error of all commands.
    pub errors: OwnedFd,
}

/// The result of a command line.
#[derive(Debug)]
pub enum LineResult<Q> {
    /// It ran, or failed.
    Done(LineOutcome),
    /// The client must ask its user first. No program ran.
    InputRequired(Q),
}

/// What the programs of a line did.
#[derive(Debug, Default)]
pub struct LineOutcome {
    /// The pipelines that ran, in order.
    pub steps: Vec<StepOutcome>,
    /// The reason why the line ended early.
    pub failure: Option<LineFailure>,
}

/// What the programs of a pipeline did.
#[derive(Debug)]
pub struct StepOutcome {
    /// Its commands, in order.
    pub stages: Vec<StageOutcome>,
}

/// What a program of a line did.
#[derive(Debug)]
pub struct StageOutcome {
    /// The name of the tool.
    pub tool: String,
    /// The command as it is written.
    pub text: String,
    /// The outcome. Of a command before the last one, the output went to the next.
    pub outcome: Outcome,
    /// How long it ran.
    pub duration: Duration,
}

/// The reason why a line ended early.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct LineFailure {
    /// The tool of the command; `None` if no tool takes it.
    pub tool: Option<String>,
    /// The command as it is written, or the line.
    pub text: String,
    /// The reason.
    pub error: CallError,
}

impl StepOutcome {
    /// Returns the exit status of its last program, as a shell counts it: 128 and the number for a signal.
    #[must_use]
    pub fn status(&self) -> i32 {
        match self.stages.last().map(|stage| stage.outcome.end) {
            Some(End::Exited(status)) => status,
            Some(End::Signaled(signal)) => 128 + signal,
            Some(End::TimedOut(_)) => 124,
            Some(End::Stopped(_)) => 130,
            None => 0,
        }
    }
}
