//! Runs plans: asks the user, waits for space and a slot, and runs the programs of each step at once.

use std::future::Future;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use climax_catalog::ResolvedTool;
use futures_util::FutureExt as _;
use futures_util::future::Shared;
use serde_json::{Map, Value};
use tokio::sync::OwnedSemaphorePermit;

use super::Toolbox;
use super::journal::Journal;
use super::planning::Additions;
use crate::call::approval::{Approver, LateQuestions, Verdict};
use crate::call::command_line;
use crate::call::denial;
use crate::call::interpreter::{Background, Clock, Interpreter, LineStart};
use crate::call::native::Native;
use crate::call::outcome::{CallError, CallResult, Ending, Permission};
use crate::call::plan::{Plan, Stage};
use crate::call::plan_outcome::{PlanOutcome, PlanResult, RawStreams, StepOutcome};
use crate::call::request::{LineBounds, Request, Session};
use crate::call::space::claimed_bytes;
use crate::call::user_input::{approve, fill_in_forms};
use crate::exec::{self, End, Kept, Masks, Outcome, ResultFiles, Runner, SpawnError, Stop};

/// What a plan holds while its programs run.
struct Resources {
    /// The directory for result files.
    files: Option<ResultFiles>,
    /// The caller's slot.
    _slot: Option<OwnedSemaphorePermit>,
}

impl Toolbox {
    /// Plans a request, has the user approve it, and runs it. When `stop` completes, all of it ends.
    ///
    /// Every call is planned and approved before the first program starts. Each has an audit line of its own, which is
    /// written before this returns; a call without an audit line does not run. The programs get the streams of `raw`,
    /// if there are any; else their output is in the result.
    pub async fn run<A: Approver>(
        &self,
        request: Request<'_>,
        session: Session<'_>,
        raw: Option<RawStreams>,
        approver: &A,
        stop: impl Future<Output = Stop> + Send,
    ) -> PlanResult<A::Question> {
        let mut journal = Journal::new(self, request, session);
        let mut plan = match self.plan(request, session) {
            Ok(plan) => plan,
            Err(failure) => return journal.refused(*failure).into(),
        };
        // Nobody is asked about what could not be written down.
        if let Err(error) = journal.entry(0) {
            return journal.unaudited(&plan, error).into();
        }

        let stop = stop.shared();
        let prepared = self.prepare(&mut plan, request, session, &mut journal, approver, stop.clone()).await;
        let resources = match prepared {
            Ok(resources) => resources,
            Err(result) => return journal.ended_early(&plan, result),
        };

        PlanResult::Done(match request {
            Request::Tool { .. } => self.run_call(plan, session, &journal, resources.files, stop).await,
            Request::Line { text, directory, input, bounds } => {
                let Some(script) = plan.script.take() else { return PlanResult::Done(PlanOutcome::default()) };
                let line = LineStart { text, script: &script, directory, input, raw };
                self.run_line(plan, line, bounds, (session, &journal, approver), stop).await
            }
        })
    }

    /// Runs a line once its plan has been approved.
    async fn run_line<A: Approver, S: Future<Output = Stop> + Send>(
        &self,
        plan: Plan<'_>,
        line: LineStart<'_>,
        bounds: LineBounds,
        (session, journal, approver): (Session<'_>, &Journal<'_>, &A),
        stop: Shared<S>,
    ) -> PlanOutcome {
        let _slot = match self.runner.slot(stop.clone()).await {
            Ok(slot) => slot,
            Err(why) => {
                let stages = plan.stages.first().map(|stage| stage.outcome(Outcome::not_started(why), Duration::ZERO));
                let steps = vec![StepOutcome { stages: stages.into_iter().collect() }];
                return PlanOutcome { steps, ..PlanOutcome::default() };
            }
        };
        // A program may print what another one of the line has told it.
        let masks = masks_of(&plan);
        let longest = plan.stages.iter().map(|stage| stage.call.invocation.timeout).max().unwrap_or_default();
        // What a call changes depends on what the commands before it did. If nobody was asked about it, it is planned again
        // when it is due.
        let was_asked: Vec<bool> = plan.stages.iter().map(|stage| plan.stage_needs_approval(stage)).collect();
        let planned = plan.stages.into_iter().zip(was_asked).map(|(stage, was_asked)| {
            let is_approved = was_asked || !stage.call.depends_on_files();
            (stage.key.clone(), Stage { is_approved, ..stage })
        });
        let planned = planned.collect();
        let (background, starts) = Background::new();
        let interpreter = Interpreter {
            toolbox: self,
            session,
            bounds,
            clock: Clock::start(bounds.timeout),
            approver,
            journal,
            stop,
            runner: self.runner.within_slot(),
            planned,
            longest,
            masks,
            most_bytes: self.runner.limits().whole_bytes.max(4 * self.runner.limits().stream_bytes) as u64,
            programs: AtomicUsize::new(0),
            commands: AtomicUsize::new(0),
            background,
        };
        interpreter.run(line, starts).await
    }

    /// Calls a tool by its name: [`Toolbox::run`] for a request of one call.
    pub async fn call<A: Approver>(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        session: Session<'_>,
        approver: &A,
        stop: impl Future<Output = Stop> + Send,
    ) -> CallResult<A::Question> {
        self.run(Request::Tool { name, arguments }, session, None, approver, stop).await.into_call()
    }

    /// Takes the steps between the plan and the first program: forms, result files, approval, space, slot.
    ///
    /// # Errors
    /// The result with which the plan ends here.
    async fn prepare<'a, A: Approver, S: Future<Output = Stop>>(
        &'a self,
        plan: &mut Plan<'a>,
        request: Request<'a>,
        session: Session<'_>,
        journal: &mut Journal<'_>,
        approver: &A,
        stop: Shared<S>,
    ) -> Result<Resources, CallResult<A::Question>> {
        journal.permission = Permission::Awaited;
        let answers = self.answers(plan, approver, stop.clone()).await?;

        journal.permission = Permission::NotNeeded;
        let files = result_files(plan).map_err(|error| CallResult::Failed(error.into()))?;

        if answers.is_some() || files.is_some() {
            let additions = Additions { answers, files_dir: files.as_ref().map(|files| files.dir().to_owned()) };
            *plan =
                self.plan_with(request, session, &additions).map_err(|failure| CallResult::Failed(failure.error))?;
        }

        journal.permission = Permission::Awaited;
        self.settle(plan).await;
        journal.permission = approve(plan, approver, stop.clone()).await?;
        if plan.may_need_approval() {
            // What nobody can be asked about later is decided now, before anything has run.
            match (approver.late_questions(), plan.headless::<A::Question>()) {
                (LateQuestions::Asked, _) | (LateQuestions::ByPolicy, Verdict::Approved) => {}
                (LateQuestions::ByPolicy, Verdict::Denied(denial)) => {
                    return Err(CallResult::Failed(CallError::ApprovalDenied(denial)));
                }
                _ => return Err(CallResult::Failed(CallError::LateQuestion)),
            }
        }

        let not_started = |why| CallResult::Ran(Outcome::not_started(why));
        self.claim_space(plan, session, stop.clone()).await.map_err(not_started)?;
        let slot = if plan.script.is_some() || plan.stages.iter().any(|stage| self.takes_slot(stage.call.tool)) {
            self.runner.caller_slot(session.caller, stop).await.map_err(not_started)?
        } else {
            None
        };

        Ok(Resources { files, _slot: slot })
    }

    /// Asks the user for the values that a tool has forms for; `None` if it has no forms.
    ///
    /// # Errors
    /// The result with which the call ends here.
    pub(super) async fn answers<A: Approver>(
        &self,
        plan: &Plan<'_>,
        approver: &A,
        stop: impl Future<Output = Stop>,
    ) -> Result<Option<Map<String, Value>>, CallResult<A::Question>> {
        // The commands of a line have no forms.
        let Some(call) = plan.calls().next().filter(|call| call.tool.questions().len() > 0) else { return Ok(None) };
        fill_in_forms(call.tool, &call.bound, approver, stop).await.map(Some)
    }

    /// Waits until there is space for the result. When `stop` completes, the wait ends.
    ///
    /// # Errors
    /// The reason of the stop.
    async fn claim_space(
        &self,
        plan: &Plan<'_>,
        session: Session<'_>,
        stop: impl Future<Output = Stop>,
    ) -> Result<(), Stop> {
        let Some(space) = session.space else { return Ok(()) };
        let bytes = plan.stages.iter().map(|stage| claimed_bytes(stage.call.tool, self.runner.limits())).max();
        tokio::select! {
            biased;
            why = stop => Err(why),
            () = space.wait_for(bytes.unwrap_or_default()) => Ok(()),
        }
    }

    /// Whether a call counts among those that may run at once.
    fn takes_slot(&self, tool: ResolvedTool<'_>) -> bool {
        !tool.is_native() || self.natives.get(tool.name()).is_none_or(Native::takes_slot)
    }

    /// Runs the one call of a plan. While it runs, the janitor has its audit line.
    async fn run_call(
        &self,
        plan: Plan<'_>,
        session: Session<'_>,
        journal: &Journal<'_>,
        files: Option<ResultFiles>,
        stop: impl Future<Output = Stop>,
    ) -> PlanOutcome {
        let Some(stage) = plan.stages.into_iter().next() else { return PlanOutcome::default() };
        let entry = match journal.entry(1) {
            Ok(entry) => entry,
            Err(error) => {
                return PlanOutcome { failure: Some(stage.failure(error)), ..PlanOutcome::default() };
            }
        };
        let unfinished = journal.unfinished(&stage, entry);
        let (invocation, tool) = (&stage.call.invocation, stage.call.tool);
        tracing::info!(tool = stage.call.name(), program = invocation.argv[0], "running");
        let missing = Self::missing_before(&stage.call);
        let start = Instant::now();
        let ran = if tool.is_native() {
            self.run_native(&stage, session, stop).await
        } else {
            self.runner.run(invocation, session.watch, stop).await
        };
        let duration = start.elapsed();
        drop(unfinished);

        match ran {
            Ok(outcome) => {
                tracing::info!(tool = stage.call.name(), end = ?outcome.end, "ended");
                self.note_made(&stage.call, &missing, &outcome);
                let outcome = explained(&stage, outcome);
                journal.ended(&stage, entry, Ending::Ran(&outcome));
                let stages = vec![stage.outcome(outcome, duration)];
                let mut done = PlanOutcome { steps: vec![StepOutcome { stages }], ..PlanOutcome::default() };
                if let Some(files) = files {
                    add_files(&mut done, files).await;
                }
                done
            }
            Err(error) => {
                tracing::info!(tool = stage.call.name(), %error, "not started");
                let error = CallError::Spawn(error);
                journal.ended(&stage, entry, Ending::Failed(&error));
                PlanOutcome { failure: Some(stage.failure(error)), ..PlanOutcome::default() }
            }
        }
    }

    /// Runs a tool that this program implements itself.
    async fn run_native(
        &self,
        stage: &Stage<'_>,
        session: Session<'_>,
        stop: impl Future<Output = Stop>,
    ) -> Result<Outcome, SpawnError> {
        let name = &stage.call.invocation.argv[0];
        let native = self.natives.get(name).ok_or_else(|| SpawnError::NotFound(name.clone()))?;
        let call = async { native.call(&stage.call.bound).await };
        let invocation = &stage.call.invocation;
        Ok(self.runner.run_native(invocation, (call, native.takes_slot()), session.watch, stop).await)
    }
}

/// Returns the masks of the secrets of all programs of a line.
fn masks_of(plan: &Plan<'_>) -> Masks {
    let open = plan.open.iter().map(|open| open.tool.cli());
    let clis = plan.calls().map(|call| call.tool.cli()).chain(open);
    Runner::masks_of(clis.flat_map(|cli| command_line::secrets(cli, &exec::variable)))
}

/// Makes the directory for the result files of a call by name; `None` if its tool has none.
fn result_files(plan: &Plan<'_>) -> Result<Option<ResultFiles>, SpawnError> {
    // The commands of a line have no result files.
    let Some(call) = plan.calls().next() else { return Ok(None) };
    ResultFiles::for_tool(call.tool).map_err(SpawnError::Files)
}

/// Adds the content of the result files to a call whose program succeeded.
async fn add_files(done: &mut PlanOutcome, files: ResultFiles) {
    let stages = done.steps.iter_mut().flat_map(|step| &mut step.stages);
    let Some(outcome) = stages.map(|stage| &mut stage.outcome).find(|outcome| outcome.succeeded()) else { return };
    let masks = outcome.masks.clone();
    outcome.files = tokio::task::spawn_blocking(move || files.read(&masks)).await.unwrap_or_default();
}

/// Adds the meaning of the exit code to what a program did, and what a cage denied.
pub(in crate::call) fn explained(stage: &Stage<'_>, outcome: Outcome) -> Outcome {
    let answer = match outcome.end {
        End::Exited(status) => stage.call.tool.exit_codes().find(|(code, _)| i32::from(*code) == status),
        End::Signaled(_) | End::TimedOut(_) | End::Stopped(_) => None,
    };
    let left_out = Some(&stage.call.left_out).filter(|names| !names.is_empty());
    let left_out = left_out.map(|names| Kept::LeftOut(names.clone()));
    let protected = outcome.protected.into_iter().chain(left_out).collect();
    let outcome = Outcome { answer: answer.map(|(_, meaning)| meaning.into()), protected, ..outcome };
    let prefetch = stage.call.tool.needs().and_then(|needs| needs.prefetch);
    denial::explained(&stage.call.invocation, prefetch.as_deref(), outcome, &exec::could_write)
}
