//! Reads all commands of a line before any runs, as far as its words are known by then.
//!
//! It walks the line once: a loop over known words is walked for each of them, every branch is walked, and what depends on
//! output is open. Whoever runs the line reads each command again, with what its words have become.

mod redirections;
mod simple;

pub(crate) use redirections::{file_call, native_reading};

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use climax_catalog::ToolIndex;
use climax_shell::{
    Body, Chain, Command, ExpandError, Expander, Field, Joint, List, Origin, Pipeline, Script, State, Substituted,
    Surroundings, Value, Word, background_number, parse,
};

use super::command_words::Undescribed;
use super::error::LineError;
use super::finds::{assigned, assigned_in_arithmetic, first_state};
use super::read_line::{Feed, ReadCommand, ReadLine};
use super::resolve::{LineContext, UnreadLine};
use super::variables::{COMPUTED, READABLE, unsettable};
use crate::call::arguments::Input;

/// Maximum commands of a line, those of texts and of each turn of known loops included.
pub(crate) const MAX_COMMANDS: usize = 1_000;

/// Most known words for which the body of a loop is read once each.
const MAX_TURNS: usize = 32;

/// Maximum texts of `sh -c` in one another.
pub(crate) const MAX_TEXTS: usize = 4;

/// Adds to a remedy that a shell in a cage reads what is not read here, if lines may start one.
fn or_by_a_shell(remedy: String, context: LineContext<'_>) -> String {
    match (context.unknown)(Undescribed::Program(&["bash"])) {
        Some(_) => format!(
            "{remedy}; or let a shell run the whole in a cage, by `bash -c '…'`, which writes in the project with \
             `cage: workspace` (`climax sh --cage workspace`)"
        ),
        None => remedy,
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
    let script = parse(line).map_err(|error| {
        let is_of_shell = error.is_of_shell;
        let error = LineError::of_syntax(line, error);
        if is_of_shell { LineError { remedy: or_by_a_shell(error.remedy, context), ..error } } else { error }
    })?;
    // A line that is a comment does nothing.
    if script.list.items.is_empty() && !line.trim_start().starts_with('#') {
        let remedy = "write a program with its arguments";
        return Err(LineError::at(line, 0..line.len(), "there is no command", remedy).into());
    }

    let feed = match context.input {
        Input::Nothing => Feed::Nothing,
        Input::Text(text) if is_one_pipeline(&script) => Feed::Text(text.to_owned()),
        // Of several commands each reads what those before it have left.
        Input::Text(_) | Input::Pipe => Feed::Inherited,
    };
    let mut state = first_state(&script, context.env);
    for name in COMPUTED {
        state.set(name, Value::Open);
    }
    let mut survey = Survey {
        index,
        line,
        context,
        state,
        directory: Place::Known(directory.map(str::to_owned)),
        commands: Vec::new(),
        started: 0,
        depth: 0,
        around: Feed::Nothing,
        may_not_run: false,
    };
    survey.list(&script.list, &feed)?;
    let Survey { commands, started, .. } = survey;
    Ok(ReadLine { script, commands, has_background: started > 0 })
}

/// Whether a line is one pipeline, whose first command alone reads the input of the line.
pub(crate) fn is_one_pipeline(script: &Script) -> bool {
    matches!(script.list.items.as_slice(), [chain] if chain.rest.is_empty() && chain.background.is_none())
}

/// Returns the directories of a line of `cd DIR` commands only, in order; `None` for every other line.
pub fn directory_change(line: &str, env: climax_catalog::expansion::Lookup<'_>) -> Option<Vec<String>> {
    let script = parse(line).ok()?;
    if script.list.items.iter().any(|chain| chain.background.is_some()) {
        return None;
    }
    let directory = |pipeline: &Pipeline| {
        let [command] = pipeline.commands.as_slice() else { return None };
        let Body::Simple(simple) = &command.body else { return None };
        match simple.words.as_slice() {
            [cd, directory] if cd.plain() == Some("cd") => directory.literal(),
            _ => None,
        }
    };
    let chains = script.list.items.iter().flat_map(|chain| {
        let rest = chain.rest.iter().map(|(_, pipeline)| pipeline);
        std::iter::once(&chain.first).chain(rest)
    });
    let whole =
        |pipeline: &Pipeline| directory(pipeline).map(|directory| climax_catalog::expansion::home(&directory, env));
    let found: Option<Vec<String>> = chains.map(whole).collect();
    found.filter(|found| !found.is_empty())
}

/// Returns the directory to which `cd` leads from another: `..` takes back a name, also one of a link.
///
/// Source: POSIX.1-2024, `cd`, step 8.
pub(crate) fn changed(from: Option<&str>, to: &str) -> String {
    let mut path = PathBuf::new();
    for component in Path::new(from.unwrap_or_default()).join(to).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if path.file_name().is_some() => drop(path.pop()),
            Component::ParentDir if path.has_root() => {}
            component => path.push(component),
        }
    }
    if path.as_os_str().is_empty() { ".".to_owned() } else { path.display().to_string() }
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
    /// The number of commands in the background.
    started: u32,
    /// The number of texts of `sh -c` around this one.
    depth: usize,
    /// The standard input of the commands in the words of this one.
    around: Feed,
    /// Whether the command may not run, since it stands behind `&&` or `||`, or in a branch or a loop.
    may_not_run: bool,
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
    expanded: Vec<Field>,
    places: Vec<Range<usize>>,
    /// What stands for a value in a text of commands.
    replaced: Option<String>,
}

impl<'a> Survey<'a, '_> {
    fn error(&self, range: &Range<usize>, problem: impl Into<String>, remedy: impl Into<String>) -> UnreadLine {
        LineError::at(self.line, range.clone(), problem, remedy).into()
    }

    fn list(&mut self, list: &List, feed: &Feed) -> Result<(), UnreadLine> {
        for chain in &list.items {
            if chain.background.is_none() {
                self.chain(chain, feed)?;
                self.joined(";");
                continue;
            }
            // It has the input of a shell without a terminal: none.
            self.subshell(|survey| survey.chain(chain, &Feed::Nothing))?;
            self.joined("&");
            self.started += 1;
            self.state.background = Value::Known(background_number(self.started).to_string());
            self.state.status = Some(0);
        }
        Ok(())
    }

    fn chain(&mut self, chain: &Chain, feed: &Feed) -> Result<(), UnreadLine> {
        self.pipeline(&chain.first, feed)?;
        for (joint, pipeline) in &chain.rest {
            self.joined(if *joint == Joint::And { "&&" } else { "||" });
            let before = (self.state.clone(), self.directory.clone());
            self.branch(|survey| survey.pipeline(pipeline, feed))?;
            if *joint == Joint::Or {
                self.merge(before);
            }
        }
        Ok(())
    }

    /// Reads commands that may not run. What no command has set before may have a value there.
    fn branch(&mut self, read: impl FnOnce(&mut Self) -> Result<(), UnreadLine>) -> Result<(), UnreadLine> {
        self.state.unset_so_far.clear();
        self.in_turn(read)
    }

    /// Reads commands of which not all may run, but the first ones run in their order.
    fn in_turn(&mut self, read: impl FnOnce(&mut Self) -> Result<(), UnreadLine>) -> Result<(), UnreadLine> {
        let before = std::mem::replace(&mut self.may_not_run, true);
        let read = read(self);
        self.may_not_run = before;
        read
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
        let before = std::mem::replace(&mut self.around, inherited(feed));
        let read = self.surrounded(command, feed);
        self.around = before;
        read
    }

    fn surrounded(&mut self, command: &Command, feed: &Feed) -> Result<(), UnreadLine> {
        let own = self.redirections(&command.redirections)?;
        let feed = own.as_ref().unwrap_or(feed);
        if !matches!(command.body, Body::Simple(_)) {
            self.around = inherited(feed);
        }
        match &command.body {
            Body::Simple(simple) => self.simple(command, simple, feed, own.is_some()),
            Body::Subshell(list) => self.subshell(|survey| survey.list(list, &inherited(feed))),
            Body::Group(list) => self.list(list, &inherited(feed)),
            Body::If(command) => {
                let before = (self.state.clone(), self.directory.clone());
                for (at, branch) in command.branches.iter().enumerate() {
                    if at == 0 {
                        self.list(&branch.condition, &inherited(feed))?;
                    } else {
                        self.branch(|survey| survey.list(&branch.condition, &inherited(feed)))?;
                    }
                    self.branch(|survey| survey.list(&branch.body, &inherited(feed)))?;
                    self.merge(before.clone());
                }
                let otherwise = command.otherwise.as_ref();
                otherwise.map_or(Ok(()), |list| self.branch(|survey| survey.list(list, &inherited(feed))))?;
                self.merge(before);
                Ok(())
            }
            Body::For(command) => self.for_loop(command, &inherited(feed)),
            Body::Count(count) => {
                let parts = [&count.start, &count.condition, &count.step];
                self.opened(parts.into_iter().flatten(), &command.range)?;
                self.substitutions_in(parts.into_iter().flatten().flat_map(climax_shell::Arithmetic::parts))?;
                self.body(&count.body, &inherited(feed))
            }
            Body::While(command) => {
                let unset = self.state.unset_so_far.clone();
                self.open_assigned(&command.condition);
                self.open_assigned(&command.body);
                let before = (self.state.clone(), self.directory.clone());
                self.list(&command.condition, &inherited(feed))?;
                self.in_turn(|survey| survey.list(&command.body, &inherited(feed)))?;
                self.merge(before);
                self.state.unset_so_far = unset;
                Ok(())
            }
            Body::Case(case) => {
                self.substitutions(std::slice::from_ref(&case.word))?;
                let before = (self.state.clone(), self.directory.clone());
                for arm in &case.arms {
                    self.substitutions(&arm.patterns)?;
                    self.branch(|survey| survey.list(&arm.body, &inherited(feed)))?;
                    self.merge(before.clone());
                }
                Ok(())
            }
            Body::Arithmetic(expression) => {
                self.substitutions_in(expression.parts())?;
                self.expanded_in(&command.range, || expression.assigned(), |expander| expander.arithmetic(expression))?;
                Ok(())
            }
            Body::Condition(condition) => self.substitutions(condition.words()),
        }
    }

    /// Makes open what a loop with arithmetic may change.
    fn opened<'p>(
        &mut self,
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
        Ok(())
    }

    /// Reads the body of a loop, which may run any number of times.
    fn body(&mut self, body: &List, feed: &Feed) -> Result<(), UnreadLine> {
        let unset = self.state.unset_so_far.clone();
        self.open_assigned(body);
        let before = (self.state.clone(), self.directory.clone());
        self.in_turn(|survey| survey.list(body, feed))?;
        self.merge(before);
        self.state.unset_so_far = unset;
        Ok(())
    }

    fn for_loop(&mut self, command: &climax_shell::For, feed: &Feed) -> Result<(), UnreadLine> {
        self.settable(&(0..0), &command.name)?;
        let words = command.words.as_deref().unwrap_or_default();
        self.substitutions(words)?;
        let values = match &command.words {
            Some(words) => Some(self.fields(words, &(0..0))?.expanded),
            None => None,
        };
        let known = values.filter(|values| {
            let is_first_loop = self.commands.len() + values.len() * 4 < MAX_COMMANDS;
            values.iter().all(|value| !value.is_open) && values.len() <= MAX_TURNS && is_first_loop
        });
        let Some(values) = known else {
            self.state.set(&command.name, Value::Open);
            return self.body(&command.body, feed);
        };
        for value in values {
            self.state.set(&command.name, Value::Known(value.text));
            self.in_turn(|survey| survey.list(&command.body, feed))?;
        }
        Ok(())
    }

    /// Makes open what the commands of a list set, since they may run any number of times.
    fn open_assigned(&mut self, list: &List) {
        let mut names = BTreeSet::new();
        let changes = assigned(list, &mut names);
        for name in names {
            let is_unset = !self.state.variables.contains_key(&name) && !READABLE.contains(&name.as_str());
            self.state.set(&name, Value::Open);
            if is_unset {
                self.state.unset_so_far.insert(name);
            }
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

    /// Expands something as far as it is known. Where the command may not run, a failure that depends on values is left to
    /// the time at which it does; `assigned` names the variables that it sets.
    fn expanded_in<'w, T>(
        &mut self,
        range: &Range<usize>,
        assigned: impl Fn() -> Vec<String>,
        expand: impl Fn(&mut Expander<'_, Outside<'_, '_>>) -> Result<T, ExpandError<'w>>,
    ) -> Result<T, UnreadLine> {
        let mut state = std::mem::take(&mut self.state);
        let before = self.may_not_run.then(|| state.clone());
        let outside = self.outside(false);
        let done = expand(&mut Expander { state: &mut state, surroundings: &outside });
        let done = match (done, before) {
            (Err(_), Some(before)) => {
                let again = expand(&mut Expander { state: &mut opened_state(&before), surroundings: &outside });
                state = before;
                for name in assigned() {
                    state.set(&name, Value::Open);
                }
                again
            }
            (done, _) => done,
        };
        let done = done.map_err(|error| self.unexpanded(range, error));
        self.state = state;
        done
    }

    /// Expands words as far as they are known.
    fn fields(&mut self, words: &[Word], range: &Range<usize>) -> Result<Fields, UnreadLine> {
        let written = written(words, &self.state, self.context).map_err(|error| self.unexpanded(range, error))?;
        let assigned = || words.iter().flat_map(Word::assigned).collect();
        let expanded = self.expanded_in(range, assigned, |expander| expander.fields(words))?;
        let places = words.iter().map(|word| word.range.clone()).collect();
        Ok(Fields { written, expanded, places, replaced: None })
    }

    /// Expands a word that stays one.
    fn text(&mut self, word: &Word) -> Result<Field, UnreadLine> {
        self.expanded_in(&word.range, || word.assigned(), |expander| expander.text(word))
    }

    /// Expands the value of an assignment.
    fn value(&mut self, word: &Word) -> Result<Field, UnreadLine> {
        self.expanded_in(&word.range, || word.assigned(), |expander| expander.value(word))
    }

    /// Reads the commands in words.
    fn substitutions<'w>(&mut self, words: impl IntoIterator<Item = &'w Word>) -> Result<(), UnreadLine> {
        self.substitutions_in(words.into_iter().flat_map(|word| &word.parts))
    }

    /// Reads the commands in parts of words or of arithmetic.
    fn substitutions_in<'p>(
        &mut self,
        parts: impl IntoIterator<Item = &'p climax_shell::Part>,
    ) -> Result<(), UnreadLine> {
        let mut lists = Vec::new();
        parts.into_iter().for_each(|part| part.add_lists(&mut lists));
        for list in lists {
            let around = self.around.clone();
            self.subshell(|survey| survey.list(list, &around))?;
        }
        Ok(())
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
    let mut open = opened_state(state);
    let outside = Outside { context, directory: &Place::Open, keeps_globs: true };
    Expander { state: &mut open, surroundings: &outside }.fields(words)
}

/// A state in which no value is known.
fn opened_state(state: &State) -> State {
    let mut open = State { positions: None, status: None, background: Value::Open, ..state.clone() };
    for variable in open.variables.values_mut() {
        variable.value = Value::Open;
    }
    for name in READABLE.iter().chain(&COMPUTED) {
        open.set(name, Value::Open);
    }
    open
}

/// The input of what stands in a command with this input.
fn inherited(feed: &Feed) -> Feed {
    match feed {
        Feed::Nothing => Feed::Nothing,
        Feed::Text(_) | Feed::Inherited => Feed::Inherited,
        Feed::Pipe | Feed::Inner => Feed::Inner,
    }
}
