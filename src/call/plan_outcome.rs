//! What the programs of a plan did.

use std::os::fd::OwnedFd;
use std::time::Duration;

use climax_catalog::Cage;

use crate::call::outcome::{CallError, CallResult, Ending, shell_status};
use crate::exec::{Outcome, Stop};
use crate::telemetry::OK;

/// What would become of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyVerdict {
    /// It would run.
    Permitted,
    /// It would run once somebody has approved it.
    NeedsApproval,
    /// It would be refused, for these reasons.
    Refused(Vec<String>),
}

/// Streams of this process that the programs of a plan get.
#[derive(Debug)]
pub struct RawStreams {
    /// The standard input of the first command, if it reads one.
    pub input: Option<OwnedFd>,
    /// The standard output of the last command of each pipeline.
    pub output: OwnedFd,
    /// The standard error of all commands.
    pub errors: OwnedFd,
}

/// The result of a request.
#[derive(Debug)]
pub enum PlanResult<Q> {
    /// It ran, or failed.
    Done(PlanOutcome),
    /// The client must ask its user first. No program ran.
    InputRequired(Q),
}

/// What the programs of a plan did.
#[derive(Debug, Default)]
pub struct PlanOutcome {
    /// The pipelines that ran, in order.
    pub steps: Vec<StepOutcome>,
    /// The reason why the plan ended early.
    pub failure: Option<PlanFailure>,
    /// The exit status of a line; `None` for a call by name.
    pub status: Option<i32>,
}

/// What the programs of a pipeline did.
#[derive(Debug)]
pub struct StepOutcome {
    /// Its commands, in order.
    pub stages: Vec<StageOutcome>,
}

/// What looks at the failure of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tested {
    /// Nothing.
    #[default]
    No,
    /// `&&`: what stands behind it is left out.
    Skips,
    /// `||`, `if`, `while`, `until` or `!`: the line does something else.
    Answers,
}

/// What a program of a plan did.
#[derive(Debug)]
pub struct StageOutcome {
    /// The name of the tool.
    pub tool: String,
    /// The command as it is written; the tool's name for a call by name.
    pub text: String,
    /// The outcome. Of a command before the last one, the output went to the next.
    pub outcome: Outcome,
    /// The cage that its program ran in.
    pub cage: Option<Cage>,
    /// Whether it had the network in its cage.
    pub has_network: bool,
    /// The command that downloads beforehand what it would load from the network.
    pub prefetch: Option<String>,
    /// What of the line looks at its failure.
    pub tested: Tested,
    /// How long it ran.
    pub duration: Duration,
}

/// The reason why a plan ended early.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct PlanFailure {
    /// The tool of the command; `None` if no tool takes it.
    pub tool: Option<String>,
    /// The command as it is written, or all of the line; the tool's name for a call by name.
    pub text: String,
    /// The reason.
    pub error: CallError,
}

impl<Q> PlanResult<Q> {
    /// Returns the name of the result in traces: that of the call which ended the plan.
    pub(crate) fn code(&self) -> &'static str {
        let done = match self {
            Self::InputRequired(_) => return Ending::Asked.codes().outcome,
            Self::Done(done) => done,
        };

        let last = done.steps.last().and_then(|step| step.stages.last());
        match (&done.failure, last) {
            (Some(failure), _) => Ending::Failed(&failure.error).codes().outcome,
            (None, Some(stage)) => Ending::Ran(&stage.outcome).codes().outcome,
            (None, None) => OK,
        }
    }

    /// Returns the result of a plan of one call.
    #[must_use]
    pub fn into_call(self) -> CallResult<Q> {
        let done = match self {
            Self::InputRequired(question) => return CallResult::InputRequired(question),
            Self::Done(done) => done,
        };
        let outcome = done.steps.into_iter().flat_map(|step| step.stages).map(|stage| stage.outcome).next_back();
        match (done.failure, outcome) {
            (Some(failure), _) => CallResult::Failed(failure.error),
            (None, Some(outcome)) => CallResult::Ran(outcome),
            // Every plan has a step, which has run unless the plan was stopped before.
            (None, None) => CallResult::Ran(Outcome::not_started(Stop::Cancelled)),
        }
    }
}

impl<Q> From<PlanFailure> for PlanResult<Q> {
    fn from(failure: PlanFailure) -> Self {
        Self::Done(PlanOutcome { failure: Some(failure), ..PlanOutcome::default() })
    }
}

impl StepOutcome {
    /// Returns the exit status of its last program, as a shell counts it: 128 and the number for a signal.
    #[must_use]
    pub fn status(&self) -> i32 {
        self.stages.last().map_or(0, |stage| shell_status(stage.outcome.end))
    }
}
