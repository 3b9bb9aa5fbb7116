//! Compound commands.

use climax_shell::{Body, Case, Command, Count, For, List, Then, Value, While};
use futures_util::future::{Future, FutureExt as _};

use super::processes::processes_of;
use super::record::Record;
use super::shell::{Flow, Shell};
use super::streams::{Output, Source, Streams};
use super::{Interpreter, Ran, Running, Text};
use crate::call::approval::Approver;
use crate::call::plan_outcome::Tested;
use crate::exec::Stop;

impl<A, S> Interpreter<'_, '_, A, S>
where
    A: Approver,
    S: Future<Output = Stop> + Send,
{
    /// Runs a command with its redirections. `is_own` says whether its input is a pipe of its own.
    pub(super) fn command<'f>(
        &'f self,
        shell: &'f mut Shell,
        text: Text<'f>,
        command: &'f Command,
        streams: Streams,
        is_own: bool,
        record: &'f mut Record,
    ) -> Running<'f, Flow> {
        if processes_of(command).next().is_some() {
            return self.beside_processes(shell, text, command, streams, (is_own, record)).boxed();
        }
        self.command_itself(shell, text, command, streams, is_own, record)
    }

    /// Runs a command whose `<(…)` run already.
    pub(super) fn command_itself<'f>(
        &'f self,
        shell: &'f mut Shell,
        text: Text<'f>,
        command: &'f Command,
        streams: Streams,
        is_own: bool,
        record: &'f mut Record,
    ) -> Running<'f, Flow> {
        async move {
            self.count_command(shell, text).await?;
            if let Body::Simple(simple) = &command.body {
                let before = shell.around.replace(Streams { output: Output::Nothing, ..streams.clone() });
                let was_fed = std::mem::replace(&mut shell.is_around_fed, is_own);
                let flow = self.simple(shell, text, command, simple, streams, is_own, record).await;
                (shell.around, shell.is_around_fed) = (before, was_fed);
                return flow;
            }

            let Some((mut streams, redirects_input)) =
                self.redirected(shell, text, &command.redirections, streams, record).await?
            else {
                shell.set_status(1);
                let ends = shell.state.options.ends_on_failure && shell.tested == Tested::No;
                return Ok(if ends { Flow::Exit } else { Flow::Next });
            };
            let is_file = matches!(streams.input, Source::File(_));
            streams.input = match streams.input.into_file().await {
                Ok(input) => input,
                Err(error) => {
                    return Err(super::failure(text, command.range.clone(), error.to_string(), "try again"));
                }
            };
            let was_fed = shell.is_fed;
            if is_own || redirects_input {
                shell.is_fed = is_file;
            }
            let before = shell.around.replace(Streams { output: Output::Nothing, ..streams.clone() });
            let flow = self.compound(shell, text, command, &streams, record).await;
            (shell.is_fed, shell.around) = (was_fed, before);
            flow
        }
        .boxed()
    }

    async fn compound(
        &self,
        shell: &mut Shell,
        text: Text<'_>,
        command: &Command,
        streams: &Streams,
        record: &mut Record,
    ) -> Ran<Flow> {
        match &command.body {
            Body::Simple(_) => Ok(Flow::Next),
            Body::Subshell(list) => {
                let mut inner = Shell { loops: 0, ..shell.clone() };
                self.list(&mut inner, text, list, streams, record).await?;
                shell.set_status(inner.status());
                Ok(Flow::Next)
            }
            Body::Group(list) => self.list(shell, text, list, streams, record).await,
            Body::If(branches) => {
                for branch in &branches.branches {
                    let flow = self.tested(shell, text, &branch.condition, streams, record).await?;
                    if flow != Flow::Next {
                        return Ok(flow);
                    }
                    if shell.status() == 0 {
                        return self.list(shell, text, &branch.body, streams, record).await;
                    }
                }
                if let Some(list) = &branches.otherwise {
                    return self.list(shell, text, list, streams, record).await;
                }
                shell.set_status(0);
                Ok(Flow::Next)
            }
            Body::For(command) => self.for_loop(shell, text, command, streams, record).await,
            Body::Count(count) => self.count_loop(shell, text, count, streams, record).await,
            Body::While(command) => self.while_loop(shell, text, command, streams, record).await,
            Body::Case(case) => self.case(shell, text, case, streams, record).await,
            Body::Arithmetic(expression) => {
                let value = self.arithmetic(shell, text, expression, record).await?;
                shell.set_status(i32::from(value == 0));
                Ok(Flow::Next)
            }
            Body::Condition(condition) => {
                let status = self.condition(shell, text, condition, record).await?;
                shell.set_status(status);
                Ok(Flow::Next)
            }
        }
    }

    /// Runs the arms of `case` whose patterns match, up to one that ends it.
    async fn case(
        &self,
        shell: &mut Shell,
        text: Text<'_>,
        case: &Case,
        streams: &Streams,
        record: &mut Record,
    ) -> Ran<Flow> {
        let word = self.word(shell, text, &case.word, record).await?.text;
        let (mut status, mut is_next) = (0, false);
        for arm in &case.arms {
            let mut runs = std::mem::take(&mut is_next);
            for pattern in &arm.patterns {
                runs = runs || self.matches(shell, text, pattern, &word, record).await?;
            }
            if !runs {
                continue;
            }
            if arm.body.items.is_empty() {
                status = 0;
            } else {
                let flow = self.list(shell, text, &arm.body, streams, record).await?;
                status = shell.status();
                if flow != Flow::Next {
                    return Ok(flow);
                }
            }
            match arm.then {
                Then::End => break,
                Then::Next => is_next = true,
                Then::Test => {}
            }
        }
        shell.set_status(status);
        Ok(Flow::Next)
    }

    /// Runs commands whose failure is looked at.
    async fn tested(
        &self,
        shell: &mut Shell,
        text: Text<'_>,
        list: &List,
        streams: &Streams,
        record: &mut Record,
    ) -> Ran<Flow> {
        let before = std::mem::replace(&mut shell.tested, Tested::Answers);
        let flow = self.list(shell, text, list, streams, record).await;
        shell.tested = before;
        flow
    }

    async fn for_loop(
        &self,
        shell: &mut Shell,
        text: Text<'_>,
        command: &For,
        streams: &Streams,
        record: &mut Record,
    ) -> Ran<Flow> {
        let values = match &command.words {
            Some(words) => self.fields(shell, text, words, record).await?.into_iter().map(|field| field.text).collect(),
            None => shell.state.positions.clone().unwrap_or_default(),
        };
        if values.is_empty() {
            shell.set_status(0);
        }
        for value in values {
            shell.state.set(&command.name, Value::Known(value));
            let flow = self.turn(shell, text, &command.body, streams, record).await?;
            if let Some(flow) = flow {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    async fn count_loop(
        &self,
        shell: &mut Shell,
        text: Text<'_>,
        count: &Count,
        streams: &Streams,
        record: &mut Record,
    ) -> Ran<Flow> {
        if let Some(start) = &count.start {
            self.arithmetic(shell, text, start, record).await?;
        }
        let mut has_run = false;
        loop {
            if let Some(condition) = &count.condition
                && self.arithmetic(shell, text, condition, record).await? == 0
            {
                if !has_run {
                    shell.set_status(0);
                }
                return Ok(Flow::Next);
            }
            has_run = true;
            if let Some(flow) = self.turn(shell, text, &count.body, streams, record).await? {
                return Ok(flow);
            }
            if let Some(step) = &count.step {
                self.arithmetic(shell, text, step, record).await?;
            }
        }
    }

    async fn while_loop(
        &self,
        shell: &mut Shell,
        text: Text<'_>,
        command: &While,
        streams: &Streams,
        record: &mut Record,
    ) -> Ran<Flow> {
        let mut status = 0;
        loop {
            shell.loops += 1;
            let flow = self.tested(shell, text, &command.condition, streams, record).await;
            shell.loops -= 1;
            if let Some(flow) = left(flow?) {
                shell.set_status(status);
                return Ok(flow);
            }
            if (shell.status() == 0) == command.is_until {
                shell.set_status(status);
                return Ok(Flow::Next);
            }
            if let Some(flow) = self.turn(shell, text, &command.body, streams, record).await? {
                return Ok(flow);
            }
            status = shell.status();
        }
    }

    /// Runs a turn of a loop. `Some` says how the commands behind the loop go on.
    async fn turn(
        &self,
        shell: &mut Shell,
        text: Text<'_>,
        body: &List,
        streams: &Streams,
        record: &mut Record,
    ) -> Ran<Option<Flow>> {
        self.count_command(shell, text).await?;
        shell.loops += 1;
        let flow = self.list(shell, text, body, streams, record).await;
        shell.loops -= 1;
        Ok(left(flow?))
    }
}

/// How the commands behind a loop go on, if its turn ends it.
fn left(flow: Flow) -> Option<Flow> {
    match flow {
        Flow::Next | Flow::Continue(1) => None,
        Flow::Break(1) => Some(Flow::Next),
        Flow::Break(loops) => Some(Flow::Break(loops - 1)),
        Flow::Continue(loops) => Some(Flow::Continue(loops - 1)),
        Flow::Exit => Some(Flow::Exit),
    }
}
