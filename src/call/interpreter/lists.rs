//! Lists and pipelines.

use std::sync::Arc;
use std::time::Instant;

use climax_shell::{Command, Joint, List, Pipeline, Times, Value};
use futures_util::StreamExt as _;
use futures_util::future::{Future, FutureExt as _};
use futures_util::stream::FuturesUnordered;

use super::record::Record;
use super::shell::{Flow, Shell};
use super::streams::{Output, Source, Streams};
use super::{Halt, Interpreter, Ran, Running, Text, failure, times};
use crate::call::approval::Approver;
use crate::call::plan_outcome::{StepOutcome, Tested};
use crate::exec::{self, Stop, pipe_between};

impl<A, S> Interpreter<'_, '_, A, S>
where
    A: Approver,
    S: Future<Output = Stop> + Send,
{
    /// Runs commands one after the other.
    pub(super) fn list<'f>(
        &'f self,
        shell: &'f mut Shell,
        text: Text<'f>,
        list: &'f List,
        streams: &'f Streams,
        record: &'f mut Record,
    ) -> Running<'f, Flow> {
        async move {
            for chain in &list.items {
                if chain.background.is_some() {
                    self.start(shell, text, chain, streams)?;
                    continue;
                }
                let tested = shell.tested;
                let count = chain.rest.len();
                shell.tested = tested.max(tested_by(&chain.rest));
                let mut flow = self.pipeline(shell, text, &chain.first, streams, record).await?;
                let mut is_last = count == 0;
                let mut ending = &chain.first;
                for (at, (joint, pipeline)) in chain.rest.iter().enumerate() {
                    if flow != Flow::Next {
                        break;
                    }
                    if (*joint == Joint::And) == (shell.status() == 0) {
                        is_last = at + 1 == count;
                        ending = pipeline;
                        shell.tested = tested.max(tested_by(&chain.rest[at + 1..]));
                        flow = self.pipeline(shell, text, pipeline, streams, record).await?;
                    }
                }
                shell.tested = tested;

                if flow != Flow::Next {
                    return Ok(flow);
                }
                // A command that fails behind the last `&&` ends the line, one before it does not.
                let is_failure = shell.status() != 0 && is_last && tested == Tested::No && may_end(ending);
                if is_failure && shell.state.options.ends_on_failure {
                    return Ok(Flow::Exit);
                }
            }
            Ok(Flow::Next)
        }
        .boxed()
    }

    /// Runs the commands of a pipeline at once.
    async fn pipeline(
        &self,
        shell: &mut Shell,
        text: Text<'_>,
        pipeline: &Pipeline,
        streams: &Streams,
        record: &mut Record,
    ) -> Ran<Flow> {
        let timed = pipeline.times.map(|times| (times, Instant::now(), exec::used_by_children()));
        let tested = shell.tested;
        if pipeline.is_negated {
            shell.tested = Tested::Answers;
        }
        let flow = if let [command] = pipeline.commands.as_slice() {
            let flow = self.command(shell, text, command, streams.clone(), false, record).await?;
            if flow == Flow::Next && !keeps_statuses(command) {
                shell.state.pipe_statuses = vec![shell.status()];
            }
            flow
        } else {
            self.joined(shell, text, &pipeline.commands, streams, record).await?;
            Flow::Next
        };
        shell.tested = tested;

        if pipeline.is_negated && flow != Flow::Exit {
            shell.set_status(i32::from(shell.status() == 0));
        }
        if let Some((times, start, before)) = timed {
            let used = exec::used_by_children();
            let taken =
                [start.elapsed(), used.user.saturating_sub(before.user), used.system.saturating_sub(before.system)];
            let format = match shell.state.variables.get("TIMEFORMAT").map(|variable| &variable.value) {
                Some(Value::Known(format)) if times == Times::Minutes => Some(format.as_str()),
                _ => None,
            };
            let told = format.map_or_else(|| times::told(times, taken), |format| times::formatted(format, taken));
            self.print(&streams.errors, told.into_bytes(), ("time", "time", 0), record).await;
        }
        Ok(flow)
    }

    /// Runs commands that pipes of the kernel join, each in a subshell.
    async fn joined(
        &self,
        shell: &mut Shell,
        text: Text<'_>,
        commands: &[Command],
        streams: &Streams,
        record: &mut Record,
    ) -> Ran<()> {
        let mut input = streams.input.clone();
        let mut runs = FuturesUnordered::new();
        for (at, command) in commands.iter().enumerate() {
            let mut own = Streams { input: std::mem::take(&mut input), ..streams.clone() };
            if at + 1 < commands.len() {
                let (read, write) = pipe_between()
                    .map_err(|error| failure(text, command.range.clone(), error.to_string(), "try again"))?;
                input = Source::File(Arc::new(read));
                own.output = Output::File(Arc::new(write));
            }
            let mut shell = Shell { loops: 0, ..shell.clone() };
            runs.push(async move {
                let mut record = Record::default();
                let ran = self.command(&mut shell, text, command, own, at > 0, &mut record).await;
                (at, shell.status(), record, ran)
            });
        }
        drop(input);

        let mut done: Vec<(usize, i32, Record)> = Vec::with_capacity(runs.len());
        let mut ended = None;
        while let Some((at, status, record, ran)) = runs.next().await {
            match ran {
                Ok(_) => {}
                // The others are killed, as if they had not been started.
                Err(Halt::Failed(failure)) => return Err(Halt::Failed(failure)),
                // The others end by the same, and say so.
                Err(Halt::Ended(interruption)) => ended = Some(interruption),
            }
            done.push((at, status, record));
        }
        done.sort_by_key(|(at, ..)| *at);

        let statuses: Vec<i32> = done.iter().map(|(_, status, _)| *status).collect();
        let last_failure = statuses.iter().rev().copied().find(|status| *status != 0);
        let last = statuses.last().copied().unwrap_or_default();
        let status = if shell.state.options.fails_with_pipes { last_failure.unwrap_or(0) } else { last };
        shell.set_status(status);
        shell.state.pipe_statuses = statuses;
        self.add_joined(done.into_iter().map(|(.., record)| record).collect(), record);
        ended.map_or(Ok(()), |interruption| Err(Halt::Ended(interruption)))
    }

    /// Adds what the commands of a pipeline did: those before the last one with its first step, so that the result of the
    /// last is the result.
    fn add_joined(&self, mut records: Vec<Record>, record: &mut Record) {
        let last = records.pop().unwrap_or_default();
        let mut stages: Vec<_> =
            records.into_iter().flat_map(|record| record.steps).flat_map(|step| step.stages).collect();
        let mut steps = last.steps.into_iter();
        if let Some(first) = steps.next() {
            stages.extend(first.stages);
        }
        if !stages.is_empty() {
            record.push(StepOutcome { stages }, self.most_bytes);
        }
        for step in steps {
            record.push(step, self.most_bytes);
        }
    }
}

/// Returns what looks at a failure among the pipelines behind a command.
fn tested_by(rest: &[(Joint, Pipeline)]) -> Tested {
    match rest {
        [] => Tested::No,
        rest if rest.iter().any(|(joint, _)| *joint == Joint::Or) => Tested::Answers,
        _ => Tested::Skips,
    }
}

/// Whether the failure of a pipeline may end the line under `set -e`. That of one with `!` does not, and that of a compound
/// command has ended it within, unless it was looked at there.
fn may_end(pipeline: &Pipeline) -> bool {
    !pipeline.is_negated && !matches!(pipeline.commands.as_slice(), [only] if keeps_statuses(only))
}

/// Whether a command is a compound one, which keeps the statuses of the pipelines in it.
fn keeps_statuses(command: &Command) -> bool {
    use climax_shell::Body;

    !matches!(command.body, Body::Simple(_) | Body::Subshell(_) | Body::Condition(_) | Body::Arithmetic(_))
}
