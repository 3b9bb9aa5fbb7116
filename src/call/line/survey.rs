//! Reads all commands of a line before any runs, as far as its words are known by then.
//!
//! It walks the line once: a loop over known words is walked for each of them, every branch is walked, and what depends on
//! output is open. Whoever runs the line reads each command again, with what its words have become.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use climax_catalog::{Cage, ResolvedTool, ToolIndex};
use climax_shell::{
    Body, Chain, Command, Descriptor, ExpandError, Expander, Field, Joint, List, Origin, Part, Pipeline, Redirection,
    Script, Simple, State, Substituted, Surroundings, Target, Value, Word, parse,
};
use serde_json::{Map, Value as Json};

use super::error::LineError;
use super::forms::{Builtin, Find, Form, Xargs};
use super::reading::Reading;
use super::resolve::{ExpandedCommand, LineContext, UnreadLine, read_command};
use super::variables::is_harmless;
use crate::call::arguments::Input;
use crate::call::files;
use crate::call::typed_words::TypedWords;

/// Maximum commands of a line, those of texts and of each turn of known loops included.
pub(crate) const MAX_COMMANDS: usize = 1_000;

/// Most known words for which the body of a loop is read once each.
const MAX_TURNS: usize = 32;

/// Maximum texts of `sh -c` in one another.
pub(crate) const MAX_TEXTS: usize = 4;

/// Variables of the environment that a line may read.
pub(crate) const READABLE: [&str; 5] = ["HOME", "USER", "LOGNAME", "TMPDIR", "LANG"];

/// Variables that a line may not set, since they decide which programs run or what programs load.
const UNSETTABLE: [&str; 14] = [
    "PATH",
    "HOME",
    "IFS",
    "CDPATH",
    "PWD",
    "OLDPWD",
    "BASH_ENV",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "GLOBIGNORE",
    "SHELL",
    "PIPESTATUS",
    "GLIBC_TUNABLES",
];

/// A line whose commands are calls.
#[derive(Clone, Debug)]
pub struct ReadLine<'a> {
    /// Its syntax.
    pub script: Script,
    /// Its commands and redirections, in order, with what is known of them.
    pub commands: Vec<ReadCommand<'a>>,
}

/// A command or redirection of a line.
#[derive(Clone, Debug)]
pub struct ReadCommand<'a> {
    /// What it is.
    pub call: ReadCall<'a>,
    /// Whether a part of it is known only once the line runs.
    pub is_open: bool,
    /// How it is told from others.
    pub key: CommandKey,
    /// Whether it reads the standard input that it has.
    pub reads_input: bool,
    /// The standard input that its arguments are bound with.
    pub feed: Feed,
    /// The variables that its program gets as they are.
    pub variables: Vec<(String, String)>,
    /// The command as it is written.
    pub text: String,
    /// What joins it to the next one; `None` for the last.
    pub then: Option<&'static str>,
}

/// What a command is.
#[derive(Clone, Debug)]
pub enum ReadCall<'a> {
    /// A call of a tool.
    Tool(Box<Reading<'a>>),
    /// A builtin, by its name.
    Builtin(Builtin),
}

/// What makes two commands the same: words, variables, directory, input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CommandKey {
    /// The words.
    pub words: Vec<String>,
    /// The variables before it, with those that were exported.
    pub variables: Vec<(String, String)>,
    /// Where it runs, from where the line starts.
    pub directory: Option<String>,
    /// Its standard input.
    pub feed: Feed,
}

/// The standard input of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Feed {
    /// None.
    #[default]
    Nothing,
    /// A text that is known.
    Text(String),
    /// A pipe or a file.
    Pipe,
    /// The input of what surrounds it, which it need not read.
    Inherited,
}

impl Feed {
    /// Returns it as an input of calls.
    pub(crate) fn input(&self) -> Input<'_> {
        match self {
            Self::Nothing => Input::Nothing,
            Self::Text(text) => Input::Text(text),
            Self::Pipe | Self::Inherited => Input::Pipe,
        }
    }
}

impl<'a> ReadLine<'a> {
    /// Returns the calls of tools, those of programs and of files.
    pub fn calls(&self) -> impl Iterator<Item = (&ReadCommand<'a>, &Reading<'a>)> {
        self.commands.iter().filter_map(|command| match &command.call {
            ReadCall::Tool(reading) => Some((command, &**reading)),
            ReadCall::Builtin(_) => None,
        })
    }
}

/// Reads a command line with the tools of an index. `directory` is where it starts; that of this process if `None`.
///
/// # Errors
/// The first part that is not understood, or that no tool takes.
pub fn read_line<'a>(
    index: &'a ToolIndex,
    line: &str,
    directory: Option<&str>,
    context: LineContext<'_>,
) -> Result<ReadLine<'a>, UnreadLine> {
    let script = parse(line).map_err(|error| LineError::of_syntax(line, error))?;
    if script.list.items.is_empty() {
        let remedy = "write a program with its arguments";
        return Err(LineError::at(line, 0..line.len(), "there is no command", remedy).into());
    }

    let feed = match context.input {
        Input::Nothing => Feed::Nothing,
        Input::Text(text) => Feed::Text(text.to_owned()),
        Input::Pipe => Feed::Inherited,
    };
    let mut state = State { name: "climax".to_owned(), positions: Some(Vec::new()), ..State::default() };
    // Its value is made for the session.
    state.set("TMPDIR", Value::Open);
    let mut survey = Survey {
        index,
        line,
        context,
        state,
        directory: Place::Known(directory.map(str::to_owned)),
        commands: Vec::new(),
        depth: 0,
    };
    survey.list(&script.list, &feed)?;
    let commands = survey.commands;
    Ok(ReadLine { script, commands })
}

/// Returns the directories of a line of `cd DIR` commands only, in order; `None` for every other line.
pub fn directory_change(line: &str, env: climax_catalog::expansion::Lookup<'_>) -> Option<Vec<String>> {
    let script = parse(line).ok()?;
    let directory = |chain: &Chain| {
        let Body::Simple(simple) = &chain.first.commands.first()?.body else { return None };
        let is_alone = chain.rest.is_empty() && chain.first.commands.len() == 1 && chain.background.is_none();
        match simple.words.as_slice() {
            [cd, directory] if is_alone && cd.plain() == Some("cd") => directory.literal(),
            _ => None,
        }
    };
    let chains = script.list.items.iter().flat_map(|chain| {
        let rest = chain.rest.iter().map(|(_, pipeline)| pipeline);
        std::iter::once(&chain.first).chain(rest)
    });
    let whole = |pipeline: &Pipeline| {
        directory(&Chain { first: pipeline.clone(), rest: Vec::new(), background: None })
            .map(|directory| climax_catalog::expansion::home(&directory, env))
    };
    let found: Option<Vec<String>> = chains.map(whole).collect();
    found.filter(|found| !found.is_empty())
}

/// Returns the directory to which `cd` leads from another.
pub(crate) fn changed(from: Option<&str>, to: &str) -> String {
    Path::new(from.unwrap_or_default()).join(to).display().to_string()
}

/// Returns why a line may not set a variable; `None` if it may.
pub(crate) fn unsettable(name: &str) -> Option<(String, String)> {
    let is_held = UNSETTABLE.contains(&name)
        || name.starts_with("LD_")
        || name.starts_with("DYLD_")
        || name.starts_with("BASH_FUNC");
    is_held.then(|| {
        (
            format!("a line cannot set `{name}`"),
            "it decides which programs run or what they load; leave it out".to_owned(),
        )
    })
}

/// Where a command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Known(Option<String>),
    Open,
}

struct Survey<'a, 'c> {
    index: &'a ToolIndex,
    line: &'c str,
    context: LineContext<'c>,
    state: State,
    directory: Place,
    commands: Vec<ReadCommand<'a>>,
    /// The number of texts of `sh -c` around this one.
    depth: usize,
}

/// What lies outside of a line before it runs.
struct Outside<'o, 'c> {
    context: LineContext<'c>,
    directory: &'o Place,
    /// Whether globs stay as they are.
    keeps_globs: bool,
}

impl Surroundings for Outside<'_, '_> {
    fn variable(&self, name: &str) -> Option<String> {
        READABLE.contains(&name).then(|| (self.context.env)(name)).flatten()
    }

    fn paths(&self, pattern: &str) -> Result<Vec<String>, String> {
        match self.directory {
            Place::Known(directory) if !self.keeps_globs => (self.context.glob)(pattern, directory.as_deref()),
            _ => Ok(Vec::new()),
        }
    }

    fn substitution(&self, _: &Range<usize>) -> Substituted {
        Substituted::Open
    }
}

/// What stays the same for all fields of a command.
struct Fields {
    written: Vec<Field>,
    fields: Vec<Field>,
    places: Vec<Range<usize>>,
}

impl<'a> Survey<'a, '_> {
    fn error(&self, range: &Range<usize>, problem: impl Into<String>, remedy: impl Into<String>) -> UnreadLine {
        LineError::at(self.line, range.clone(), problem, remedy).into()
    }

    fn list(&mut self, list: &List, feed: &Feed) -> Result<(), UnreadLine> {
        for chain in &list.items {
            if let Some(place) = &chain.background {
                let remedy = "leave `&` out; the line waits for its commands";
                return Err(self.error(place, "jobs in the background are not served", remedy));
            }
            self.pipeline(&chain.first, feed)?;
            for (joint, pipeline) in &chain.rest {
                self.joined(if *joint == Joint::And { "&&" } else { "||" });
                let before = (self.state.clone(), self.directory.clone());
                self.pipeline(pipeline, feed)?;
                if *joint == Joint::Or {
                    self.merge(before);
                }
            }
            self.joined(";");
        }
        Ok(())
    }

    /// Says what joins the last command to the next.
    fn joined(&mut self, with: &'static str) {
        if let Some(last) = self.commands.last_mut() {
            last.then = last.then.or(Some(with));
        }
    }

    /// Makes open what a branch may have changed.
    fn merge(&mut self, (state, directory): (State, Place)) {
        let names: BTreeSet<String> = self.state.variables.keys().chain(state.variables.keys()).cloned().collect();
        for name in names {
            if self.state.variables.get(&name) != state.variables.get(&name) {
                self.state.set(&name, Value::Open);
            }
        }
        if self.directory != directory {
            self.directory = Place::Open;
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, feed: &Feed) -> Result<(), UnreadLine> {
        if let [command] = pipeline.commands.as_slice() {
            self.command(command, feed)?;
        } else {
            for (at, command) in pipeline.commands.iter().enumerate() {
                let feed = if at == 0 { feed } else { &Feed::Pipe };
                self.subshell(|survey| survey.command(command, feed))?;
                if at + 1 < pipeline.commands.len() {
                    self.joined("|");
                }
            }
        }
        self.state.status = None;
        Ok(())
    }

    /// Reads something whose variables and directory stay its own.
    fn subshell(&mut self, read: impl FnOnce(&mut Self) -> Result<(), UnreadLine>) -> Result<(), UnreadLine> {
        let before = (self.state.clone(), self.directory.clone());
        let read = read(self);
        (self.state, self.directory) = before;
        read
    }

    fn command(&mut self, command: &Command, feed: &Feed) -> Result<(), UnreadLine> {
        let own = self.redirections(&command.redirections)?;
        let feed = own.as_ref().unwrap_or(feed);
        match &command.body {
            Body::Simple(simple) => return self.simple(command, simple, feed, own.is_some()),
            Body::Subshell(list) => self.subshell(|survey| survey.list(list, &inherited(feed))),
            Body::Group(list) => self.list(list, &inherited(feed)),
            Body::If(command) => {
                let before = (self.state.clone(), self.directory.clone());
                for branch in &command.branches {
                    self.list(&branch.condition, &inherited(feed))?;
                    self.list(&branch.body, &inherited(feed))?;
                    self.merge(before.clone());
                }
                command.otherwise.as_ref().map_or(Ok(()), |list| self.list(list, &inherited(feed)))?;
                self.merge(before);
                Ok(())
            }
            Body::For(command) => self.for_loop(command, &inherited(feed)),
            Body::Count(count) => {
                let parts = [&count.start, &count.condition, &count.step];
                self.opened(&count.body, parts.into_iter().flatten(), &command.range)?;
                self.body(&count.body, &inherited(feed))
            }
            Body::While(command) => {
                self.open_assigned(&command.condition);
                self.open_assigned(&command.body);
                let before = (self.state.clone(), self.directory.clone());
                self.list(&command.condition, &inherited(feed))?;
                self.list(&command.body, &inherited(feed))?;
                self.merge(before);
                Ok(())
            }
            Body::Case(case) => {
                self.substitutions(std::slice::from_ref(&case.word))?;
                let before = (self.state.clone(), self.directory.clone());
                for arm in &case.arms {
                    self.list(&arm.body, &inherited(feed))?;
                    self.merge(before.clone());
                }
                Ok(())
            }
            Body::Arithmetic(expression) => {
                let mut state = std::mem::take(&mut self.state);
                let outside = self.outside(false);
                let done = Expander { state: &mut state, surroundings: &outside }.arithmetic(expression).map(drop);
                let refused = done.map_err(|error| self.unexpanded(&command.range, error));
                self.state = state;
                refused
            }
            Body::Condition(condition) => {
                let mut words = Vec::new();
                words_of_condition(condition, &mut words);
                self.substitutions(words)
            }
        }
    }

    /// Makes open what a loop with arithmetic may change.
    fn opened<'p>(
        &mut self,
        body: &List,
        parts: impl Iterator<Item = &'p climax_shell::Arithmetic>,
        range: &Range<usize>,
    ) -> Result<(), UnreadLine> {
        for part in parts {
            let mut names = BTreeSet::new();
            assigned_in_arithmetic(part, &mut names);
            for name in names {
                self.settable(range, &name)?;
                self.state.set(&name, Value::Open);
            }
        }
        self.open_assigned(body);
        Ok(())
    }

    fn body(&mut self, body: &List, feed: &Feed) -> Result<(), UnreadLine> {
        let before = (self.state.clone(), self.directory.clone());
        self.list(body, feed)?;
        self.merge(before);
        Ok(())
    }

    fn for_loop(&mut self, command: &climax_shell::For, feed: &Feed) -> Result<(), UnreadLine> {
        self.settable(&(0..0), &command.name)?;
        let words = command.words.as_deref().unwrap_or_default();
        self.substitutions(words)?;
        let values = match &command.words {
            Some(words) => Some(self.fields(words, &(0..0))?.fields),
            None => None,
        };
        let known = values.filter(|values| {
            let is_first_loop = self.commands.len() + values.len() * 4 < MAX_COMMANDS;
            values.iter().all(|value| !value.is_open) && values.len() <= MAX_TURNS && is_first_loop
        });
        match known {
            Some(values) => {
                for value in values {
                    self.state.set(&command.name, Value::Known(value.text));
                    self.list(&command.body, feed)?;
                }
                Ok(())
            }
            None => {
                self.open_assigned(&command.body);
                self.state.set(&command.name, Value::Open);
                self.body(&command.body, feed)
            }
        }
    }

    /// Makes open what the commands of a list set, since they may run any number of times.
    fn open_assigned(&mut self, list: &List) {
        let mut names = BTreeSet::new();
        let changes = assigned(list, &mut names);
        for name in names {
            self.state.set(&name, Value::Open);
        }
        if changes {
            self.directory = Place::Open;
        }
    }

    fn outside(&self, keeps_globs: bool) -> Outside<'_, '_> {
        Outside { context: self.context, directory: &self.directory, keeps_globs }
    }

    /// The error of words that are not expanded.
    fn unexpanded(&self, range: &Range<usize>, error: ExpandError<'_>) -> UnreadLine {
        match error {
            ExpandError::Refused(mut error) => {
                if error.range.is_empty() {
                    error.range = range.clone();
                }
                LineError::of_syntax(self.line, error).into()
            }
            ExpandError::Failed(message) => self.error(range, message, "give the variable a value"),
            ExpandError::Due(_, place) => self.error(&place, "this command cannot run first", "write its result out"),
        }
    }

    /// Expands words as far as they are known.
    fn fields(&mut self, words: &[Word], range: &Range<usize>) -> Result<Fields, UnreadLine> {
        let expanded = |survey: &Self, state: &mut State, keeps: bool| {
            let outside = survey.outside(keeps);
            Expander { state, surroundings: &outside }.fields(words).map_err(|error| survey.unexpanded(range, error))
        };
        let written = written(words, &self.state, self.context).map_err(|error| self.unexpanded(range, error))?;
        let mut state = std::mem::take(&mut self.state);
        let fields = expanded(self, &mut state, false);
        self.state = state;
        Ok(Fields { written, fields: fields?, places: words.iter().map(|word| word.range.clone()).collect() })
    }

    /// Expands a word that stays one.
    fn text(&mut self, word: &Word) -> Result<Field, UnreadLine> {
        let mut state = std::mem::take(&mut self.state);
        let outside = self.outside(false);
        let field = Expander { state: &mut state, surroundings: &outside }.text(word);
        let field = field.map_err(|error| self.unexpanded(&word.range, error));
        self.state = state;
        field
    }

    /// Reads the commands in words.
    fn substitutions<'w>(&mut self, words: impl IntoIterator<Item = &'w Word>) -> Result<(), UnreadLine> {
        for word in words {
            let mut lists = Vec::new();
            word.parts.iter().for_each(|part| lists_of_part(part, &mut lists));
            for list in lists {
                self.subshell(|survey| survey.list(list, &Feed::Nothing))?;
            }
        }
        Ok(())
    }

    /// Reads redirections. Returns the standard input if one gives it.
    fn redirections(&mut self, redirections: &[Redirection]) -> Result<Option<Feed>, UnreadLine> {
        let mut feed = None;
        for redirection in redirections {
            match &redirection.target {
                Target::Same(_) => {}
                Target::Closed if redirection.descriptor == Descriptor::Input => feed = Some(Feed::Nothing),
                Target::Closed => {}
                Target::Text(word) => {
                    self.substitutions([word])?;
                    let text = self.text(word)?;
                    feed = Some(if text.is_open { Feed::Pipe } else { Feed::Text(text.text) });
                }
                Target::Read(word) => {
                    feed = Some(Feed::Pipe);
                    if self.file(redirection, word, None)? {
                        feed = Some(Feed::Nothing);
                    }
                }
                Target::Write(word) => {
                    self.file(redirection, word, Some(false))?;
                }
                Target::Append(word) => {
                    self.file(redirection, word, Some(true))?;
                }
            }
        }
        Ok(feed)
    }

    /// Reads the file of a redirection as a call; whether it is the null device. `appends` is `None` for a file that is read.
    fn file(&mut self, redirection: &Redirection, word: &Word, appends: Option<bool>) -> Result<bool, UnreadLine> {
        self.substitutions([word])?;
        let field = self.text(word)?;
        if !field.is_open && files::is_stream(&field.text) {
            return Ok(field.text == files::NULL);
        }
        let is_open = field.is_open || self.directory == Place::Open;
        let directory = if let Place::Known(directory) = &self.directory { directory.clone() } else { None };
        let Some(tool) = (match appends {
            None => files::reading(),
            Some(_) => files::writing(),
        }) else {
            return Ok(false);
        };
        let path = changed(directory.as_deref(), &field.text);
        let mut arguments = Map::new();
        arguments.insert("path".to_owned(), Json::from(path.clone()));
        if let Some(appends) = appends {
            arguments
                .insert("mode".to_owned(), <&str>::from((self.context.write_mode)(Path::new(&path), appends)).into());
        }
        let text = self.line.get(redirection.range.clone()).unwrap_or_default().to_owned();
        let key = CommandKey { words: vec![tool.name().to_owned(), path], directory, ..CommandKey::default() };
        let call = ReadCall::Tool(Box::new(native_reading(tool, arguments)));
        self.add(
            ReadCommand {
                call,
                is_open,
                key,
                feed: Feed::Nothing,
                reads_input: false,
                variables: Vec::new(),
                text,
                then: None,
            },
            &redirection.range,
        )?;
        Ok(false)
    }

    fn add(&mut self, command: ReadCommand<'a>, range: &Range<usize>) -> Result<(), UnreadLine> {
        if self.commands.len() == MAX_COMMANDS {
            let problem = format!("the line has more than {MAX_COMMANDS} commands");
            return Err(self.error(range, problem, "split it into several lines"));
        }
        self.commands.push(command);
        Ok(())
    }

    fn settable(&self, range: &Range<usize>, name: &str) -> Result<(), UnreadLine> {
        match unsettable(name) {
            None => Ok(()),
            Some((problem, remedy)) => Err(self.error(range, problem, remedy)),
        }
    }

    fn simple(&mut self, command: &Command, simple: &Simple, feed: &Feed, is_own: bool) -> Result<(), UnreadLine> {
        self.substitutions(simple.assignments.iter().map(|assignment| &assignment.value))?;
        self.substitutions(&simple.words)?;
        let mut variables = Vec::new();
        let mut is_open = false;
        for assignment in &simple.assignments {
            let value = self.text(&assignment.value)?;
            is_open |= value.is_open;
            let is_reading = assignment.name == "IFS" && simple.words.first().and_then(Word::plain) == Some("read");
            if !is_reading {
                self.settable(&assignment.range, &assignment.name)?;
            }
            if simple.words.is_empty() {
                let known = if value.is_open || assignment.appends { Value::Open } else { Value::Known(value.text) };
                self.state.set(&assignment.name, known);
            } else {
                variables.push((assignment.name.clone(), value.text));
            }
        }
        if simple.words.is_empty() {
            return Ok(());
        }

        let fields = self.fields(&simple.words, &command.range)?;
        self.expanded(command, &fields, (&variables, is_open), feed, is_own)
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
        let form = Form::of(&fields.fields).map_err(|(problem, remedy)| self.error(&command.range, problem, remedy))?;
        match form {
            Form::Builtin(builtin, words) => self.builtin(command, builtin, words),
            Form::Program(words) => {
                let skipped = fields.fields.len() - words.len();
                let written = &fields.written[skipped.min(fields.written.len())..];
                self.program(command, (written, words, &fields.places), (variables, is_open), feed, is_own)
            }
            Form::Text { text, arguments, .. } => self.nested(command, &text.text, arguments, feed),
            Form::Xargs(Xargs { command: words, replaced, .. }) => {
                if words.is_empty() {
                    return Ok(());
                }
                let words = with_value(words, replaced.as_deref());
                let known = Fields { written: words.clone(), fields: words, places: fields.places.clone() };
                self.open_command(command, &known, variables)
            }
            Form::Find(Find { find, command: words, .. }) => {
                let mut find = find.to_vec();
                find.push(literal("-print0"));
                self.program(command, (&find, &find, &fields.places), (variables, is_open), feed, is_own)?;
                self.joined("|");
                let words = with_value(words, Some("{}"));
                let known = Fields { written: words.clone(), fields: words, places: fields.places.clone() };
                self.open_command(command, &known, variables)
            }
        }
    }

    /// Reads a command that gets values which are not known yet.
    fn open_command(
        &mut self,
        command: &Command,
        fields: &Fields,
        variables: &[(String, String)],
    ) -> Result<(), UnreadLine> {
        self.expanded(command, fields, (variables, true), &Feed::Nothing, false)
    }

    /// Reads the commands of a text.
    fn nested(&mut self, command: &Command, text: &str, words: &[Field], feed: &Feed) -> Result<(), UnreadLine> {
        if self.depth == MAX_TEXTS {
            return Err(self.error(
                &command.range,
                "too many texts of `sh -c` stand in one another",
                "write the commands out",
            ));
        }
        let script = parse(text).map_err(|error| {
            let problem = format!("in the text of `-c`, at byte {}: {}", error.range.start, error.problem);
            self.error(&command.range, problem, error.remedy)
        })?;
        let positions = words.get(1..).unwrap_or_default();
        let is_open = positions.iter().any(|word| word.is_open);
        let exported = self.state.variables.iter().filter(|(name, variable)| variable.is_exported || *name == "TMPDIR");
        let state = State {
            variables: exported.map(|(name, variable)| (name.clone(), variable.clone())).collect(),
            name: words.first().map_or_else(|| "sh".to_owned(), |word| word.text.clone()),
            positions: (!is_open).then(|| positions.iter().map(|word| word.text.clone()).collect()),
            ..State::default()
        };
        let mut inner = Survey {
            index: self.index,
            line: text,
            context: self.context,
            state,
            directory: self.directory.clone(),
            commands: std::mem::take(&mut self.commands),
            depth: self.depth + 1,
        };
        let read = inner.list(&script.list, &inherited(feed));
        self.commands = std::mem::take(&mut inner.commands);
        read
    }

    fn builtin(&mut self, command: &Command, builtin: Builtin, words: &[Field]) -> Result<(), UnreadLine> {
        let texts: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
        match builtin {
            Builtin::ChangeDirectory => {
                let operands: Vec<&Field> = words.iter().filter(|word| word.text != "--").collect();
                self.directory = match (operands.as_slice(), &self.directory) {
                    ([], _) => match (self.context.env)("HOME") {
                        Some(home) => Place::Known(Some(home)),
                        None => Place::Open,
                    },
                    ([to], Place::Known(from)) if !to.is_open && to.text != "-" => {
                        Place::Known(Some(changed(from.as_deref(), &to.text)))
                    }
                    ([to], _) if !to.is_open && to.text.starts_with('/') => Place::Known(Some(to.text.clone())),
                    ([_], _) => Place::Open,
                    _ => {
                        return Err(self.error(
                            &command.range,
                            "`cd` takes one directory",
                            "write `cd DIR && COMMAND`",
                        ));
                    }
                };
            }
            Builtin::Read => {
                for name in words.iter().filter(|word| !word.text.starts_with('-')) {
                    self.settable(&command.range, &name.text)?;
                    self.state.set(&name.text, Value::Open);
                }
                if words.iter().all(|word| word.text.starts_with('-')) {
                    self.state.set("REPLY", Value::Open);
                }
            }
            Builtin::Export => {
                for word in words {
                    let (name, value) = word
                        .text
                        .split_once('=')
                        .map_or((word.text.as_str(), None), |(name, value)| (name, Some(value)));
                    self.settable(&command.range, name)?;
                    if let Some(value) = value {
                        let value = if word.is_open { Value::Open } else { Value::Known(value.to_owned()) };
                        self.state.set(name, value);
                    }
                    if let Some(variable) = self.state.variables.get_mut(name) {
                        variable.is_exported = true;
                    }
                }
            }
            Builtin::Unset => {
                for word in words.iter().filter(|word| !word.text.starts_with('-')) {
                    self.settable(&command.range, &word.text)?;
                    self.state.set(&word.text, Value::Unset);
                }
            }
            Builtin::Shift | Builtin::Set if texts.iter().any(|text| text == "--" || !text.starts_with(['-', '+'])) => {
                self.state.positions = None;
            }
            Builtin::Source => {
                let is_activation = matches!(words, [path] if path.text.ends_with("/activate") && !path.is_open);
                if !is_activation {
                    let remedy = "write the commands themselves; `source DIR/bin/activate` is read";
                    return Err(self.error(&command.range, "commands of files are not read", remedy));
                }
                for name in ["VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT"] {
                    self.state.set(name, Value::Open);
                }
            }
            _ => {}
        }

        let text = self.line.get(command.range.clone()).unwrap_or_default().to_owned();
        let is_open = words.iter().any(|word| word.is_open);
        let key = CommandKey { words: texts, ..CommandKey::default() };
        let call = ReadCall::Builtin(builtin);
        self.add(
            ReadCommand {
                call,
                is_open,
                key,
                feed: Feed::Nothing,
                reads_input: false,
                variables: Vec::new(),
                text,
                then: None,
            },
            &command.range,
        )
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
        let expanded =
            ExpandedCommand { line: self.line, range: &command.range, places, written, fields, variables: &all };
        let read = read_fed(self.index, expanded, (feed, is_own), self.context)?;

        let directory = match &self.directory {
            Place::Known(directory) => directory.clone(),
            Place::Open => None,
        };
        let is_open = is_open || self.directory == Place::Open || fields.iter().any(|field| field.is_open);
        let words = fields.iter().map(|field| field.text.clone()).collect();
        let key = CommandKey { words, variables: all.clone(), directory, feed: feed.clone() };
        let text = self.line.get(command.range.clone()).unwrap_or_default().to_owned();
        let FedCommand { reading, reads_input, feed, variables } = read;
        let call = ReadCall::Tool(Box::new(reading));
        self.add(ReadCommand { call, is_open, key, feed, reads_input, variables, text, then: None }, &command.range)
    }
}

/// A command, read with the standard input and the variables that it has.
#[derive(Clone, Debug)]
pub(crate) struct FedCommand<'a> {
    pub(crate) reading: Reading<'a>,
    /// Whether it reads its standard input.
    pub(crate) reads_input: bool,
    /// The input that its arguments are bound with: none where the operand `-` names it.
    pub(crate) feed: Feed,
    /// The variables that are no arguments, which its program gets as they are.
    pub(crate) variables: Vec<(String, String)>,
}

/// Reads a command with the standard input that it has.
///
/// A command need not read what it inherits, or what stands before the line. Every program may get harmless variables, and
/// one in a cage all.
pub(crate) fn read_fed<'a>(
    index: &'a ToolIndex,
    command: ExpandedCommand<'_>,
    (feed, is_own): (&Feed, bool),
    context: LineContext<'_>,
) -> Result<FedCommand<'a>, UnreadLine> {
    let (harmless, own): (Vec<_>, Vec<_>) = command.variables.iter().cloned().partition(|(name, _)| is_harmless(name));
    // Programs of many files take `-` for standard input.
    let reads_dash = command.fields.iter().any(|field| field.text == "-" && field.origin == Origin::Literal);
    let read_with = |variables: &[(String, String)]| {
        let command = ExpandedCommand { variables, ..command };
        let read = |input| read_command(index, command, input, context);
        match (read(feed.input()), feed) {
            (Ok(reading), feed) => Ok((reading, *feed != Feed::Nothing, feed.clone())),
            (Err(_), Feed::Inherited) if !is_own => {
                read(Input::Nothing).map(|reading| (reading, reads_dash, Feed::Nothing))
            }
            // Without an input it reads the null device, as in a shell that has none.
            (Err(error), Feed::Nothing) => {
                read(Input::Pipe).map(|reading| (reading, false, Feed::Pipe)).map_err(|_| error)
            }
            (Err(error), _) if reads_dash => {
                read(Input::Nothing).map(|reading| (reading, true, Feed::Nothing)).map_err(|_| error)
            }
            (Err(error), _) => Err(error),
        }
    };

    match read_with(&own) {
        Ok((reading, reads_input, feed)) => Ok(FedCommand { reading, reads_input, feed, variables: harmless }),
        Err(error) if own.is_empty() => Err(error),
        Err(error) => match read_with(&[]) {
            Ok((reading, reads_input, feed)) if runs_project_code(&reading) => {
                Ok(FedCommand { reading, reads_input, feed, variables: command.variables.to_vec() })
            }
            Ok(_) | Err(_) => Err(error),
        },
    }
}

/// Whether a tool runs code of the directory anyway, and may get any variable for it.
fn runs_project_code(reading: &Reading<'_>) -> bool {
    reading.tool.needs().is_some_and(|needs| needs.cage == Some(Cage::Workspace))
}

/// The fields of words with a placeholder for each expansion, and globs as they stand.
pub(crate) fn written<'w>(
    words: &'w [Word],
    state: &State,
    context: LineContext<'_>,
) -> Result<Vec<Field>, ExpandError<'w>> {
    if words.iter().all(|word| word.plain().is_some()) {
        let field = |(from, word): (usize, &Word)| Field {
            text: word.plain().unwrap_or_default().to_owned(),
            origin: Origin::Literal,
            is_open: false,
            from,
        };
        return Ok(words.iter().enumerate().map(field).collect());
    }
    let mut open = State { positions: None, status: None, ..state.clone() };
    for variable in open.variables.values_mut() {
        variable.value = Value::Open;
    }
    for name in READABLE.iter().chain(&["PWD", "OLDPWD"]) {
        open.set(name, Value::Open);
    }
    let outside = Outside { context, directory: &Place::Open, keeps_globs: true };
    Expander { state: &mut open, surroundings: &outside }.fields(words)
}

/// The reading of a call of a native tool.
pub(crate) fn native_reading(tool: ResolvedTool<'static>, arguments: Map<String, Json>) -> Reading<'static> {
    Reading {
        tool,
        arguments,
        repeated: Vec::new(),
        typed: TypedWords::default(),
        operands: Vec::new(),
        started: None,
        unknown: None,
    }
}

/// The input of what stands in a command with this input.
fn inherited(feed: &Feed) -> Feed {
    if *feed == Feed::Nothing { Feed::Nothing } else { Feed::Inherited }
}

fn literal(text: &str) -> Field {
    Field { text: text.to_owned(), origin: Origin::Literal, is_open: false, from: 0 }
}

/// The words of a command with an open value in the place of `replaced`, or behind them.
fn with_value(words: &[Field], replaced: Option<&str>) -> Vec<Field> {
    let value = |text: String| Field { text, origin: Origin::Value, is_open: true, from: 0 };
    let placeholder = climax_shell::PLACEHOLDER;
    let mut all: Vec<Field> = words
        .iter()
        .map(|word| match replaced.filter(|replaced| word.text.contains(replaced)) {
            Some(replaced) if word.text == replaced => value(placeholder.to_owned()),
            Some(replaced) => {
                let origin = if word.text.starts_with(replaced) { Origin::Value } else { Origin::Mixed };
                Field { text: word.text.replace(replaced, placeholder), origin, is_open: true, from: 0 }
            }
            None => word.clone(),
        })
        .collect();
    if replaced.is_none() {
        all.push(value(placeholder.to_owned()));
    }
    all
}

/// Finds the lists in a part of a word.
fn lists_of_part<'p>(part: &'p Part, lists: &mut Vec<&'p List>) {
    match part {
        Part::Text(_) | Part::Quoted(_) => {}
        Part::Double(parts) => parts.iter().for_each(|part| lists_of_part(part, lists)),
        Part::Substitution(list, _) => lists.push(list),
        Part::Parameter(parameter, _) => {
            let words = parameter.operation.words();
            words.into_iter().flat_map(|word| &word.parts).for_each(|part| lists_of_part(part, lists));
        }
        Part::Arithmetic(expression, _) => {
            expression.parts().into_iter().for_each(|part| lists_of_part(part, lists));
        }
    }
}

fn words_of_condition<'w>(condition: &'w climax_shell::Condition, words: &mut Vec<&'w Word>) {
    use climax_shell::Condition;
    match condition {
        Condition::Word(word) | Condition::Unary(_, word) => words.push(word),
        Condition::Binary(_, one, other) => words.extend([one, other]),
        Condition::Not(condition) => words_of_condition(condition, words),
        Condition::Logic(_, one, other) => {
            words_of_condition(one, words);
            words_of_condition(other, words);
        }
    }
}

fn assigned_in_arithmetic(expression: &climax_shell::Arithmetic, names: &mut BTreeSet<String>) {
    names.extend(expression.assigned());
}

/// Finds the variables that commands set; whether they change the directory.
fn assigned(list: &List, names: &mut BTreeSet<String>) -> bool {
    let mut changes = false;
    for chain in &list.items {
        for pipeline in std::iter::once(&chain.first).chain(chain.rest.iter().map(|(_, pipeline)| pipeline)) {
            for command in &pipeline.commands {
                changes |= assigned_by(&command.body, names);
            }
        }
    }
    changes
}

fn assigned_by(body: &Body, names: &mut BTreeSet<String>) -> bool {
    match body {
        Body::Simple(simple) => {
            if simple.words.is_empty() {
                names.extend(simple.assignments.iter().map(|assignment| assignment.name.clone()));
            }
            let first = simple.words.first().and_then(Word::plain);
            if matches!(first, Some("read" | "export" | "unset")) {
                let literals = simple.words[1..].iter().filter_map(|word| {
                    word.assignment().map(|assignment| assignment.name).or_else(|| word.plain().map(str::to_owned))
                });
                names.extend(literals.filter(|name| !name.starts_with('-')));
            }
            for word in &simple.words {
                for part in &word.parts {
                    if let Part::Arithmetic(expression, _) = part {
                        assigned_in_arithmetic(expression, names);
                    }
                }
            }
            first == Some("cd")
        }
        Body::Subshell(_) | Body::Condition(_) => false,
        Body::Group(list) => assigned(list, names),
        Body::If(command) => {
            let mut changes = command.otherwise.as_ref().is_some_and(|list| assigned(list, names));
            for branch in &command.branches {
                changes |= assigned(&branch.condition, names);
                changes |= assigned(&branch.body, names);
            }
            changes
        }
        Body::For(command) => {
            names.insert(command.name.clone());
            assigned(&command.body, names)
        }
        Body::Count(count) => {
            for part in [&count.start, &count.condition, &count.step].into_iter().flatten() {
                assigned_in_arithmetic(part, names);
            }
            assigned(&count.body, names)
        }
        Body::While(command) => {
            let changes = assigned(&command.condition, names);
            assigned(&command.body, names) || changes
        }
        Body::Case(case) => case.arms.iter().fold(false, |changes, arm| assigned(&arm.body, names) || changes),
        Body::Arithmetic(expression) => {
            assigned_in_arithmetic(expression, names);
            false
        }
    }
}
