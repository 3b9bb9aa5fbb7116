//! Reads all commands of a line before any runs, as far as its words are known by then.
//!
//! It walks the line once: a loop over known words is walked for each of them, every branch is walked, and what depends on
//! output is open. Whoever runs the line reads each command again, with what its words have become.

mod builtins;
mod expansion;
mod loops;
mod programs;
mod redirections;
mod simple;

pub(crate) use expansion::written;
pub(crate) use redirections::{file_call, native_reading};

use std::collections::BTreeSet;
use std::ops::Range;

use climax_catalog::ToolIndex;
use climax_shell::{
    Arithmetic, Body, Chain, Command, Joint, List, Pipeline, Script, State, Value, background_number, parse,
};

use super::command_words::Undescribed;
use super::error::LineError;
use super::fed::CommandInput;
use super::finds::first_state;
use super::read_line::{Feed, ReadCommand, ReadLine};
use super::resolve::{LineContext, UnreadLine};
use super::variables::{COMPUTED, check_settable};
use crate::call::arguments::Input;
use crate::call::refusal::Refusal;

/// Maximum commands of a line, those of texts and of each turn of known loops included.
pub(crate) const MAX_COMMANDS: usize = 1_000;

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

/// Where a command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// In this directory; in that of the line's start for `None`.
    Known(Option<String>),
    /// In one that is known only once the line runs.
    Open,
}

impl Place {
    /// The directory; `None` also for one that is not known.
    fn known(&self) -> Option<String> {
        match self {
            Self::Known(directory) => directory.clone(),
            Self::Open => None,
        }
    }
}

/// The state of the walk through a line.
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

impl<'a> Survey<'a, '_> {
    /// A part of the line as it is written.
    fn source(&self, range: &Range<usize>) -> String {
        self.line.get(range.clone()).unwrap_or_default().to_owned()
    }

    fn error(&self, range: &Range<usize>, problem: impl Into<String>, remedy: impl Into<String>) -> UnreadLine {
        LineError::at(self.line, range.clone(), problem, remedy).into()
    }

    fn refused(&self, range: &Range<usize>, refusal: Refusal) -> UnreadLine {
        LineError::refused(self.line, range.clone(), refusal).into()
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
            Body::Simple(simple) => self.simple(command, simple, CommandInput { feed, is_own: own.is_some() }),
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
                self.substitutions_in(parts.into_iter().flatten().flat_map(Arithmetic::parts))?;
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
                self.arithmetic(expression, &command.range)
            }
            Body::Condition(condition) => self.substitutions(condition.words()),
        }
    }

    fn add(&mut self, command: ReadCommand<'a>, range: &Range<usize>) -> Result<(), UnreadLine> {
        if self.commands.len() == MAX_COMMANDS {
            let problem = format!("the line has more than {MAX_COMMANDS} commands");
            return Err(self.error(range, problem, "split it into several lines"));
        }
        self.commands.push(command);
        Ok(())
    }

    /// Checks that a line may set a variable.
    fn settable(&self, range: &Range<usize>, name: &str) -> Result<(), UnreadLine> {
        check_settable(name).map_err(|refusal| self.refused(range, refusal))
    }
}

/// The input of what stands in a command with this input.
fn inherited(feed: &Feed) -> Feed {
    match feed {
        Feed::Nothing => Feed::Nothing,
        Feed::Text(_) | Feed::Inherited => Feed::Inherited,
        Feed::Pipe | Feed::Inner => Feed::Inner,
    }
}
