//! Writes the audit lines of one request, and reports its calls to the observer.

use std::sync::OnceLock;
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
pub(in crate::call) struct Journal<'a> {
    toolbox: &'a Toolbox,
    request: Request<'a>,
    session: Session<'a>,
    /// The approval of the calls, as far as it has come.
    pub(super) permission: Permission,
    /// When the request came.
    since: Instant,
    /// The number of the first call in the audit file.
    first_number: OnceLock<u64>,
}

/// The number of a call in the audit file, and when it began.
#[derive(Clone, Copy, Debug)]
pub(in crate::call) struct Entry {
    number: u64,
    since: Instant,
}

impl<'a> Journal<'a> {
    /// Begins the journal of a request that has just come.
    pub(super) fn new(toolbox: &'a Toolbox, request: Request<'a>, session: Session<'a>) -> Self {
        let (permission, first_number) = (Permission::NotNeeded, OnceLock::new());
        Self { toolbox, request, session, permission, since: Instant::now(), first_number }
    }

    /// Numbers calls, so that none runs without an audit line.
    ///
    /// # Errors
    /// The audit file cannot be written.
    pub(in crate::call) fn entry(&self, calls: usize) -> Result<Entry, CallError> {
        let since = Instant::now();
        let Some(audit) = &self.toolbox.audit else { return Ok(Entry { number: 0, since }) };
        let number = audit.begin_calls(calls as u64).map_err(CallError::Unaudited)?;
        if calls > 0 {
            self.first_number.get_or_init(|| number);
        }
        Ok(Entry { number, since })
    }

    /// The entry of a request that starts nothing: it began when the request came.
    fn early_entry(&self, calls: usize) -> Result<Entry, CallError> {
        self.entry(calls).map(|entry| Entry { since: self.since, ..entry })
    }

    /// Writes the audit line of a request that was refused before it had a plan. Returns the failure, or another one if
    /// the line cannot be written.
    pub(super) fn refused(self, failure: PlanFailure) -> PlanFailure {
        let entry = match self.early_entry(1) {
            Ok(entry) => entry,
            Err(error) => return PlanFailure { error, ..failure },
        };

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
                call: entry.number,
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
        match self.early_entry(plan.stages.len()) {
            Ok(entry) => {
                for stage in &plan.stages {
                    let number = entry.number + stage.place as u64;
                    self.ended(stage, Entry { number, ..entry }, result.ending());
                }
            }
            Err(error) => return self.unaudited(plan, error).into(),
        }

        let asked = plan.stages.iter().find(|stage| plan.stage_needs_approval(stage));
        let open = plan.open_needing_approval().filter(|_| asked.is_none());
        let stage = asked.or_else(|| plan.stages.first());
        let (tool, text) = match (open, stage) {
            (Some(open), _) => (Some(open.tool.name().to_owned()), open.text.clone()),
            (None, Some(stage)) => (Some(stage.call.name().to_owned()), stage.text.clone()),
            (None, None) => (None, self.text().to_owned()),
        };
        match (result, stage) {
            (CallResult::InputRequired(question), _) => PlanResult::InputRequired(question),
            (CallResult::Failed(error), _) => PlanFailure { tool, text, error }.into(),
            (CallResult::Ran(outcome), Some(stage)) => {
                let stages = vec![stage.outcome(outcome, Duration::ZERO)];
                PlanResult::Done(PlanOutcome { steps: vec![StepOutcome { stages }], ..PlanOutcome::default() })
            }
            (CallResult::Ran(_), None) => PlanResult::Done(PlanOutcome::default()),
        }
    }

    /// The failure of a plan whose audit lines cannot be written.
    pub(super) fn unaudited(&self, plan: &Plan<'_>, error: CallError) -> PlanFailure {
        match plan.stages.first() {
            Some(stage) => stage.failure(error),
            None => PlanFailure { tool: None, text: self.text().to_owned(), error },
        }
    }

    /// The request as it is written.
    fn text(&self) -> &'a str {
        match self.request {
            Request::Tool { name, .. } => name,
            Request::Line { text, .. } => text,
        }
    }

    /// Writes the audit line of a call that has ended.
    pub(in crate::call) fn ended(&self, stage: &Stage<'_>, entry: Entry, ending: Ending<'_>) {
        let duration = entry.since.elapsed();
        if let Some(audit) = &self.toolbox.audit {
            write(audit, &self.record(stage, entry, duration), ending);
        }

        self.observe(stage.call.name(), duration, ending);
    }

    /// Registers the audit line that the janitor writes if this process is killed before the guard is dropped.
    pub(in crate::call) fn unfinished(&self, stage: &Stage<'_>, entry: Entry) -> Option<CleanupGuard<'a>> {
        let audit = self.toolbox.audit.as_ref()?;
        let line = self.record(stage, entry, Duration::ZERO).unfinished();
        self.toolbox.runner.register_audit_line(audit.path(), &line)
    }

    fn record<'r>(&'r self, stage: &'r Stage<'_>, entry: Entry, duration: Duration) -> Record<'r> {
        let call = &stage.call;
        let starts = call.with_started().skip(1).map(PlannedCall::name).map(str::to_owned).collect();
        Record {
            call: entry.number,
            line: self.line(),
            catalog: self.toolbox.digest(),
            session: self.session,
            tool_name: call.tool.name(),
            tool: Some(call.tool),
            arguments: &call.arguments,
            cage: call.cage(),
            starts,
            permission: stage.permission.unwrap_or(self.permission),
            duration,
        }
    }

    /// The number that the calls of a command line share: that of the first.
    fn line(&self) -> Option<u64> {
        matches!(self.request, Request::Line { .. }).then(|| self.first_number.get().copied()).flatten()
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
