//! Writes the audit lines of one request, and reports its calls to the observer.

use std::time::{Duration, Instant};

use climax_catalog::ResolvedTool;
use serde_json::Map;

use super::Toolbox;
use crate::call::audit::{Audit, Record};
use crate::call::outcome::{CallError, CallResult, Ending, Permission};
use crate::call::plan::{Plan, PlannedCall, Stage};
use crate::call::plan_outcome::{PlanFailure, PlanOutcome, PlanResult, StepOutcome};
use crate::call::request::{Request, Session};
use crate::exec::CleanupGuard;

/// What the audit file and the observer are told of one request.
pub(super) struct Journal<'a> {
    toolbox: &'a Toolbox,
    request: Request<'a>,
    session: Session<'a>,
    /// The approval of the calls, as far as it has come.
    pub(super) permission: Permission,
    /// When the request came. From the second step on, when the step before it ended.
    since: Instant,
    /// The number of the first call in the audit file. The others follow it.
    first_number: u64,
}

impl<'a> Journal<'a> {
    /// Begins the journal of a request that has just come.
    pub(super) fn new(toolbox: &'a Toolbox, request: Request<'a>, session: Session<'a>) -> Self {
        let permission = Permission::NotNeeded;
        Self { toolbox, request, session, permission, since: Instant::now(), first_number: 0 }
    }

    /// Numbers the calls of a plan, so that none runs without an audit line.
    ///
    /// # Errors
    /// The audit file cannot be written.
    pub(super) fn number(&mut self, plan: &Plan<'_>) -> Result<(), PlanFailure> {
        let begun = self.begin(plan.stages().count());
        begun.map_err(|error| match plan.stages().next() {
            Some(stage) => stage.failure(error),
            None => PlanFailure { tool: None, text: String::new(), error },
        })
    }

    fn begin(&mut self, calls: usize) -> Result<(), CallError> {
        if let Some(audit) = &self.toolbox.audit {
            self.first_number = audit.begin_calls(calls as u64).map_err(CallError::Unaudited)?;
        }
        Ok(())
    }

    /// Writes the audit line of a request that was refused before it had a plan. Returns the failure, or another one if
    /// the line cannot be written.
    pub(super) fn refused(mut self, failure: PlanFailure) -> PlanFailure {
        if let Err(error) = self.begin(1) {
            return PlanFailure { error, ..failure };
        }

        let duration = self.since.elapsed();
        let ending = Ending::Failed(&failure.error);
        let name = failure.tool.as_deref().unwrap_or_default();
        let tool = self.toolbox.index.get(name);
        if let Some(audit) = &self.toolbox.audit {
            let nothing = Map::new();
            let arguments = match self.request {
                Request::Tool { arguments, .. } => arguments,
                Request::Line { .. } => &nothing,
            };
            let starts = tool.map_or_else(Vec::new, |tool| self.toolbox.started_tools(tool, arguments));
            let record = Record {
                call: self.first_number,
                line: self.line(),
                catalog: self.toolbox.digest(),
                session: self.session,
                tool_name: name,
                tool,
                cage: None,
                arguments,
                starts,
                permission: self.permission,
                duration,
            };
            write(audit, &record, ending);
        }

        self.observe(tool.map_or("", ResolvedTool::name), duration, ending);
        failure
    }

    /// Writes the audit lines of a plan that ended before its first program started, and returns its result.
    pub(super) fn ended_early<Q>(self, plan: &Plan<'_>, result: CallResult<Q>) -> PlanResult<Q> {
        for stage in plan.stages() {
            self.ended(stage, result.ending());
        }

        let asked = plan.stages().find(|stage| plan.stage_needs_approval(stage));
        let Some(stage) = asked.or_else(|| plan.stages().next()) else {
            return PlanResult::Done(PlanOutcome::default());
        };
        match result {
            CallResult::InputRequired(question) => PlanResult::InputRequired(question),
            CallResult::Failed(error) => stage.failure(error).into(),
            CallResult::Ran(outcome) => {
                let stages = vec![stage.outcome(outcome, Duration::ZERO)];
                PlanResult::Done(PlanOutcome { steps: vec![StepOutcome { stages }], failure: None })
            }
        }
    }

    /// Writes the audit line of a call that has ended.
    pub(super) fn ended(&self, stage: &Stage<'_>, ending: Ending<'_>) {
        let duration = self.since.elapsed();
        if let Some(audit) = &self.toolbox.audit {
            write(audit, &self.record(stage, duration), ending);
        }

        self.observe(stage.call.name(), duration, ending);
    }

    /// Registers the audit line that the janitor writes if this process is killed before the guard is dropped.
    pub(super) fn unfinished(&self, stage: &Stage<'_>) -> Option<CleanupGuard<'a>> {
        let audit = self.toolbox.audit.as_ref()?;
        let line = self.record(stage, Duration::ZERO).unfinished();
        self.toolbox.runner.register_audit_line(audit.path(), &line)
    }

    /// Whether the request is a command line.
    pub(super) fn is_line(&self) -> bool {
        matches!(self.request, Request::Line { .. })
    }

    /// Starts the time of the next step.
    pub(super) fn next_step(&mut self) {
        self.since = Instant::now();
    }

    fn record<'r>(&'r self, stage: &'r Stage<'_>, duration: Duration) -> Record<'r> {
        let call = &stage.call;
        let starts = call.with_started().skip(1).map(PlannedCall::name).map(str::to_owned).collect();
        Record {
            call: self.first_number + stage.place as u64,
            line: self.line(),
            catalog: self.toolbox.digest(),
            session: self.session,
            tool_name: call.tool.name(),
            tool: Some(call.tool),
            arguments: &call.arguments,
            cage: call.cage(),
            starts,
            permission: self.permission,
            duration,
        }
    }

    /// The number that the calls of a command line share: that of the first.
    fn line(&self) -> Option<u64> {
        self.is_line().then_some(self.first_number)
    }

    /// Reports a call to the observer. `tool` is empty if no served tool has the name.
    fn observe(&self, tool: &str, duration: Duration, ending: Ending<'_>) {
        if let Some(observer) = &self.toolbox.observer {
            observer.call_ended(tool, ending.codes().outcome, duration, ending.output_bytes());
        }
    }
}

fn write(audit: &Audit, record: &Record<'_>, ending: Ending<'_>) {
    if let Err(error) = audit.write(&record.to_json(ending)) {
        tracing::error!(%error, "the audit line cannot be written; further calls fail until it can");
    }
}
