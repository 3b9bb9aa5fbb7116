//! [`Plan`]: what a request comes to once it has been read and checked.

use std::borrow::Cow;
use std::time::Duration;

use climax_catalog::{Cage, Policy, ResolvedTool, Risk};
use serde_json::{Map, Value};

use crate::call::arguments::Bound;
use crate::call::line::{Condition, Redirections};
use crate::call::outcome::CallError;
use crate::call::plan_outcome::{PlanFailure, StageOutcome};
use crate::call::risk;
use crate::exec::{Invocation, Outcome, Runner};

/// The calls of a request, read, checked and planned. A call by name is a plan of one call.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    /// The pipelines, in the order in which they run.
    pub(crate) steps: Vec<Step<'a>>,
    pub(crate) policy: &'a Policy,
    pub(crate) runner: &'a Runner,
}

/// Calls that run at once, joined by pipes.
#[derive(Clone, Debug)]
pub(crate) struct Step<'a> {
    /// When it runs, by the exit status of the step before.
    pub(crate) condition: Condition,
    /// The calls, in the order of the pipeline.
    pub(crate) stages: Vec<Stage<'a>>,
}

/// A call in its place.
#[derive(Clone, Debug)]
pub(crate) struct Stage<'a> {
    /// Its place among the calls of the plan, from 0.
    pub(crate) place: usize,
    pub(crate) call: PlannedCall<'a>,
    /// The command as it is written; the tool's name for a call by name.
    pub(crate) text: String,
    /// Where its output goes.
    pub(crate) streams: Redirections,
}

/// A call whose arguments have been checked, with the program that it would start.
#[derive(Clone, Debug)]
pub(crate) struct PlannedCall<'a> {
    pub(crate) tool: ResolvedTool<'a>,
    /// The arguments as they were given.
    pub(crate) arguments: Cow<'a, Map<String, Value>>,
    /// The values by which it runs.
    pub(crate) bound: Bound<'a>,
    pub(crate) invocation: Invocation,
    /// The call that the program starts, such as `git log` of `timeout 5 git log`.
    pub(crate) started: Option<Box<PlannedCall<'a>>>,
}

impl<'a> Plan<'a> {
    /// Returns all calls: those of each stage, then those that it starts.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &PlannedCall<'a>> {
        self.stages().flat_map(|stage| stage.call.with_started())
    }

    /// Returns the stages of all steps.
    pub(crate) fn stages(&self) -> impl Iterator<Item = &Stage<'a>> {
        self.steps.iter().flat_map(|step| &step.stages)
    }

    /// Returns the highest risk of its calls.
    #[must_use]
    pub fn risk(&self) -> Risk {
        self.calls().map(PlannedCall::risk).max().unwrap_or(Risk::Destructive)
    }
}

impl Stage<'_> {
    /// Returns the failure of the plan by this call.
    pub(crate) fn failure(&self, error: CallError) -> PlanFailure {
        PlanFailure { tool: Some(self.call.name().to_owned()), text: self.text.clone(), error }
    }

    /// Returns what became of this call.
    pub(crate) fn outcome(&self, outcome: Outcome, duration: Duration) -> StageOutcome {
        let (tool, text) = (self.call.name().to_owned(), self.text.clone());
        StageOutcome { tool, text, outcome, cage: self.call.cage(), duration }
    }
}

impl<'a> PlannedCall<'a> {
    /// Returns the name of its tool.
    pub(crate) fn name(&self) -> &'a str {
        self.tool.name()
    }

    /// Returns the call, then the calls that start one another from it.
    pub(crate) fn with_started(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |call| call.started.as_deref())
    }

    /// Returns the cage of its program.
    pub(crate) fn cage(&self) -> Option<Cage> {
        self.invocation.confinement.as_ref()?.cage.as_ref().map(|rights| rights.cage)
    }

    /// Returns the risk of the tool with these arguments.
    ///
    /// In a wider cage than that of the tool it is the risk of the cage. Where the tool lacks its cage, it is what the tool
    /// can do without.
    pub(crate) fn risk(&self) -> Risk {
        let own = risk::of_call(self.tool, &self.bound);
        match (self.cage(), self.tool.needs().filter(|needs| needs.cage.is_some())) {
            (Some(cage), _) => own.max(cage.risk()),
            (None, Some(needs)) => own.max(needs.without.unwrap_or(Risk::Destructive)),
            (None, None) => own,
        }
    }
}
