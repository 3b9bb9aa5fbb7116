//! Programs of a line: each is read, planned, checked and asked about as a call, and then runs.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use climax_catalog::near_misses;
use climax_shell::{Field, Origin};
use futures_util::future::Future;

use super::expansion::absolute;
use super::record::{Record, placed};
use super::shell::Shell;
use super::simple::{Due, settable};
use super::streams::{Source, Streams};
use super::{Halt, Interpreter, Interruption, Ran, failure};
use crate::call::approval::Approver;
use crate::call::line::{CommandInput, CommandKey, ExpandedCommand, read_fed};
use crate::call::outcome::{CallError, CallResult, Ending, shell_status};
use crate::call::plan::{Plan, Stage};
use crate::call::plan_outcome::{PlanFailure, StageOutcome, StepOutcome};
use crate::call::toolbox::{Entry, LineStage, Toolbox, explained};
use crate::call::user_input::approve;
use crate::exec::{self, End, Invocation, SpawnError, Stop};

/// How long a program in the background may take once its line goes on as a job, which the caller ends.
const JOB_TIME: Duration = Duration::from_hours(30 * 24);

impl<'a, A, S> Interpreter<'_, 'a, A, S>
where
    A: Approver,
    S: Future<Output = Stop> + Send,
{
    /// Runs a program.
    pub(super) async fn program(
        &self,
        shell: &mut Shell,
        due: Due<'_>,
        streams: Streams,
        record: &mut Record,
    ) -> Ran<()> {
        self.count_program(due.text)?;
        let errors = streams.errors.clone();
        let staged = self.stage(shell, due, streams);
        if let Err(Halt::Failed(failure)) = &staged
            && let Some(status) = failure.error.lacking_status()
        {
            if status != 0 {
                self.say_lacking(due, &errors, status, record).await;
            }
            shell.set_status(status);
            return Ok(());
        }
        let (mut stage, streams) = staged?;
        self.ask(shell, &mut stage).await?;

        let status = self.run_stage(shell, stage, streams, record).await?;
        shell.set_status(status);
        Ok(())
    }

    /// Plans a program, unless it was planned before.
    fn stage(&self, shell: &Shell, due: Due<'_>, mut streams: Streams) -> Ran<(Stage<'a>, Streams)> {
        let [fields, written] = [due.fields, due.written].map(|words| in_environment(shell, due, words));
        let started = Due { fields: &fields, written: &written, ..due };
        let key = CommandKey {
            words: fields.iter().map(|field| field.text.clone()).collect(),
            variables: variables_of_program(shell, due),
            directory: shell.directory.clone(),
            feed: due.feed(&streams.input),
        };
        let has_data = shell.has_data && due.fields.iter().any(|field| field.origin != Origin::Literal);
        let known = self.planned.get(&key).filter(|stage| stage.is_approved && !has_data);

        // The line may have made the directory since, and the project of its cage with it.
        let stage = match known.filter(|stage| !stage.call.lacks_project()) {
            Some(stage) => stage.clone(),
            None => self.newly_planned(shell, started, &key, known)?,
        };
        if !stage.reads_input {
            streams.input = Source::Nothing;
        }
        Ok((stage, streams))
    }

    /// Plans a program. It is approved if `known` was, the plan of before, and the command line is still the same.
    fn newly_planned(
        &self,
        shell: &Shell,
        due: Due<'_>,
        key: &CommandKey,
        known: Option<&Stage<'a>>,
    ) -> Ran<Stage<'a>> {
        for (name, _) in due.variables {
            settable(due.text, due.range, name)?;
        }
        let expanded = ExpandedCommand {
            line: due.text.0,
            range: due.range,
            places: due.places,
            written: due.written,
            fields: due.fields,
            variables: &key.variables,
            started: self.background.started.load(Ordering::Relaxed),
        };
        let text = due.written_text().to_owned();
        let from_line = |field: &Field| matches!(field.origin, Origin::Literal | Origin::Path);
        let has_values = shell.has_data && !due.fields.iter().all(from_line);

        let planned = self.toolbox.with_line_context(key.feed.input(), |context| {
            let input = CommandInput { feed: &key.feed, is_own: due.is_own };
            let read = read_fed(&self.toolbox.index, expanded, input, context).map_err(|error| {
                let error = CallError::Unread(Box::new(error));
                Box::new(PlanFailure { tool: None, text: text.clone(), error })
            })?;
            let stage = LineStage {
                carries_data: has_values || key.feed.is_data(),
                reading: read.reading,
                reads_input: read.reads_input,
                feed: &read.feed,
                text: &text,
                directory: key.directory.as_deref(),
                variables: &read.variables,
                bounds: self.bounds,
            };
            self.toolbox.plan_stage(0, stage, self.session)
        });
        let mut stage = planned.map_err(Halt::Failed)?;
        if let Some(known) = known.filter(|known| known.call.invocation.argv == stage.call.invocation.argv) {
            stage.is_approved = true;
            stage.permission.clone_from(&known.permission);
        }
        Ok(stage)
    }

    /// Asks the user about a command whose words were not known before.
    pub(super) async fn ask(&self, shell: &Shell, stage: &mut Stage<'a>) -> Ran<()> {
        if stage.is_approved {
            return Ok(());
        }
        self.toolbox.settle_stage(stage, &self.runner).await;
        let plan = Plan::of_stage(stage.clone(), &self.toolbox.policy, &self.runner);
        let answer = approve(&plan, self.approver, self.stop_of(shell));
        let refused = match self.clock.stand_still(answer).await {
            Ok(permission) => {
                stage.permission = Some(permission);
                return Ok(());
            }
            Err(CallResult::Failed(error)) => stage.failure(error),
            Err(CallResult::Ran(outcome)) => {
                return Err(Halt::Ended(match outcome.end {
                    End::Stopped(why) => Interruption::Stopped(why),
                    _ => Interruption::TimedOut,
                }));
            }
            Err(CallResult::InputRequired(_)) => stage.failure(CallError::LateQuestion),
        };
        self.refuse(stage, &refused.error);
        Err(Halt::Failed(Box::new(refused)))
    }

    /// Writes the audit line of a command that does not run.
    pub(super) fn refuse(&self, stage: &Stage<'a>, error: &CallError) {
        if let Ok(entry) = self.journal.entry(1) {
            self.journal.ended(stage, entry, Ending::Failed(error));
        }
    }

    /// Runs a planned program with these streams, and returns its exit status.
    async fn run_stage(&self, shell: &Shell, stage: Stage<'a>, streams: Streams, record: &mut Record) -> Ran<i32> {
        let left = self.time_left(shell)?;
        let entry = self.journal.entry(1).map_err(|error| Halt::Failed(Box::new(stage.failure(error))))?;
        let prints_made = stage.call.prints_made();
        let joint = if prints_made { streams.captured().joint() } else { streams.joint() };
        let broken = |error| SpawnError::System(stage.call.invocation.argv[0].clone(), error);
        let joint = joint.map_err(|error| Halt::Failed(Box::new(stage.failure(broken(error).into()))))?;
        let mut invocation = self.invocation(shell, &stage, &streams.input);
        let is_cut = left < invocation.timeout;
        invocation.timeout = invocation.timeout.min(left);

        let unfinished = self.journal.unfinished(&stage, entry);
        if let Some(watch) = self.session.watch {
            watch.name_stage(&stage.text);
        }
        tracing::info!(tool = stage.call.name(), program = invocation.argv[0], "running");
        let missing = Toolbox::missing_before(&stage.call);
        let start = Instant::now();
        let running = (self.session.watch, &self.masks);
        let ran = self.toolbox.runner.run_joined_to(invocation, joint, running, self.stop_of(shell)).await;
        let duration = start.elapsed();
        drop(unfinished);

        let mut outcome = match ran {
            Ok(outcome) => outcome,
            Err(error) => return self.not_started(&stage, entry, error, &streams, record).await,
        };
        if is_cut && let End::TimedOut(time) = &mut outcome.end {
            *time = self.clock.limit();
        }
        tracing::info!(tool = stage.call.name(), end = ?outcome.end, "ended");
        self.toolbox.note_made(&stage.call, &missing, &outcome);
        let outcome = explained(&stage, outcome);
        self.journal.ended(&stage, entry, Ending::Ran(&outcome));
        if let super::Output::File(file) = &streams.output
            && prints_made
        {
            // A reader that has ended wants no more of it.
            let _ = super::streams::write_all(file, outcome.stdout.text().as_bytes().to_vec()).await;
        }

        let end = outcome.end;
        let outcome = placed(outcome, &streams.output, &streams.errors);
        let outcome = StageOutcome { tested: shell.tested, ..stage.outcome(outcome, duration) };
        record.push(StepOutcome { stages: vec![outcome] }, self.most_bytes);
        match end {
            End::Stopped(why) => Err(Halt::Ended(Interruption::Stopped(why))),
            End::TimedOut(_) => Err(Halt::Ended(Interruption::TimedOut)),
            _ => Ok(shell_status(end)),
        }
    }

    /// Returns how a planned program is started, with the input, variables and time that the line gives it.
    fn invocation(&self, shell: &Shell, stage: &Stage<'a>, input: &Source) -> Invocation {
        let mut invocation = stage.call.invocation.clone();
        invocation.stdin = match input {
            Source::Text(text) if stage.reads_input => invocation.stdin.or_else(|| Some(text.clone())),
            _ => None,
        };
        // A path tells nothing where the programs run elsewhere.
        if let Some(before) = shell.previous.as_ref().filter(|_| self.toolbox.opens_files()) {
            invocation.env.push(("OLDPWD".to_owned(), absolute(before.0.as_deref())));
        }
        if self.bounds.timeout.is_none() {
            invocation.timeout = invocation.timeout.max(if self.is_of_job(shell) { JOB_TIME } else { self.longest });
        }
        invocation
    }

    /// Says that a command lacks an operand, as its program would.
    async fn say_lacking(&self, due: Due<'_>, errors: &super::Output, status: i32, record: &mut Record) {
        let program = due.fields.first().map_or("", |field| field.text.as_str());
        let message = format!("climax: {program}: missing operand: an expansion in this command gave no words\n");
        self.print(errors, message.into_bytes(), (program, due.written_text(), status), record).await;
    }

    /// Says that a program does not exist or cannot be executed, and returns the status that a shell gives it.
    ///
    /// # Errors
    /// The start failed for another reason, which ends the line.
    async fn not_started(
        &self,
        stage: &Stage<'a>,
        entry: Entry,
        error: SpawnError,
        streams: &Streams,
        record: &mut Record,
    ) -> Ran<i32> {
        let Some(status) = error.status_of_command().map(i32::from) else {
            let error = CallError::Spawn(error);
            self.journal.ended(stage, entry, Ending::Failed(&error));
            return Err(Halt::Failed(Box::new(stage.failure(error))));
        };
        let message = match &error {
            SpawnError::NotFound(program) => self.not_found_message(program),
            error => format!("climax: {error}\n"),
        };
        self.journal.ended(stage, entry, Ending::Failed(&CallError::Spawn(error)));
        self.print(&streams.errors, message.into_bytes(), (stage.call.name(), &stage.text, status), record).await;
        Ok(status)
    }

    /// Returns the message for a program that does not exist, with the nearest name.
    fn not_found_message(&self, program: &str) -> String {
        if program.contains('/') {
            return format!("climax: {program}: no such file\n");
        }
        let near = near_misses(program, self.toolbox.index.programs(), 1);
        // A program that is described need not be installed.
        let near = near.first().filter(|near| **near != program);
        let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        format!("climax: {program}: command not found{hint}\n")
    }

    /// Reads the output of a program as bytes, such as the paths that `find` prints.
    pub(super) async fn captured(
        &self,
        shell: &mut Shell,
        due: Due<'_>,
        streams: Streams,
        record: &mut Record,
    ) -> Ran<Vec<u8>> {
        let broken = |error: std::io::Error| failure(due.text, due.range.clone(), error.to_string(), "try again");
        let (read, write) = exec::pipe_between().map_err(broken)?;
        let streams = Streams { output: super::Output::File(std::sync::Arc::new(write)), ..streams };
        let output = super::streams::blocking(move || exec::read_to_end(read, super::MAX_INPUT_BYTES));
        let (ran, output) = futures_util::future::join(self.program(shell, due, streams, record), output).await;
        ran?;
        output.map_err(broken)
    }

    /// Masks what a builtin shows in the result, and reports it.
    pub(super) fn shown(&self, bytes: Vec<u8>) -> Vec<u8> {
        let bytes = self.masks.apply(bytes);
        if let Some(watch) = self.session.watch {
            watch.printed(&bytes);
        }
        bytes
    }

    /// Prints for a builtin, which ends with this status. Returns whether somebody reads it.
    pub(super) async fn print(
        &self,
        output: &super::Output,
        bytes: Vec<u8>,
        (name, text, status): (&str, &str, i32),
        record: &mut Record,
    ) -> bool {
        match output {
            super::Output::Nothing => true,
            super::Output::File(file) => super::streams::write_all(file, bytes).await.is_ok(),
            super::Output::Result(stream) => {
                let stage: StageOutcome =
                    super::record::builtin_stage(name, text, status, vec![(*stream, self.shown(bytes))]);
                record.push(StepOutcome { stages: vec![stage] }, self.most_bytes);
                true
            }
        }
    }
}

/// Returns the words of a command as they start it: with the path of a program of the environment of Python that the line
/// has activated.
fn in_environment(shell: &Shell, due: Due<'_>, words: &[Field]) -> Vec<Field> {
    let mut words = words.to_vec();
    let program = due.fields.first().and_then(|field| shell.program_of_environment(&field.text));
    if let (Some(program), Some(first)) = (program, words.first_mut()) {
        first.text = program.display().to_string();
    }
    words
}

/// Returns the variables that a program gets: those that the line has exported, then its own.
fn variables_of_program(shell: &Shell, due: Due<'_>) -> Vec<(String, String)> {
    let is_own = |name: &str| due.variables.iter().any(|(own, _)| own == name);
    let exported = shell.state.exported().filter(|(name, _)| !is_own(name));
    let exported = exported.map(|(name, value)| (name.to_owned(), value.to_owned()));
    exported.chain(due.variables.iter().cloned()).collect()
}
