//! Reads the fields of a command as a call, whatever the expansions in it stand for.
//!
//! Which tool it is follows from the literal words. A value never becomes a program, a subcommand or an option.

use std::ops::Range;
use std::path::Path;

use climax_catalog::expansion::Lookup;
use climax_catalog::{ArgView, Place, ToolIndex};
use climax_shell::{Field, Globs, Origin};

use super::command_words::{CommandWords, UnknownTool};
use super::error::LineError;
use super::reading::{Reading, read};
use super::unread::Unread;
use crate::call::arguments::Input;
use crate::call::files::{FileUse, WriteMode};

/// What a line needs to know of its surroundings.
#[derive(Clone, Copy)]
pub struct LineContext<'c> {
    /// Looks up variables of the environment; a leading `~` is `HOME`.
    pub env: Lookup<'c>,
    /// Returns whether a word of a line names the program that a config names.
    pub names_program: &'c dyn Fn(&str, &str) -> bool,
    /// Returns the tool that runs a program which no config describes.
    pub unknown: UnknownTool<'c>,
    /// Returns the paths that match a glob in a directory, sorted, or the reason why there are too many.
    pub glob: Glob<'c>,
    /// Returns what a redirection would do to a file that it writes; `None` if it reads.
    pub write_mode: &'c dyn Fn(&Path, FileUse) -> Option<WriteMode>,
    /// The standard input of the first command. A pipe is there, and the command need not read it.
    pub input: Input<'c>,
    /// Whether errors say why, and what may be meant, as in [`CommandWords`].
    pub explains: bool,
}

impl LineContext<'_> {
    /// The same, with errors that say neither why nor what may be meant.
    pub(super) fn quiet(self) -> Self {
        Self { explains: false, ..self }
    }
}

/// Expands a glob in a directory; in that of the line's start for `None`.
pub type Glob<'c> = &'c dyn Fn(&str, Option<&str>, Globs) -> Result<Vec<String>, String>;

/// The reason why a line is not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnreadLine {
    /// Its syntax.
    #[error(transparent)]
    Syntax(#[from] LineError),
    /// A command that no tool takes.
    #[error("{error}")]
    Command {
        /// The place and the problem.
        error: LineError,
        /// The reason why no tool takes it.
        unread: Box<Unread>,
    },
    /// A command that a tool takes as it is written, and none without the words that its expansions did not give.
    ///
    /// A shell starts such a program, which says that it lacks an operand. So only this command fails, not the line.
    #[error("{error}")]
    Lacking {
        /// The place and the problem.
        error: LineError,
        /// The exit status that its program has then.
        status: i32,
    },
}

impl UnreadLine {
    /// Returns whether it is refused because it gives an arg that a policy took away.
    #[must_use]
    pub fn is_withheld(&self) -> bool {
        matches!(self, Self::Command { unread, .. } if unread.is_withheld)
    }

    /// Returns the place and the problem.
    #[must_use]
    pub fn error(&self) -> &LineError {
        match self {
            Self::Syntax(error) | Self::Command { error, .. } | Self::Lacking { error, .. } => error,
        }
    }

    /// Makes a command that is not read one that lacks words of those with which it was read.
    fn into_lacking(self, written: &Reading<'_>) -> Self {
        let idle = written.tool.effects().map_or_else(Vec::new, |effects| effects.idle);
        // Most programs have this status for it.
        let status = i32::from(!idle.iter().any(|arg| written.arguments.contains_key(arg)));
        match self {
            Self::Command { error, unread } if !unread.is_withheld => Self::Lacking { error, status },
            other => other,
        }
    }
}

/// A command after expansion.
#[derive(Clone, Copy)]
pub(crate) struct ExpandedCommand<'c> {
    /// The line, and the place of the command in it.
    pub(crate) line: &'c str,
    pub(crate) range: &'c Range<usize>,
    /// The places of its words, which the fields name.
    pub(crate) places: &'c [Range<usize>],
    /// The fields with a placeholder for each expansion.
    pub(crate) written: &'c [Field],
    /// The fields.
    pub(crate) fields: &'c [Field],
    /// Variables for its program.
    pub(crate) variables: &'c [(String, String)],
    /// How many commands the line has started in the background before it.
    pub(crate) started: u32,
}

/// Reads a command. `input` is its standard input.
///
/// # Errors
/// No tool takes it, or which one does depends on values.
pub(crate) fn read_command<'a>(
    index: &'a ToolIndex,
    command: ExpandedCommand<'_>,
    input: Input<'_>,
    context: LineContext<'_>,
) -> Result<Reading<'a>, UnreadLine> {
    let ExpandedCommand { line, written, fields, .. } = command;
    if let Some(program) = fields.first().filter(|field| field.origin != Origin::Literal) {
        let place = command.place(program);
        let written = line.get(place.clone()).unwrap_or(&program.text);
        let problem = format!("which program runs would depend on a value (`{written}`)");
        return Err(LineError::at(line, place, problem, "write the name of the program out").into());
    }

    let reading = read_fields(index, command, written, input, context)?;
    if written == fields {
        return Ok(reading);
    }
    check_dashes(command, &reading)?;
    let gave_none = fields.len() < written.len();
    let again = read_fields(index, command, fields, input, context)
        .map_err(|unread| if gave_none { unread.into_lacking(&reading) } else { unread })?;
    check_selection(command, (&reading, &again))?;
    Ok(again)
}

impl ExpandedCommand<'_> {
    /// The place of the word that a field comes from.
    fn place(&self, field: &Field) -> Range<usize> {
        self.places.get(field.from).unwrap_or(self.range).clone()
    }
}

/// Reads fields as a command.
fn read_fields<'a>(
    index: &'a ToolIndex,
    command: ExpandedCommand<'_>,
    fields: &[Field],
    input: Input<'_>,
    context: LineContext<'_>,
) -> Result<Reading<'a>, UnreadLine> {
    let texts: Vec<&str> = fields.iter().map(|field| field.text.as_str()).collect();
    let variables: Vec<(&str, &str)> =
        command.variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let words = CommandWords {
        words: &texts,
        variables: &variables,
        input,
        names_program: context.names_program,
        unknown: context.unknown,
        explains: context.explains,
    };
    read(index, words).map_err(|unread| {
        let place = fields.get(unread.word).map_or(command.range.clone(), |field| command.place(field));
        let remedy = match unread.suggestions.as_slice() {
            [] if unread.is_withheld => {
                "leave it out; the operator can permit it by a rule for this argument".to_owned()
            }
            [] => "search for a tool that does it, or see the tool's arguments".to_owned(),
            near => format!("did you mean `{}`?", near.join("`, `")),
        };
        let error = LineError::at(command.line, place, unread.problem.clone(), remedy);
        UnreadLine::Command { error, unread: Box::new(unread) }
    })
}

/// Checks that values did not change which tools the words of a line name.
fn check_selection(
    command: ExpandedCommand<'_>,
    (written, expanded): (&Reading<'_>, &Reading<'_>),
) -> Result<(), LineError> {
    let tools = |reading: &Reading<'_>| {
        let started = std::iter::successors(Some(reading), |one| one.started.as_ref().map(|next| &next.reading));
        started.map(|one| one.tool.name().to_owned()).collect::<Vec<_>>()
    };
    let is_several = |from: usize| command.fields.iter().filter(|field| field.from == from).count() != 1;
    // Values that stand before a subcommand could take its place.
    let base = expanded.typed.command_end;
    let is_value = |field: &&Field| field.origin != Origin::Literal;
    let moves = command.fields.iter().take(base).filter(is_value).find(|field| is_several(field.from));
    if tools(written) == tools(expanded) && moves.is_none() {
        return check_options(command, (written, expanded));
    }

    let value = moves.or_else(|| command.fields.iter().find(is_value));
    let range = value.map_or(command.range.clone(), |field| command.place(field));
    if value.is_some_and(|field| field.text.starts_with('-')) {
        let problem = "which options this command has would depend on a value";
        return Err(LineError::at(command.line, range, problem, "write the options out"));
    }
    let problem = "which command this is would depend on values or on paths that match";
    Err(LineError::at(command.line, range, problem, "write them out, or quote the word"))
}

/// Checks that values did not change which options the command has, as that of `-$x` does.
fn check_options(
    command: ExpandedCommand<'_>,
    (written, expanded): (&Reading<'_>, &Reading<'_>),
) -> Result<(), LineError> {
    let options = |reading: &Reading<'_>| {
        let is_option = |arg: &ArgView<'_>| arg.place() == Place::Option && reading.arguments.contains_key(arg.name());
        reading.tool.args().filter(is_option).map(|arg| arg.name().to_owned()).collect::<Vec<_>>()
    };
    let is_same = options(written) == options(expanded);
    match (&written.started, &expanded.started) {
        (Some(written), Some(expanded)) if is_same => check_options(command, (&written.reading, &expanded.reading)),
        _ if is_same => Ok(()),
        _ => {
            let value = command.fields.iter().find(|field| field.origin != Origin::Literal);
            let range = value.map_or(command.range.clone(), |field| command.place(field));
            let problem = "which options this command has would depend on a value";
            Err(LineError::at(command.line, range, problem, "write the options out"))
        }
    }
}

/// Returns whether a place among the words of a command is that of an operand.
fn is_operand(reading: &Reading<'_>, place: usize) -> bool {
    match &reading.started {
        Some(started) if place >= started.first_word => is_operand(&started.reading, place - started.first_word),
        _ => {
            reading.typed.operands.iter().any(|(at, _)| *at == place)
                || reading.operands.iter().any(|operand| operand.word == place)
        }
    }
}

/// Checks that no value could be taken for an option. `written` is the command with placeholders.
fn check_dashes(command: ExpandedCommand<'_>, written: &Reading<'_>) -> Result<(), LineError> {
    // The words of another spelling may be more or fewer.
    let shift = written.typed.words.len().wrapping_sub(command.written.len());
    let place_of = |field: &Field| {
        let place = command.written.iter().position(|one| one.from == field.from).unwrap_or_default();
        place.wrapping_add(shift)
    };
    let is_dashed =
        |field: &Field| field.origin == Origin::Value && field.text.starts_with('-') && field.text.len() > 1;
    let is_open = |field: &Field| {
        let behind_dashes =
            |fields: &[Field]| fields.iter().any(|one| one.origin == Origin::Literal && one.text == "--");
        let own = command.fields.iter().position(|one| std::ptr::eq(one, field)).unwrap_or_default();
        if behind_dashes(&command.fields[..own]) {
            return false;
        }
        // Without a grammar, or where another program reads the words, any of them could be an option.
        if written.unknown.is_some() || written.started.is_some() {
            return true;
        }
        is_operand(written, place_of(field))
    };
    // Further words of a value that stands in an option are none that the option takes.
    let is_several = |field: &&Field| {
        let count = command.fields.iter().filter(|one| one.from == field.from).count();
        field.origin == Origin::Value && count > 1 && written.unknown.is_none() && !is_operand(written, place_of(field))
    };
    if let Some(field) = command.fields.iter().find(is_several) {
        let problem = "the value in this option has several words";
        return Err(LineError::at(command.line, command.place(field), problem, "put it in double quotes"));
    }

    match command.fields.iter().find(|field| is_dashed(field) && is_open(field)) {
        None => Ok(()),
        Some(field) => {
            let text: String = field.text.chars().take(40).collect();
            let problem = format!("the value `{text}` starts with a dash, and the program could take it for an option");
            let remedy = "write options out in the line; for an operand write `--` before it where the program knows \
                          that, or `./` for a path";
            Err(LineError::at(command.line, command.place(field), problem, remedy))
        }
    }
}
