//! Simple commands: programs, and those that start others.

use std::ops::Range;

use climax_shell::{Body, Command, Field, Origin, Part, Simple, State, Value, Word};

use super::expansion::Fields;
use super::{MAX_TEXTS, Place, Survey, inherited, or_by_a_shell};
use crate::call::files::FileUse;
use crate::call::line::fed::{FedCommand, read_fed};
use crate::call::line::finds::holds_data;
use crate::call::line::forms::{CommandText, FILLED, Filled, Find, Form, Xargs, is_refused, text_to_fill};
use crate::call::line::read_line::{CommandKey, Feed, ReadCall, ReadCommand};
use crate::call::line::resolve::{ExpandedCommand, UnreadLine};
use crate::call::line::variables::{COMPUTED, is_inherited};
use crate::call::refusal::Refusal;

impl Survey<'_, '_> {
    /// Reads a simple command.
    pub(super) fn simple(
        &mut self,
        command: &Command,
        simple: &Simple,
        feed: &Feed,
        is_own: bool,
    ) -> Result<(), UnreadLine> {
        let mut variables = Vec::new();
        let mut is_open = false;
        for assignment in &simple.assignments {
            self.substitutions([&assignment.value])?;
            let value = self.value(&assignment.value)?;
            is_open |= value.is_open;
            let is_reading = assignment.name == "IFS" && simple.words.first().and_then(Word::plain) == Some("read");
            if !is_reading {
                self.settable(&assignment.range, &assignment.name)?;
            }
            if simple.words.is_empty() {
                let known = if value.is_open || assignment.appends { Value::Open } else { Value::Known(value.text) };
                self.state.set(&assignment.name, known);
                if is_inherited(&assignment.name, self.context.env) {
                    self.state.export(&assignment.name);
                }
            } else {
                variables.push((assignment.name.clone(), value.text));
            }
        }
        if simple.words.is_empty() {
            return Ok(());
        }

        self.substitutions(&simple.words)?;
        let exported = self.exported_values(simple)?;
        let fields = self.fields(&simple.words, &command.range)?;
        self.expanded(command, &fields, (&variables, is_open), feed, is_own)?;
        for (name, value) in exported {
            self.state.set(&name, value);
        }
        Ok(())
    }

    /// The values that `export` sets, which are not split.
    fn exported_values(&mut self, simple: &Simple) -> Result<Vec<(String, Value)>, UnreadLine> {
        if simple.words.first().and_then(Word::plain) != Some("export") {
            return Ok(Vec::new());
        }
        let mut values = Vec::new();
        for assignment in simple.words.iter().filter_map(Word::assignment) {
            let value = self.value(&assignment.value)?;
            let known = if value.is_open || assignment.appends { Value::Open } else { Value::Known(value.text) };
            values.push((assignment.name, known));
        }
        Ok(values)
    }

    /// Reads a command with its fields.
    fn expanded(
        &mut self,
        command: &Command,
        fields: &Fields,
        (variables, is_open): (&[(String, String)], bool),
        feed: &Feed,
        is_own: bool,
    ) -> Result<(), UnreadLine> {
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
                self.program(command, (written, words, &fields.places), (variables, is_open), feed, is_own)
            }
            Form::Text(text) => {
                let filled = fields.replaced.as_deref().map(|replaced| Filled { replaced, value: None });
                self.nested(command, (&text, filled), (variables, is_open), feed)
            }
            Form::Xargs(Xargs { file, command: words, replaced, .. }) => {
                if let Some(file) = file {
                    if is_own && *feed != Feed::Nothing {
                        let problem = "the commands of `xargs -a` would read the input that stands before it";
                        return Err(self.error(&command.range, problem, "write `xargs COMMAND < FILE`"));
                    }
                    if !is_process(&file, command) {
                        self.file_named(&file, &command.range, FileUse::Read)?;
                    }
                }
                if words.is_empty() {
                    return Ok(());
                }
                self.open_command(command, (words, replaced.as_deref(), fields), variables)
            }
            Form::Find(Find { words: find, actions }) => {
                let mut find = find.to_vec();
                find.push(literal("-print0"));
                self.program(command, (&find, &find, &fields.places), (variables, is_open), feed, is_own)?;
                for words in actions.commands() {
                    self.joined("|");
                    self.open_command(command, (words, Some("{}"), fields), variables)?;
                }
                Ok(())
            }
        }
    }

    /// Reads a command that gets values which are not known yet.
    fn open_command(
        &mut self,
        command: &Command,
        (words, replaced, around): (&[Field], Option<&str>, &Fields),
        variables: &[(String, String)],
    ) -> Result<(), UnreadLine> {
        let (filled, words) = with_value(words, replaced);
        let known = Fields {
            written: words.clone(),
            expanded: words,
            places: around.places.clone(),
            replaced: filled.map(str::to_owned),
        };
        self.expanded(command, &known, (variables, true), &Feed::Nothing, false)
    }

    /// Reads the commands of a text, which get these variables and the exported ones.
    fn nested(
        &mut self,
        command: &Command,
        (text, filled): (&CommandText<'_>, Option<Filled<'_>>),
        variables: (&[(String, String)], bool),
        feed: &Feed,
    ) -> Result<(), UnreadLine> {
        if self.depth == MAX_TEXTS {
            return Err(self.error(
                &command.range,
                "too many texts of `sh -c` stand in one another",
                "write the commands out",
            ));
        }
        let script = text.script(filled).map_err(|refusal| self.refused(&command.range, refusal))?;
        let mut inner = Survey {
            index: self.index,
            line: &text.text.text,
            context: self.context,
            state: self.state_of_text(text, variables),
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
        let read = inner.list(&script.list, &inherited(feed));
        self.started = inner.started;
        self.commands = std::mem::take(&mut inner.commands);
        read
    }

    /// The variables and positions with which the commands of a text start.
    fn state_of_text(&self, text: &CommandText<'_>, (own, is_own_open): (&[(String, String)], bool)) -> State {
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
        for (name, value) in own {
            state.set(name, if is_own_open { Value::Open } else { Value::Known(value.clone()) });
            state.export(name);
        }
        state
    }

    fn program(
        &mut self,
        command: &Command,
        (written, fields, places): (&[Field], &[Field], &[Range<usize>]),
        (variables, is_open): (&[(String, String)], bool),
        feed: &Feed,
        is_own: bool,
    ) -> Result<(), UnreadLine> {
        let mut all: Vec<(String, String)> =
            self.state.exported().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        all.retain(|(name, _)| variables.iter().all(|(own, _)| own != name));
        all.extend_from_slice(variables);
        let expanded = ExpandedCommand {
            line: self.line,
            range: &command.range,
            places,
            written,
            fields,
            variables: &all,
            started: self.started,
        };
        let read = match read_fed(self.index, expanded, (feed, is_own), self.context) {
            // It starts no program.
            Err(UnreadLine::Lacking { .. }) => return Ok(()),
            read => read?,
        };

        let directory = match &self.directory {
            Place::Known(directory) => directory.clone(),
            Place::Open => None,
        };
        let is_given = is_open;
        let is_open = is_open || self.directory == Place::Open || fields.iter().any(|field| field.is_open);
        let texts = fields.iter().map(|field| field.text.clone()).collect();
        let key = CommandKey { words: texts, variables: all.clone(), directory, feed: feed.clone() };
        let text = self.line.get(command.range.clone()).unwrap_or_default().to_owned();
        let words: &[Word] = if let Body::Simple(simple) = &command.body { &simple.words } else { &[] };
        let is_own_text = !is_given && !words.is_empty() && !words.iter().any(holds_data);
        let reads_processes = words.iter().flat_map(|word| &word.parts).any(|part| matches!(part, Part::Process(..)));
        let has_data = reads_processes || !is_own_text && fields.iter().any(|field| field.is_open);
        let carries_data = feed.is_data() || has_data;
        let FedCommand { reading, reads_input, feed, variables } = read;
        let call = ReadCall::Tool(Box::new(reading));
        let read = ReadCommand { call, is_open, key, feed, reads_input, carries_data, variables, text, then: None };
        self.add(read, &command.range)
    }
}

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
