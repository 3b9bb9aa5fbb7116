//! Simple commands: their variables, their words, and the commands that they start.

use climax_shell::{Assignment, Body, Command, Field, Origin, Part, Simple, State, Value, Word};

use super::expansion::Fields;
use super::programs::{Given, ProgramWords};
use super::{MAX_TEXTS, Survey, inherited, or_by_a_shell};
use crate::call::files::FileUse;
use crate::call::line::fed::CommandInput;
use crate::call::line::forms::{CommandText, FILLED, Filled, Find, Form, Xargs, is_refused, text_to_fill};
use crate::call::line::read_line::Feed;
use crate::call::line::resolve::UnreadLine;
use crate::call::line::variables::{COMPUTED, is_inherited};
use crate::call::refusal::Refusal;

impl Survey<'_, '_> {
    /// Reads a simple command.
    pub(super) fn simple(
        &mut self,
        command: &Command,
        simple: &Simple,
        input: CommandInput<'_>,
    ) -> Result<(), UnreadLine> {
        if simple.words.is_empty() {
            return self.assign(&simple.assignments);
        }

        let (variables, is_open) = self.own_variables(simple)?;
        self.substitutions(&simple.words)?;
        let exported = self.exported_values(simple)?;
        let fields = self.fields(&simple.words, &command.range)?;
        self.expanded(command, &fields, Given { variables: &variables, is_open, input })?;
        for (name, value) in exported {
            self.state.set(&name, value);
        }
        Ok(())
    }

    /// Sets variables without a command behind them, which stay set.
    fn assign(&mut self, assignments: &[Assignment]) -> Result<(), UnreadLine> {
        for assignment in assignments {
            self.substitutions([&assignment.value])?;
            let value = self.value(&assignment.value)?;
            self.settable(&assignment.range, &assignment.name)?;
            self.state.set(&assignment.name, assigned(assignment, value));
            if is_inherited(&assignment.name, self.context.env) {
                self.state.export(&assignment.name);
            }
        }
        Ok(())
    }

    /// Expands the variables before the words of a command. Returns whether a value is not known yet, too.
    fn own_variables(&mut self, simple: &Simple) -> Result<(Vec<(String, String)>, bool), UnreadLine> {
        let is_reading = simple.words.first().and_then(Word::plain) == Some("read");
        let mut variables = Vec::new();
        let mut is_open = false;
        for assignment in &simple.assignments {
            self.substitutions([&assignment.value])?;
            let value = self.value(&assignment.value)?;
            // What `read` splits is its own line only.
            if !(is_reading && assignment.name == "IFS") {
                self.settable(&assignment.range, &assignment.name)?;
            }
            is_open |= value.is_open;
            variables.push((assignment.name.clone(), value.text));
        }
        Ok((variables, is_open))
    }

    /// The values that `export` sets, which are not split.
    fn exported_values(&mut self, simple: &Simple) -> Result<Vec<(String, Value)>, UnreadLine> {
        if simple.words.first().and_then(Word::plain) != Some("export") {
            return Ok(Vec::new());
        }
        let mut values = Vec::new();
        for assignment in simple.words.iter().filter_map(Word::assignment) {
            let value = self.value(&assignment.value)?;
            let value = assigned(&assignment, value);
            values.push((assignment.name, value));
        }
        Ok(values)
    }

    /// Reads a command with its fields.
    fn expanded(&mut self, command: &Command, fields: &Fields, given: Given<'_>) -> Result<(), UnreadLine> {
        let form = Form::of(&fields.expanded).map_err(|Refusal { problem, remedy }| {
            let is_of_shell = fields.expanded.first().is_some_and(|first| is_refused(&first.text));
            let remedy = if is_of_shell { or_by_a_shell(remedy, self.context) } else { remedy };
            self.error(&command.range, problem, remedy)
        })?;

        match form {
            Form::Builtin(builtin, words) => self.builtin(command, builtin, words),
            Form::Program(words) => {
                let skipped = fields.expanded.len() - words.len();
                let written = &fields.written[skipped.min(fields.written.len())..];
                self.program(command, ProgramWords { written, fields: words, places: &fields.places }, given)
            }
            Form::Text(text) => {
                let filled = fields.replaced.as_deref().map(|replaced| Filled { replaced, value: None });
                self.nested(command, &text, filled, given)
            }
            Form::Xargs(xargs) => self.xargs(command, &xargs, fields, given),
            Form::Find(find) => self.find(command, &find, fields, given),
        }
    }

    /// Reads the command that `xargs` starts, and the file that has its values.
    fn xargs(
        &mut self,
        command: &Command,
        xargs: &Xargs<'_>,
        fields: &Fields,
        given: Given<'_>,
    ) -> Result<(), UnreadLine> {
        if let Some(file) = &xargs.file {
            if given.input.is_own && *given.input.feed != Feed::Nothing {
                let problem = "the commands of `xargs -a` would read the input that stands before it";
                return Err(self.error(&command.range, problem, "write `xargs COMMAND < FILE`"));
            }
            if !is_process(file, command) {
                self.file_named(file, &command.range, FileUse::Read)?;
            }
        }
        if xargs.command.is_empty() {
            return Ok(());
        }
        self.open_command(command, (xargs.command, xargs.replaced.as_deref()), fields, given)
    }

    /// Reads a `find` that prints what it finds, and the commands that it starts with that.
    fn find(
        &mut self,
        command: &Command,
        find: &Find<'_>,
        fields: &Fields,
        given: Given<'_>,
    ) -> Result<(), UnreadLine> {
        let mut words = find.words.to_vec();
        words.push(literal("-print0"));
        self.program(command, ProgramWords { written: &words, fields: &words, places: &fields.places }, given)?;

        for words in find.actions.commands() {
            self.joined("|");
            self.open_command(command, (words, Some("{}")), fields, given)?;
        }
        Ok(())
    }

    /// Reads a command that gets values which are not known yet, in the place of `replaced` or behind its words.
    fn open_command(
        &mut self,
        command: &Command,
        (words, replaced): (&[Field], Option<&str>),
        around: &Fields,
        given: Given<'_>,
    ) -> Result<(), UnreadLine> {
        let (filled, words) = with_value(words, replaced);
        let known = Fields {
            written: words.clone(),
            expanded: words,
            places: around.places.clone(),
            replaced: filled.map(str::to_owned),
        };
        let input = CommandInput { feed: &Feed::Nothing, is_own: false };
        self.expanded(command, &known, Given { is_open: true, input, ..given })
    }

    /// Reads the commands of a text, which get these variables and the exported ones.
    fn nested(
        &mut self,
        command: &Command,
        text: &CommandText<'_>,
        filled: Option<Filled<'_>>,
        given: Given<'_>,
    ) -> Result<(), UnreadLine> {
        if self.depth == MAX_TEXTS {
            let problem = "too many texts of `sh -c` stand in one another";
            return Err(self.error(&command.range, problem, "write the commands out"));
        }

        let script = text.script(filled).map_err(|refusal| self.refused(&command.range, refusal))?;
        let mut inner = Survey {
            index: self.index,
            line: &text.text.text,
            context: self.context,
            state: self.state_of_text(text, given),
            directory: self.directory.clone(),
            commands: std::mem::take(&mut self.commands),
            started: self.started,
            depth: self.depth + 1,
            around: Feed::Nothing,
            may_not_run: self.may_not_run,
        };
        if filled.is_some() {
            inner.state.set(FILLED, Value::Open);
        }
        let read = inner.list(&script.list, &inherited(given.input.feed));
        self.started = inner.started;
        self.commands = std::mem::take(&mut inner.commands);
        read
    }

    /// The variables and positions with which the commands of a text start.
    fn state_of_text(&self, text: &CommandText<'_>, given: Given<'_>) -> State {
        let positions = text.arguments.get(1..).unwrap_or_default();
        let is_open = positions.iter().any(|word| word.is_open);
        let exported = self
            .state
            .variables
            .iter()
            .filter(|(name, variable)| variable.is_exported || COMPUTED.contains(&name.as_str()));
        let mut state = State {
            variables: exported.map(|(name, variable)| (name.clone(), variable.clone())).collect(),
            name: text.arguments.first().map_or(text.name, |word| &word.text).to_owned(),
            positions: (!is_open).then(|| positions.iter().map(|word| word.text.clone()).collect()),
            ..State::default()
        };
        for (name, value) in given.variables {
            state.set(name, if given.is_open { Value::Open } else { Value::Known(value.clone()) });
            state.export(name);
        }
        state
    }
}

/// What a variable has after an assignment. What stands before the text that is added is not looked up.
fn assigned(assignment: &Assignment, value: Field) -> Value {
    if value.is_open || assignment.appends { Value::Open } else { Value::Known(value.text) }
}

/// A word of this text.
fn literal(text: &str) -> Field {
    Field { text: text.to_owned(), origin: Origin::Literal, is_open: false, from: 0 }
}

/// The words of a command with an open value in the place of `replaced`, or behind them. In a text of commands it stays as it
/// is written, and is returned.
fn with_value<'r>(words: &[Field], replaced: Option<&'r str>) -> (Option<&'r str>, Vec<Field>) {
    let text = text_to_fill(words, replaced);
    let value = |text: String| Field { text, origin: Origin::Value, is_open: true, from: 0 };
    let placeholder = climax_shell::PLACEHOLDER;
    let with = |(at, word): (usize, &Field)| match replaced.filter(|replaced| word.text.contains(replaced)) {
        Some(_) if text == Some(at) => word.clone(),
        Some(replaced) if word.text == replaced => value(placeholder.to_owned()),
        Some(replaced) => {
            let origin = if word.text.starts_with(replaced) { Origin::Value } else { Origin::Mixed };
            Field { text: word.text.replace(replaced, placeholder), origin, is_open: true, from: 0 }
        }
        None => word.clone(),
    };
    let mut all: Vec<Field> = words.iter().enumerate().map(with).collect();
    if replaced.is_none() {
        all.push(value(placeholder.to_owned()));
    }
    (replaced.filter(|_| text.is_some()), all)
}

/// Whether a path stands for a `<(…)` in the words of a command.
fn is_process(path: &Field, command: &Command) -> bool {
    let Body::Simple(simple) = &command.body else { return false };
    let mut parts = simple.words.iter().flat_map(|word| &word.parts);
    parts.any(|part| matches!(part, Part::Process(_, number) if path.text == format!("/dev/fd/{number}")))
}
