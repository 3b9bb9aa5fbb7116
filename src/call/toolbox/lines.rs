//! Runs command lines: each command as a call, the commands of a pipeline at once.

use std::path::Path;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::Shared;
use serde_json::Map;

use super::checked::{CheckedCall, Surroundings};
use super::{Toolbox, with_answer};
use crate::call::approval::{Approver, PendingCall};
use crate::call::arguments::Input;
use crate::call::audit::Record;
use crate::call::denial;
use crate::call::environment;
use crate::call::line::{
    Condition, LineContext, ReadLine, ReadStage, Redirections, Stderr, Stdout, UnreadLine, read_line,
};
use crate::call::line_outcome::{
    LineFailure, LineOutcome, LineRequest, LineResult, LineVerdict, RawStreams, StageOutcome, StepOutcome,
};
use crate::call::outcome::{CallError, CallResult, Permission};
use crate::call::request::CallRequest;
use crate::call::user_input::approve;
use crate::exec::{self, End, ErrorSink, Outcome, PipelineEnds, PipelineStage, Sink, SpawnError, StageError, Stop};

/// A command of a line that was checked.
struct Planned<'a> {
    call: CheckedCall<'a>,
    streams: Redirections,
    text: String,
    /// The number of its call in the audit file.
    number: u64,
}

type Failed = Box<LineFailure>;

/// Makes the failure of a command.
fn failure_of(stage: &Planned<'_>, error: CallError) -> LineFailure {
    LineFailure { tool: Some(stage.call.tool.name().to_owned()), text: stage.text.clone(), error }
}

impl Toolbox {
    /// Reads a command line and runs its commands. When `stop` completes, all of it ends.
    ///
    /// Every command is read, checked and approved before the first program starts. Each has an audit line of its own.
    pub async fn run_line<A: Approver>(
        &self,
        request: LineRequest<'_>,
        raw: Option<RawStreams>,
        approver: &A,
        stop: impl Future<Output = Stop>,
    ) -> LineResult<A::Question> {
        let failed = |failure: LineFailure| LineResult::Done(LineOutcome { steps: Vec::new(), failure: Some(failure) });
        let has_input = raw.as_ref().is_some_and(|raw| raw.input.is_some());
        let steps = match self.planned(request, has_input) {
            Ok(steps) => steps,
            Err(failure) => return failed(self.audited_refusal(request, *failure)),
        };
        let mut stop = Box::pin(stop);
        let stages: Vec<&Planned<'_>> = steps.iter().flat_map(|(_, stages)| stages).collect();
        let pending = self.pending(&stages);
        let permission = match approve(&pending, approver, stop.as_mut()).await {
            Ok(permission) => permission,
            Err(result) => {
                for stage in &stages {
                    self.write_line(request, stage, steps_id(&steps), Permission::Awaited, Duration::ZERO, &result);
                }
                let needs_approval = |stage: &&&Planned<'_>| self.pending(&[**stage]).needs_approval();
                let asked = stages.iter().find(needs_approval);
                let (tool, text) =
                    asked.map(|stage| (stage.call.tool.name().to_owned(), stage.text.clone())).unwrap_or_default();
                return match result {
                    CallResult::InputRequired(question) => LineResult::InputRequired(question),
                    CallResult::Failed(error) => failed(LineFailure { tool: Some(tool), text, error }),
                    CallResult::Ran(outcome) => {
                        let stage = StageOutcome { tool, text, outcome, duration: Duration::ZERO };
                        LineResult::Done(LineOutcome {
                            steps: vec![StepOutcome { stages: vec![stage] }],
                            failure: None,
                        })
                    }
                };
            }
        };
        LineResult::Done(self.run_steps(request, raw, steps, permission, stop.shared()).await)
    }

    /// Returns what would become of a line, without running it or asking anybody.
    #[must_use]
    pub fn verdict_on_line(&self, request: LineRequest<'_>) -> LineVerdict {
        match self.planned(request, false) {
            Ok(steps) => {
                let stages: Vec<&Planned<'_>> = steps.iter().flat_map(|(_, stages)| stages).collect();
                if self.pending(&stages).needs_approval() { LineVerdict::NeedsApproval } else { LineVerdict::Permitted }
            }
            Err(failure) => LineVerdict::Refused(failure.error.reasons()),
        }
    }

    /// Returns the commands as calls that may need approval.
    fn pending<'a>(&'a self, stages: &[&'a Planned<'a>]) -> PendingCall<'a> {
        let calls = stages.iter().flat_map(|stage| stage.call.planned()).collect();
        PendingCall { calls, policy: &self.policy, runner: &self.runner }
    }

    /// Reads and checks every command of a line.
    fn planned<'a>(
        &'a self,
        request: LineRequest<'_>,
        has_input: bool,
    ) -> Result<Vec<(Condition, Vec<Planned<'a>>)>, Failed> {
        let unread = |error| {
            let error = CallError::Unread(Box::new(error));
            Box::new(LineFailure { tool: None, text: request.line.to_owned(), error })
        };
        let line = self.read(request, has_input).map_err(unread)?;
        let directories: Vec<&str> =
            request.directory.into_iter().chain(line.directories.iter().map(String::as_str)).collect();
        let directory = (!directories.is_empty()).then(|| {
            directories.iter().fold(std::path::PathBuf::new(), |at, directory| at.join(directory)).display().to_string()
        });
        let mut steps = Vec::with_capacity(line.steps.len());
        let mut is_first = true;
        for step in line.steps {
            let mut stages = Vec::with_capacity(step.stages.len());
            for (at, stage) in step.stages.into_iter().enumerate() {
                let input = match request.stdin {
                    _ if !stage.reads_input => Input::Nothing,
                    Some(text) if is_first && at == 0 => Input::Text(text),
                    _ => Input::Pipe,
                };
                stages.push(self.checked(request, stage, directory.as_deref(), input)?);
                is_first = false;
            }
            steps.push((step.condition, stages));
        }
        Ok(steps)
    }

    /// Reads a line with the served tools.
    fn read(&self, request: LineRequest<'_>, has_input: bool) -> Result<ReadLine<'_>, UnreadLine> {
        let start = Path::new(request.directory.unwrap_or_default());
        let glob = |pattern: &str, directories: &[String]| {
            exec::glob::expand(pattern, &exec::glob::directory_of(directories, start))
        };
        let context =
            |input| LineContext { env: &exec::variable, names_program: &exec::names_program, glob: &glob, input };
        match request.stdin {
            Some(text) => read_line(&self.index, request.line, context(Input::Text(text))),
            None if has_input => read_line(&self.index, request.line, context(Input::Pipe)),
            None => read_line(&self.index, request.line, context(Input::Nothing)),
        }
    }

    /// Checks one command as a call is checked, and plans its command line.
    fn checked<'a>(
        &'a self,
        request: LineRequest<'_>,
        stage: ReadStage<'a>,
        directory: Option<&str>,
        input: Input<'_>,
    ) -> Result<Planned<'a>, Failed> {
        let ReadStage { reading, streams, text, .. } = stage;
        let name = reading.tool.name().to_owned();
        let failed = |error: CallError| Box::new(LineFailure { tool: Some(name.clone()), text: text.clone(), error });
        let surroundings = Surroundings { directory, input, env: request.env, purpose: request.purpose };
        let mut call = self.check_command(reading, &text, surroundings).map_err(failed)?;
        environment::add(&self.policy, &mut call.invocation, &exec::variable).map_err(|error| failed(error.into()))?;
        let number = self.audit.as_ref().map_or(Ok(0), |audit| audit.begin_call());
        let number = number.map_err(|error| failed(CallError::Unaudited(error)))?;
        Ok(Planned { call, streams, text, number })
    }

    /// Runs the pipelines of a line, each by the exit status of the one before.
    async fn run_steps<S: Future<Output = Stop>>(
        &self,
        request: LineRequest<'_>,
        mut raw: Option<RawStreams>,
        steps: Vec<(Condition, Vec<Planned<'_>>)>,
        permission: Permission,
        stop: Shared<S>,
    ) -> LineOutcome {
        let mut done = LineOutcome::default();
        let mut status = 0;
        let line = steps_id(&steps);
        let Ok(_slot) = self.runner.caller_slot(request.caller, stop.clone()).await else { return done };
        for (condition, stages) in steps {
            let is_due = match condition {
                Condition::Always => true,
                Condition::Success => status == 0,
                Condition::Failure => status != 0,
            };
            if !is_due {
                continue;
            }
            match self.run_step(request, raw.as_mut(), stages, (permission, line), stop.clone()).await {
                Ok(ended) => {
                    status = ended.status();
                    let is_over = ended
                        .stages
                        .iter()
                        .any(|stage| matches!(stage.outcome.end, End::TimedOut(_) | End::Stopped(_)));
                    done.steps.push(ended);
                    if is_over {
                        break;
                    }
                }
                Err(failure) => {
                    done.failure = Some(*failure);
                    break;
                }
            }
        }
        done
    }

    /// Runs one pipeline and writes its audit lines.
    async fn run_step<S: Future<Output = Stop>>(
        &self,
        request: LineRequest<'_>,
        raw: Option<&mut RawStreams>,
        stages: Vec<Planned<'_>>,
        (permission, line): (Permission, u64),
        stop: Shared<S>,
    ) -> Result<StepOutcome, Failed> {
        let (programs, ends) = streams(&stages, raw).map_err(|error| {
            let error = SpawnError::System(stages[0].call.invocation.argv[0].clone(), error);
            Box::new(failure_of(&stages[0], error.into()))
        })?;
        let start = Instant::now();
        let guards = self.audit.as_deref().map(|audit| {
            let record =
                |stage: &Planned<'_>| self.line_record(request, stage, line, permission, Duration::ZERO).unfinished();
            stages.iter().map(|stage| self.runner.register_audit_line(audit.path(), &record(stage))).collect::<Vec<_>>()
        });
        if let (Some(watch), Some(last)) = (request.watch, stages.last()) {
            watch.name_stage(&last.text);
        }
        let ran = self.runner.run_pipeline(programs, ends, request.watch, stop).await;
        drop(guards);
        let duration = start.elapsed();
        match ran {
            Ok(outcomes) => {
                let ended = stages.iter().zip(outcomes).map(|(stage, (outcome, duration))| {
                    let answered = with_answer(stage.call.tool, outcome);
                    let told = denial::told(&stage.call.invocation, answered, &exec::could_write);
                    let result = CallResult::<()>::Ran(told);
                    self.write_line(request, stage, line, permission, duration, &result);
                    let CallResult::Ran(outcome) = result else { unreachable!("it was made above") };
                    StageOutcome {
                        tool: stage.call.tool.name().to_owned(),
                        text: stage.text.clone(),
                        outcome,
                        duration,
                    }
                });
                Ok(StepOutcome { stages: ended.collect() })
            }
            Err(StageError { stage: failed, error }) => {
                for (_, stage) in stages.iter().enumerate().filter(|(at, _)| *at != failed) {
                    let result = CallResult::<()>::Ran(Outcome::not_started(Stop::Cancelled));
                    self.write_line(request, stage, line, permission, duration, &result);
                }
                let result = CallResult::<()>::Failed(CallError::Spawn(error));
                self.write_line(request, &stages[failed], line, permission, duration, &result);
                let CallResult::Failed(error) = result else { unreachable!("it was made above") };
                Err(Box::new(failure_of(&stages[failed], error)))
            }
        }
    }

    /// Writes the audit line of a line that was refused before any program started.
    fn audited_refusal(&self, request: LineRequest<'_>, failure: LineFailure) -> LineFailure {
        let Some(audit) = &self.audit else { return failure };
        let number = match audit.begin_call() {
            Ok(number) => number,
            Err(error) => return LineFailure { error: CallError::Unaudited(error), ..failure },
        };
        let LineFailure { tool, text, error } = failure;
        let call = CallRequest {
            tool: tool.as_deref().unwrap_or_default(),
            arguments: &Map::new(),
            watch: None,
            env: request.env,
            caller: request.caller,
            purpose: request.purpose,
            space: None,
        };
        let record = self.record(call, number, Permission::NotNeeded, Duration::ZERO);
        let result = CallResult::<()>::Failed(error);
        if let Err(error) = audit.write(&Record { line: Some(number), ..record }.to_json(&result)) {
            tracing::error!(%error, "the audit line cannot be written; further calls fail until it can");
        }
        let CallResult::Failed(error) = result else { unreachable!("it was made above") };
        LineFailure { tool, text, error }
    }

    /// Writes the audit line of a command, and reports it to the observer.
    fn write_line<Q>(
        &self,
        request: LineRequest<'_>,
        stage: &Planned<'_>,
        line: u64,
        permission: Permission,
        duration: Duration,
        result: &CallResult<Q>,
    ) {
        if let Some(audit) = &self.audit {
            let record = self.line_record(request, stage, line, permission, duration);
            if let Err(error) = audit.write(&record.to_json(result)) {
                tracing::error!(%error, "the audit line cannot be written; further calls fail until it can");
            }
        }
        if let Some(observer) = &self.observer {
            let bytes = match result {
                CallResult::Ran(outcome) => outcome.stdout.total_bytes() + outcome.stderr.total_bytes(),
                CallResult::Failed(_) | CallResult::InputRequired(_) => 0,
            };
            observer.call_ended(stage.call.tool.name(), result.codes().outcome, duration, bytes);
        }
    }

    fn line_record<'a>(
        &'a self,
        request: LineRequest<'a>,
        stage: &'a Planned<'_>,
        line: u64,
        permission: Permission,
        duration: Duration,
    ) -> Record<'a> {
        let call = CallRequest {
            tool: stage.call.tool.name(),
            arguments: &stage.call.arguments,
            watch: None,
            env: request.env,
            caller: request.caller,
            purpose: request.purpose,
            space: None,
        };
        Record { line: Some(line), ..self.record(call, stage.number, permission, duration) }
    }
}

/// The number that the commands of a line share in the audit file: that of the first call.
fn steps_id(steps: &[(Condition, Vec<Planned<'_>>)]) -> u64 {
    steps.iter().flat_map(|(_, stages)| stages).map(|stage| stage.number).next().unwrap_or_default()
}

/// Returns the programs of a pipeline with their streams.
fn streams(
    stages: &[Planned<'_>],
    raw: Option<&mut RawStreams>,
) -> std::io::Result<(Vec<PipelineStage>, PipelineEnds)> {
    let mut ends = PipelineEnds::default();
    let errors = match raw {
        Some(raw) => {
            ends = PipelineEnds { input: raw.input.take(), output: Sink::Descriptor(raw.output.try_clone()?) };
            Some(raw.errors.try_clone()?)
        }
        None => None,
    };
    let program = |stage: &Planned<'_>| {
        let errors = match (stage.streams.stderr, &errors) {
            (Stderr::Errors, None) => ErrorSink::Captured,
            (Stderr::Errors, Some(descriptor)) => ErrorSink::Descriptor(descriptor.try_clone()?),
            (Stderr::Output, _) => ErrorSink::Output,
            (Stderr::Null, _) => ErrorSink::Null,
        };
        let has_output = stage.streams.stdout == Stdout::Output;
        Ok(PipelineStage { invocation: stage.call.invocation.clone(), has_output, errors })
    };
    let programs = stages.iter().map(program).collect::<std::io::Result<Vec<_>>>()?;
    Ok((programs, ends))
}
