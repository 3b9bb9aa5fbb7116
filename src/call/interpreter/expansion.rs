//! Expands the words of a line, and runs the commands in them.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::ops::Range;
use std::sync::Arc;

use climax_shell::{
    Arithmetic, Body, ExpandError, Expander, Field, Globs, List, Pattern, Redirection, State, Substituted,
    Surroundings, Target, Word,
};
use futures_util::future::Future;

use super::record::Record;
use super::shell::{Before, Shell};
use super::streams::{Output, Source, Streams};
use super::{Halt, Interpreter, MAX_SUBSTITUTION_BYTES, Ran, Text, failure};
use crate::call::approval::Approver;
use crate::call::line::{READABLE, changed, prints_itself};
use crate::call::sight::Sight;
use crate::exec::{self, Stop, pipe_between};

/// What lies outside of a line while it runs.
struct Outside<'o> {
    directory: Option<&'o str>,
    previous: Option<&'o Before>,
    /// The files that globs see.
    sight: &'o Sight,
    /// The outputs and statuses of the commands in the words that are expanded now, by their places.
    outputs: &'o [(Range<usize>, String, i32)],
}

impl Surroundings for Outside<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        match name {
            "PWD" => Some(absolute(self.directory)),
            "OLDPWD" => self.previous.map(|Before(directory)| absolute(directory.as_deref())),
            "RANDOM" => Some((RandomState::new().build_hasher().finish() & 0x7fff).to_string()),
            "UID" | "EUID" => Some(exec::user().to_string()),
            "HOSTNAME" => Some(exec::host_name()),
            name => READABLE.contains(&name).then(|| exec::variable(name)).flatten(),
        }
    }

    fn paths(&self, pattern: &str, globs: Globs) -> Result<Option<Vec<String>>, String> {
        self.sight.paths(pattern, std::path::Path::new(self.directory.unwrap_or_default()), globs).map(Some)
    }

    fn substitution(&self, place: &Range<usize>) -> Substituted {
        let found = self.outputs.iter().find(|(other, ..)| other == place);
        found.map_or(Substituted::Due, |(_, output, status)| Substituted::Known(output.clone(), *status))
    }
}

/// The directory of a shell from the root, without `..`.
pub(super) fn absolute(directory: Option<&str>) -> String {
    changed(Some(&exec::directory().display().to_string()), directory.unwrap_or_default())
}

impl<A, S> Interpreter<'_, '_, A, S>
where
    A: Approver,
    S: Future<Output = Stop> + Send,
{
    /// Expands something as often as commands in it must run first. These see what was expanded before them.
    async fn expanded<'w, T>(
        &self,
        shell: &mut Shell,
        text: Text<'_>,
        record: &mut Record,
        expand: impl Fn(&mut Expander<'_, Outside<'_>>) -> Result<T, ExpandError<'w>> + Send,
    ) -> Ran<T> {
        let mut outputs: Vec<(Range<usize>, String, i32)> = Vec::new();
        let mut before: Option<State> = None;
        loop {
            let mut state = before.as_ref().unwrap_or(&shell.state).clone();
            let outside = Outside {
                directory: shell.directory.as_deref(),
                previous: shell.previous.as_ref(),
                sight: &shell.sight,
                outputs: &outputs,
            };
            match expand(&mut Expander { state: &mut state, surroundings: &outside }) {
                Ok(done) => {
                    shell.state = state;
                    return Ok(done);
                }
                Err(ExpandError::Due(list, place)) => {
                    let earlier = std::mem::replace(&mut shell.state, state);
                    before.get_or_insert(earlier);
                    let (output, status) = self.output_of(shell, text, list, record).await?;
                    outputs.push((place, output, status));
                }
                Err(error) => return Err(unexpanded(text, &(0..0), error)),
            }
        }
    }

    /// Expands words, and runs the commands in them.
    pub(super) async fn fields(
        &self,
        shell: &mut Shell,
        text: Text<'_>,
        words: &[Word],
        record: &mut Record,
    ) -> Ran<Vec<Field>> {
        // Most commands have nothing to expand.
        if words.iter().all(|word| word.plain().is_some_and(|text| !text.contains(['*', '?', '[', '~']))) {
            let field = |(from, word): (usize, &Word)| Field {
                text: word.plain().unwrap_or_default().to_owned(),
                origin: climax_shell::Origin::Literal,
                is_open: false,
                from,
            };
            return Ok(words.iter().enumerate().map(field).collect());
        }
        self.expanded(shell, text, record, |expander| expander.fields(words)).await
    }

    /// Expands the words of `export`, in which a value is not split.
    pub(super) async fn exported_fields(
        &self,
        shell: &mut Shell,
        text: Text<'_>,
        words: &[Word],
        record: &mut Record,
    ) -> Ran<Vec<Field>> {
        let mut fields = Vec::with_capacity(words.len());
        for (from, word) in words.iter().enumerate() {
            if let Some(assignment) = word.assignment() {
                let value = self.value(shell, text, &assignment.value, record).await?;
                let operator = if assignment.appends { "+=" } else { "=" };
                fields.push(Field { text: format!("{}{operator}{}", assignment.name, value.text), from, ..value });
            } else {
                let own = self.fields(shell, text, std::slice::from_ref(word), record).await?;
                fields.extend(own.into_iter().map(|field| Field { from, ..field }));
            }
        }
        Ok(fields)
    }

    /// Prints the file of `$(< FILE)`.
    async fn print_file(
        &self,
        shell: &mut Shell,
        text: Text<'_>,
        redirections: &[Redirection],
        streams: &Streams,
        record: &mut Record,
    ) -> Ran<()> {
        let Some((redirected, _)) = self.redirected(shell, text, redirections, streams.clone(), record).await? else {
            shell.set_status(1);
            return Ok(());
        };
        let broken = |error: std::io::Error| failure(text, 0..0, error.to_string(), "write its result out");
        let bytes = redirected.input.read_all(MAX_SUBSTITUTION_BYTES).await.map_err(broken)?;
        shell.set_status(0);
        if let Output::File(file) = &streams.output {
            super::streams::write_all(file, bytes).await.map_err(broken)?;
        }
        Ok(())
    }

    /// Expands a word that stays one.
    pub(super) async fn word(&self, shell: &mut Shell, text: Text<'_>, word: &Word, record: &mut Record) -> Ran<Field> {
        self.expanded(shell, text, record, |expander| expander.text(word)).await
    }

    /// Expands the value of an assignment.
    pub(super) async fn value(
        &self,
        shell: &mut Shell,
        text: Text<'_>,
        word: &Word,
        record: &mut Record,
    ) -> Ran<Field> {
        self.expanded(shell, text, record, |expander| expander.value(word)).await
    }

    /// Returns whether a word is a pattern of a value.
    pub(super) async fn matches(
        &self,
        shell: &mut Shell,
        text: Text<'_>,
        word: &Word,
        value: &str,
        record: &mut Record,
    ) -> Ran<bool> {
        let pattern: Option<Pattern> = self.expanded(shell, text, record, |expander| expander.pattern(word)).await?;
        let matches = pattern.unwrap_or_default().matches(value, &mut shell.state.pattern_steps);
        matches
            .map_err(|error| failure(text, word.range.clone(), error.to_string(), "let a program do it, such as grep"))
    }

    /// Expands the word behind `=~` to a regular expression.
    pub(super) async fn regex(
        &self,
        shell: &mut Shell,
        text: Text<'_>,
        word: &Word,
        record: &mut Record,
    ) -> Ran<String> {
        let regex: Option<String> = self.expanded(shell, text, record, |expander| expander.regex(word)).await?;
        Ok(regex.unwrap_or_default())
    }

    /// Evaluates an expression.
    pub(super) async fn arithmetic(
        &self,
        shell: &mut Shell,
        text: Text<'_>,
        expression: &Arithmetic,
        record: &mut Record,
    ) -> Ran<i64> {
        let value: Option<i64> = self.expanded(shell, text, record, |expander| expander.arithmetic(expression)).await?;
        Ok(value.unwrap_or_default())
    }

    /// Runs a command in a word, and returns its output and status.
    async fn output_of(
        &self,
        shell: &mut Shell,
        text: Text<'_>,
        list: &List,
        record: &mut Record,
    ) -> Ran<(String, i32)> {
        let broken = |error: std::io::Error| failure(text, 0..0, error.to_string(), "write its result out");
        let (read, write) = pipe_between().map_err(broken)?;
        let around = shell.around.clone().unwrap_or(Streams {
            input: Source::Nothing,
            output: Output::Nothing,
            errors: Output::Result(super::Stream::Errors),
            processes: Vec::new(),
        });
        let input = around.input.into_file().await.map_err(broken)?;
        let mut inner = Shell { is_fed: shell.is_fed || shell.is_around_fed, ..shell.clone() };
        inner.state.options.ends_on_failure &= inner.state.options.ends_inner_on_failure;
        let streams = Streams {
            input,
            output: Output::File(Arc::new(write)),
            errors: around.errors,
            processes: around.processes,
        };
        let run = async {
            let streams = streams;
            let mut inner_record = Record::default();
            let ran = match read_alone(list) {
                Some(redirections) => {
                    Box::pin(self.print_file(&mut inner, text, redirections, &streams, &mut inner_record)).await
                }
                None => self.list(&mut inner, text, list, &streams, &mut inner_record).await.map(drop),
            };
            drop((streams, inner.around.take()));
            ran.map(|()| inner_record)
        };
        let output = super::streams::blocking(move || exec::read_to_end(read, MAX_SUBSTITUTION_BYTES));
        let (ran, output) = futures_util::future::join(run, output).await;

        record.extend(ran?, self.most_bytes);
        shell.has_data |= inner.has_data || !prints_itself(list);
        shell.has_substituted = true;
        let mut bytes = self.masks.apply(output.map_err(broken)?);
        bytes.retain(|byte| *byte != 0);
        let output = String::from_utf8(bytes).map_err(|_| {
            let problem = "the output of a command in a word is not UTF-8";
            failure(text, 0..0, problem, "let a program read it, by a pipe")
        })?;
        Ok((output, inner.status()))
    }
}

/// The redirections of `$(< FILE)`, which prints the file without a command.
fn read_alone(list: &List) -> Option<&[Redirection]> {
    let [chain] = list.items.as_slice() else { return None };
    let [command] = chain.first.commands.as_slice() else { return None };
    let Body::Simple(simple) = &command.body else { return None };
    let is_alone =
        chain.rest.is_empty() && chain.background.is_none() && simple.words.is_empty() && simple.assignments.is_empty();
    let reads = matches!(command.redirections.as_slice(), [only] if matches!(only.target, Target::Read(_)));
    (is_alone && reads).then_some(&command.redirections)
}

/// The failure of words that are not expanded.
pub(super) fn unexpanded(text: Text<'_>, range: &Range<usize>, error: ExpandError<'_>) -> Halt {
    match error {
        ExpandError::Refused(error) => {
            let place = if error.range.is_empty() { range.clone() } else { error.range };
            failure(text, place, error.problem, error.remedy)
        }
        ExpandError::Failed(message) => failure(text, range.clone(), message, "give the variable a value"),
        ExpandError::Due(_, place) => failure(text, place, "this command cannot run first", "write its result out"),
    }
}
