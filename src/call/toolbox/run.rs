//! Runs plans: asks the user, waits for space and a slot, and runs the programs of each step at once.

use std::future::Future;
use std::io;
use std::time::{Duration, Instant};

use climax_catalog::ResolvedTool;
use futures_util::FutureExt as _;
use futures_util::future::Shared;
use serde_json::{Map, Value};
use tokio::sync::OwnedSemaphorePermit;

use super::Toolbox;
use super::journal::Journal;
use super::planning::Additions;
use crate::call::approval::Approver;
use crate::call::denial;
use crate::call::line::{Condition, Stderr, Stdout};
use crate::call::native::Native;
use crate::call::outcome::{CallError, CallResult, Ending, Permission};
use crate::call::plan::{Plan, Stage, Step};
use crate::call::plan_outcome::{PlanFailure, PlanOutcome, PlanResult, RawStreams, StepOutcome};
use crate::call::request::{Request, Session};
use crate::call::space::claimed_bytes;
use crate::call::user_input::{approve, fill_in_forms};
use crate::exec::{
    self, End, ErrorSink, Invocation, Outcome, PipelineEnds, PipelineStage, ResultFiles, Sink, SpawnError, StageError,
    Stop,
};

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
        stop: impl Future<Output = Stop>,
    ) -> PlanResult<A::Question> {
        let mut journal = Journal::new(self, request, session);
        let mut plan = match self.plan(request, session) {
            Ok(plan) => plan,
            Err(failure) => return journal.refused(*failure).into(),
        };
        if let Err(failure) = journal.number(&plan) {
            return failure.into();
        }

        let stop = stop.shared();
        let prepared = self.prepare(&mut plan, request, session, &mut journal, approver, stop.clone()).await;
        let resources = match prepared {
            Ok(resources) => resources,
            Err(result) => return journal.ended_early(&plan, result),
        };

        let mut done = self.run_steps(plan.steps, session, raw, journal, stop).await;
        if let Some(files) = resources.files {
            add_files(&mut done, files).await;
        }
        PlanResult::Done(done)
    }

    /// Calls a tool by its name: [`Toolbox::run`] for a request of one call.
    pub async fn call<A: Approver>(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        session: Session<'_>,
        approver: &A,
        stop: impl Future<Output = Stop>,
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
        journal.permission = approve(plan, approver, stop.clone()).await?;

        let not_started = |why| CallResult::Ran(Outcome::not_started(why));
        self.claim_space(plan, session, stop.clone()).await.map_err(not_started)?;
        let slot = if plan.stages().any(|stage| self.takes_slot(stage.call.tool)) {
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
        let bytes = plan.stages().map(|stage| claimed_bytes(stage.call.tool, self.runner.limits())).max();
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

    /// Runs the steps of a plan, each by the exit status of the one before, until one is stopped or cannot start.
    async fn run_steps<S: Future<Output = Stop>>(
        &self,
        steps: Vec<Step<'_>>,
        session: Session<'_>,
        mut raw: Option<RawStreams>,
        mut journal: Journal<'_>,
        stop: Shared<S>,
    ) -> PlanOutcome {
        let mut done = PlanOutcome::default();
        let mut status = 0;
        for Step { condition, mut stages } in steps {
            if !is_due(condition, status) {
                continue;
            }

            let ran = self.run_programs(&mut stages, session, raw.as_mut(), &journal, stop.clone()).await;
            let ended = match ran {
                Ok(outcomes) => step_outcome(&stages, outcomes, &journal),
                Err(error) => {
                    done.failure = Some(failure(&stages, error, &journal));
                    break;
                }
            };

            status = ended.status();
            let is_over = ended.is_stopped();
            done.steps.push(ended);
            if is_over {
                break;
            }
            journal.next_step();
        }
        done
    }

    /// Runs the programs of one step at once, or its native tool. While they run, the janitor has their audit lines.
    async fn run_programs(
        &self,
        stages: &mut [Stage<'_>],
        session: Session<'_>,
        raw: Option<&mut RawStreams>,
        journal: &Journal<'_>,
        stop: impl Future<Output = Stop>,
    ) -> Result<Vec<(Outcome, Duration)>, StageError> {
        let _unfinished: Vec<_> = stages.iter().map(|stage| journal.unfinished(stage)).collect();
        if let (Some(watch), Some(last)) = (session.watch.filter(|_| journal.is_line()), stages.last()) {
            watch.name_stage(&last.text);
        }

        for stage in &*stages {
            tracing::info!(tool = stage.call.name(), program = stage.call.invocation.argv[0], "running");
        }
        let ran = match stages {
            [stage] if stage.call.tool.is_native() => {
                let outcome = self.run_native(stage, session, stop).await;
                outcome.map(|outcome| vec![outcome]).map_err(|error| StageError { stage: 0, error })
            }
            _ => {
                let (programs, ends) = pipeline(stages, raw)?;
                self.runner.run_pipeline(programs, ends, session.watch, stop).await
            }
        };
        match &ran {
            Ok(outcomes) => {
                for (stage, (outcome, _)) in stages.iter().zip(outcomes) {
                    tracing::info!(tool = stage.call.name(), end = ?outcome.end, "ended");
                }
            }
            Err(StageError { stage, error }) => {
                tracing::info!(tool = stages[*stage].call.name(), %error, "not started");
            }
        }
        ran
    }

    /// Runs a tool that this program implements itself.
    async fn run_native(
        &self,
        stage: &Stage<'_>,
        session: Session<'_>,
        stop: impl Future<Output = Stop>,
    ) -> Result<(Outcome, Duration), SpawnError> {
        let name = &stage.call.invocation.argv[0];
        let native = self.natives.get(name).ok_or_else(|| SpawnError::NotFound(name.clone()))?;
        let start = Instant::now();
        let call = async { native.call(&stage.call.bound).await };
        let invocation = &stage.call.invocation;
        let outcome = self.runner.run_native(invocation, (call, native.takes_slot()), session.watch, stop).await;
        Ok((outcome, start.elapsed()))
    }
}

/// Whether a step runs after one with this exit status.
fn is_due(condition: Condition, status: i32) -> bool {
    match condition {
        Condition::Always => true,
        Condition::Success => status == 0,
        Condition::Failure => status != 0,
    }
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

/// Returns what the programs of a step did, and writes their audit lines.
fn step_outcome(stages: &[Stage<'_>], outcomes: Vec<(Outcome, Duration)>, journal: &Journal<'_>) -> StepOutcome {
    let ended = stages.iter().zip(outcomes).map(|(stage, (outcome, duration))| {
        let outcome = with_answer(stage.call.tool, outcome);
        let outcome = denial::explained(&stage.call.invocation, outcome, &exec::could_write);
        journal.ended(stage, Ending::Ran(&outcome));
        stage.outcome(outcome, duration)
    });
    StepOutcome { stages: ended.collect() }
}

/// Returns the failure of a step of which a program could not be started, and writes the audit lines of all its programs.
fn failure(
    stages: &[Stage<'_>],
    StageError { stage: failed, error }: StageError,
    journal: &Journal<'_>,
) -> PlanFailure {
    let error = CallError::Spawn(error);
    let not_started = Outcome::not_started(Stop::Cancelled);
    for (at, stage) in stages.iter().enumerate() {
        let ending = if at == failed { Ending::Failed(&error) } else { Ending::Ran(&not_started) };
        journal.ended(stage, ending);
    }
    stages[failed].failure(error)
}

/// Adds the meaning of the exit code, if the tool lists it as an answer.
fn with_answer(tool: ResolvedTool<'_>, outcome: Outcome) -> Outcome {
    let End::Exited(status) = outcome.end else { return outcome };
    let answer = tool.exit_codes().find(|(code, _)| i32::from(*code) == status);
    Outcome { answer: answer.map(|(_, meaning)| meaning.into()), ..outcome }
}

/// Returns the programs of a step with their streams. The text of a standard input, which can be long, is moved there.
fn pipeline(
    stages: &mut [Stage<'_>],
    raw: Option<&mut RawStreams>,
) -> Result<(Vec<PipelineStage>, PipelineEnds), StageError> {
    let mut programs = Vec::with_capacity(stages.len());
    for (at, stage) in stages.iter_mut().enumerate() {
        let program = program(stage, raw.as_deref());
        programs.push(program.map_err(|error| not_joined(at, stage, error))?);
    }

    let Some(raw) = raw else { return Ok((programs, PipelineEnds::default())) };
    let output = raw.output.try_clone().map_err(|error| not_joined(0, &stages[0], error))?;
    Ok((programs, PipelineEnds { input: raw.input.take(), output: Sink::Descriptor(output) }))
}

fn program(stage: &mut Stage<'_>, raw: Option<&RawStreams>) -> io::Result<PipelineStage> {
    let stdin = stage.call.invocation.stdin.take();
    let errors = match (stage.streams.stderr, raw) {
        (Stderr::Errors, None) => ErrorSink::Captured,
        (Stderr::Errors, Some(raw)) => ErrorSink::Descriptor(raw.errors.try_clone()?),
        (Stderr::Output, _) => ErrorSink::Output,
        (Stderr::Null, _) => ErrorSink::Null,
    };
    let has_output = stage.streams.stdout == Stdout::Output;
    let invocation = Invocation { stdin, ..stage.call.invocation.clone() };
    Ok(PipelineStage { invocation, has_output, errors })
}

fn not_joined(at: usize, stage: &Stage<'_>, error: io::Error) -> StageError {
    StageError { stage: at, error: SpawnError::System(stage.call.invocation.argv[0].clone(), error) }
}
