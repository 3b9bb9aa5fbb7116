//! Reads all commands of a line before any runs, as far as its words are known by then.
//!
//! It walks the line once: a loop over known words is walked for each of them, every branch is walked, and what depends on
//! output is open. Whoever runs the line reads each command again, with what its words have become.

mod builtins;
mod compound;
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
use climax_shell::{Body, Chain, Command, Joint, List, Pipeline, Script, State, Value, background_number, parse};

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

/// What commands have changed so far, as far as it is known.
#[derive(Clone)]
struct Snapshot {
    state: State,
    directory: Place,
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

    /// The error of a part of the line.
    fn error(&self, range: &Range<usize>, problem: impl Into<String>, remedy: impl Into<String>) -> UnreadLine {
        LineError::at(self.line, range.clone(), problem, remedy).into()
    }

    /// The error of a part of the line that is refused.
    fn refused(&self, range: &Range<usize>, refusal: Refusal) -> UnreadLine {
        LineError::refused(self.line, range.clone(), refusal).into()
    }

    /// Reads chains that run one after the other, or in the background.
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

    /// Reads pipelines of which all but the first depend on those before.
    fn chain(&mut self, chain: &Chain, feed: &Feed) -> Result<(), UnreadLine> {
        self.pipeline(&chain.first, feed)?;
        for (joint, pipeline) in &chain.rest {
            self.joined(if *joint == Joint::And { "&&" } else { "||" });
            let before = self.snapshot();
            self.branch(|survey| survey.pipeline(pipeline, feed))?;
            if *joint == Joint::Or {
                self.merge(before);
            }
        }
        Ok(())
    }

    /// The variables and the directory at this place of the line.
    fn snapshot(&self) -> Snapshot {
        Snapshot { state: self.state.clone(), directory: self.directory.clone() }
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
    fn merge(&mut self, before: Snapshot) {
        let Snapshot { state, directory } = before;
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

    /// Reads the commands of a pipeline, each of which runs in a subshell if there are several.
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
        let before = self.snapshot();
        let read = read(self);
        Snapshot { state: self.state, directory: self.directory } = before;
        read
    }

    /// Reads a command, around whose words it has its standard input.
    fn command(&mut self, command: &Command, feed: &Feed) -> Result<(), UnreadLine> {
        let before = std::mem::replace(&mut self.around, inherited(feed));
        let read = self.surrounded(command, feed);
        self.around = before;
        read
    }

    /// Reads a command with its redirections.
    fn surrounded(&mut self, command: &Command, feed: &Feed) -> Result<(), UnreadLine> {
        let own = self.redirections(&command.redirections)?;
        let feed = own.as_ref().unwrap_or(feed);
        if let Body::Simple(simple) = &command.body {
            return self.simple(command, simple, CommandInput { feed, is_own: own.is_some() });
        }
        self.around = inherited(feed);
        self.compound(&command.body, &command.range, &inherited(feed))
    }

    /// Adds a command to those of the line.
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
