//! Simple commands: their words, assignments and what they stand for.

use std::ops::Range;

use climax_shell::{Command, Field, Simple, Value, Word};
use futures_util::future::Future;

use super::expansion::unexpanded;
use super::record::Record;
use super::shell::{Flow, Shell};
use super::streams::{Source, Streams};
use super::{Halt, Interpreter, MAX_SUBSTITUTION_BYTES, Ran, Text, failure, refused};
use crate::call::approval::Approver;
use crate::call::arguments::Input;
use crate::call::line::{
    Builtin, CommandText, FILLED, Feed, Filled, Form, MAX_TEXTS, check_settable, is_inherited, written,
};
use crate::call::plan_outcome::Tested;
use crate::call::refusal::Refusal;
use crate::exec::{self, Stop};

impl<A, S> Interpreter<'_, '_, A, S>
where
    A: Approver,
    S: Future<Output = Stop> + Send,
{
    /// Runs a simple command.
    #[allow(clippy::too_many_arguments, reason = "a command, where it stands and where it writes")]
    pub(super) async fn simple(
        &self,
        shell: &mut Shell,
        text: Text<'_>,
        command: &Command,
        simple: &Simple,
        streams: Streams,
        is_own: bool,
        record: &mut Record,
    ) -> Ran<Flow> {
        shell.has_substituted = false;
        let fields = match simple.words.first().and_then(Word::plain) {
            Some("export") => self.exported_fields(shell, text, &simple.words, record).await?,
            _ => self.fields(shell, text, &simple.words, record).await?,
        };
        let variables = self.assigned(shell, text, simple, record).await?;

        let Some((streams, redirects_input)) =
            self.redirected(shell, text, &command.redirections, streams, record).await?
        else {
            shell.set_status(1);
            return Ok(Flow::Next);
        };
        if fields.is_empty() {
            // Without a command, the status is that of the last command in its words.
            if !shell.has_substituted {
                shell.set_status(0);
            }
            return Ok(Flow::Next);
        }
        if shell.state.options.prints_commands {
            let words: Vec<&str> = fields.iter().map(|field| field.text.as_str()).collect();
            let line = format!("+ {}\n", words.join(" "));
            self.print(&streams.errors, line.into_bytes(), ("set", "set -x", 0), record).await;
        }

        // A builtin reads no words as options of a program.
        let is_builtin = matches!(Form::of(&fields), Ok(Form::Builtin(..)));
        let written = if is_builtin {
            Vec::new()
        } else {
            self.toolbox.with_line_context(Input::Nothing, |context| {
                written(&simple.words, &shell.state, context).map_err(|error| unexpanded(text, &command.range, error))
            })?
        };
        let places: Vec<Range<usize>> = simple.words.iter().map(|word| word.range.clone()).collect();
        let due = Due {
            text,
            range: &command.range,
            places: &places,
            written: &written,
            fields: &fields,
            variables: &variables,
            is_own: is_own || redirects_input,
            is_fed: shell.is_fed,
            filled: None,
        };
        self.dispatch(shell, due, streams, record).await
    }

    /// Expands the assignments in front of a command. Without a command, they set variables of the shell.
    ///
    /// Returns the variables that the command gets.
    async fn assigned(
        &self,
        shell: &mut Shell,
        text: Text<'_>,
        simple: &Simple,
        record: &mut Record,
    ) -> Ran<Vec<(String, String)>> {
        let mut variables = Vec::new();
        for assignment in &simple.assignments {
            let value = self.value(shell, text, &assignment.value, record).await?.text;
            let value = match shell.state.variables.get(&assignment.name).map(|variable| &variable.value) {
                Some(Value::Known(old)) if assignment.appends => appended(text, &assignment.range, old, &value)?,
                _ => value,
            };
            if !simple.words.is_empty() {
                variables.push((assignment.name.clone(), value));
                continue;
            }

            settable(text, &assignment.range, &assignment.name)?;
            shell.state.set(&assignment.name, Value::Known(value));
            if is_inherited(&assignment.name, &exec::variable) {
                shell.state.export(&assignment.name);
            }
        }
        Ok(variables)
    }

    /// Runs a command by what its first words stand for.
    pub(super) async fn dispatch(
        &self,
        shell: &mut Shell,
        due: Due<'_>,
        streams: Streams,
        record: &mut Record,
    ) -> Ran<Flow> {
        let form = Form::of(due.fields).map_err(|refusal| due.refused(refusal))?;
        match form {
            Form::Builtin(builtin, words) => self.builtin(shell, due, (builtin, words), streams, record).await,
            Form::Program(fields) => {
                let skipped = due.fields.len() - fields.len();
                let written = due.written.get(skipped..).unwrap_or_default();
                self.program(shell, Due { written, fields, ..due }, streams, record).await?;
                Ok(Flow::Next)
            }
            Form::Text(text) => {
                self.text_of_commands(shell, due, &text, streams, record).await?;
                Ok(Flow::Next)
            }
            Form::Xargs(xargs) => {
                self.xargs(shell, due, xargs, streams, record).await?;
                Ok(Flow::Next)
            }
            Form::Find(find) => {
                self.find(shell, due, find, streams, record).await?;
                Ok(Flow::Next)
            }
        }
    }

    /// Runs the commands of a text in a subshell of their own, which has the exported variables.
    async fn text_of_commands(
        &self,
        shell: &mut Shell,
        due: Due<'_>,
        text: &CommandText<'_>,
        mut streams: Streams,
        record: &mut Record,
    ) -> Ran<()> {
        if shell.texts == MAX_TEXTS {
            let problem = "too many texts of `sh -c` stand in one another";
            return Err(failure(due.text, due.range.clone(), problem, "write the commands out"));
        }
        let script = text.script(due.filled).map_err(|refusal| due.refused(refusal))?;

        let is_fed = due.feed(&streams.input).is_data();
        let mut inner = Shell { loops: 0, tested: Tested::No, is_fed, texts: shell.texts + 1, ..shell.clone() };
        inner.is_sh = text.is_sh();
        inner.set_status(0);
        inner.state.pipe_statuses = vec![0];
        (inner.jobs, inner.state.background) = (Vec::new(), Value::Unset);
        inner.state.variables.retain(|name, variable| variable.is_exported || name == "TMPDIR");
        for (name, value) in due.variables {
            settable(due.text, due.range, name)?;
            inner.state.set(name, Value::Known(value.clone()));
            inner.state.export(name);
        }
        if let Some(value) = due.filled.and_then(|filled| filled.value) {
            inner.state.set(FILLED, Value::Known(value.to_owned()));
        }
        inner.state.name = text.arguments.first().map_or(text.name, |name| &name.text).to_owned();
        inner.state.positions = Some(text.arguments.iter().skip(1).map(|word| word.text.clone()).collect());
        inner.state.options = climax_shell::Options {
            ends_on_failure: text.options.contains('e'),
            prints_commands: text.options.contains('x'),
            fails_with_pipes: false,
            fails_on_unset: text.options.contains('u'),
            ..climax_shell::Options::default()
        };
        streams.input = self.as_file(due, streams.input).await?;
        self.list(&mut inner, Text(&text.text.text), &script.list, &streams, record).await?;
        shell.set_status(inner.status());
        Ok(())
    }

    /// Makes a stream of an input.
    pub(super) async fn as_file(&self, due: Due<'_>, input: Source) -> Ran<Source> {
        input.into_file().await.map_err(|error| failure(due.text, due.range.clone(), error.to_string(), "try again"))
    }
}

/// A command whose words have been expanded.
#[derive(Clone, Copy)]
pub(super) struct Due<'d> {
    pub(super) text: Text<'d>,
    pub(super) range: &'d Range<usize>,
    pub(super) places: &'d [Range<usize>],
    /// The fields with a placeholder for each expansion.
    pub(super) written: &'d [Field],
    pub(super) fields: &'d [Field],
    pub(super) variables: &'d [(String, String)],
    /// Whether its input is its own, not that of what surrounds it.
    pub(super) is_own: bool,
    /// Whether what surrounds it is a command of the line that reads a pipe or a file.
    pub(super) is_fed: bool,
    /// The value that is put into its text of commands.
    pub(super) filled: Option<Filled<'d>>,
}

impl Due<'_> {
    /// The command as it is written.
    pub(super) fn written_text(&self) -> &str {
        self.text.0.get(self.range.clone()).unwrap_or_default()
    }

    /// The failure of a command whose words are refused.
    pub(super) fn refused(&self, refusal: Refusal) -> Halt {
        refused(self.text, self.range.clone(), refusal)
    }

    /// Its standard input, as reading needs to know it.
    pub(super) fn feed(&self, input: &Source) -> Feed {
        match input {
            Source::Nothing => Feed::Nothing,
            Source::Text(text) => Feed::Text(text.clone()),
            Source::File(_) if self.is_own => Feed::Pipe,
            Source::File(_) if self.is_fed => Feed::Inner,
            Source::File(_) => Feed::Inherited,
        }
    }
}

/// The name of a builtin in results.
pub(super) fn name_of(builtin: Builtin) -> &'static str {
    builtin.into()
}

/// The value of a variable with what is added to it.
pub(super) fn appended(text: Text<'_>, range: &Range<usize>, old: &str, value: &str) -> Ran<String> {
    if old.len() + value.len() > MAX_SUBSTITUTION_BYTES {
        let remedy = "let a program make it, or write it to a file";
        return Err(failure(text, range.clone(), "the value would be too long", remedy));
    }
    Ok(format!("{old}{value}"))
}

/// Checks that a line may set a variable.
pub(super) fn settable(text: Text<'_>, range: &Range<usize>, name: &str) -> Ran<()> {
    check_settable(name).map_err(|refusal| refused(text, range.clone(), refusal))
}
