//! Reads each command of a line as a call, and expands its globs.

use climax_catalog::expansion::{self, Lookup};
use climax_catalog::{Shape, ToolIndex};
use serde_json::Value;

use super::reading::{CommandWords, Reading, Unread, read};
use super::script::{Condition, LineError, Redirections, Script, Stage, Word};
use super::syntax::{parse, parse_directories};
use crate::call::arguments::Input;

/// What a line needs to know of its surroundings.
#[derive(Clone, Copy)]
pub struct LineContext<'c> {
    /// Looks up variables of the environment; a leading `~` is `HOME`.
    pub env: Lookup<'c>,
    /// Returns whether a word of a line names the program that a config names.
    pub names_program: &'c dyn Fn(&str, &str) -> bool,
    /// Returns the paths that match a glob in a directory, sorted, or the reason why there are too many.
    pub glob: Glob<'c>,
    /// The standard input of the first command. A pipe is there, and the command need not read it.
    pub input: Input<'c>,
}

/// Expands a glob in the directory that the `cd` commands of a line lead to.
pub type Glob<'c> = &'c dyn Fn(&str, &[String]) -> Result<Vec<String>, String>;

/// A line whose commands are calls.
#[derive(Clone, Debug)]
pub struct ReadLine<'a> {
    /// The directories of `cd DIR` at its start, in order.
    pub directories: Vec<String>,
    /// Its pipelines.
    pub steps: Vec<ReadStep<'a>>,
}

/// A pipeline whose commands are calls.
#[derive(Clone, Debug)]
pub struct ReadStep<'a> {
    /// When it runs.
    pub condition: Condition,
    /// Its commands.
    pub stages: Vec<ReadStage<'a>>,
}

/// A command as a call.
#[derive(Clone, Debug)]
pub struct ReadStage<'a> {
    /// The tool and its arguments.
    pub reading: Reading<'a>,
    /// Whether it reads the standard input that it has.
    pub reads_input: bool,
    /// Where its output goes.
    pub streams: Redirections,
    /// The command as it is written.
    pub text: String,
}

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
}

impl UnreadLine {
    /// Returns the place and the problem.
    #[must_use]
    pub fn error(&self) -> &LineError {
        match self {
            Self::Syntax(error) | Self::Command { error, .. } => error,
        }
    }
}

/// Reads a command line with the tools of an index.
///
/// # Errors
/// The first part that is not understood, or that no tool takes.
pub fn read_line<'a>(index: &'a ToolIndex, line: &str, context: LineContext<'_>) -> Result<ReadLine<'a>, UnreadLine> {
    let Script { directories, steps } = parse(line)?;
    let directories: Vec<String> = directories.iter().map(|word| text(word, context.env)).collect();
    let mut read_steps = Vec::with_capacity(steps.len());
    for step in steps {
        let mut stages = Vec::with_capacity(step.stages.len());
        for (at, stage) in step.stages.iter().enumerate() {
            let is_first = read_steps.is_empty() && at == 0;
            let input = match at {
                0 if is_first => context.input,
                0 => Input::Nothing,
                _ => Input::Pipe,
            };
            let read = |input| command(index, line, stage, LineContext { input, ..context });
            let (reading, reads_input) = match (read(input), input) {
                (Ok(reading), input) => (reading, input != Input::Nothing),
                (Err(error), Input::Pipe) if is_first => (read(Input::Nothing).map_err(|_| error)?, false),
                (Err(error), _) => return Err(error),
            };
            let reading = expanded(reading, line, &stage.words, &directories, context)?;
            let text = line[stage.range.clone()].to_owned();
            stages.push(ReadStage { reading, reads_input, streams: stage.streams, text });
        }
        read_steps.push(ReadStep { condition: step.condition, stages });
    }
    Ok(ReadLine { directories, steps: read_steps })
}

/// Returns the directories of a line of `cd DIR` commands only, in order; `None` for every other line.
pub fn directory_change(line: &str, env: Lookup<'_>) -> Option<Vec<String>> {
    let directories = parse_directories(line)?;
    Some(directories.iter().map(|word| text(word, env)).collect())
}

/// The text of a word, with the home directory for a leading `~`.
fn text(word: &Word, env: Lookup<'_>) -> String {
    if word.is_home { expansion::home(&word.text, env) } else { word.text.clone() }
}

/// Reads one command.
fn command<'a>(
    index: &'a ToolIndex,
    line: &str,
    stage: &Stage,
    context: LineContext<'_>,
) -> Result<Reading<'a>, UnreadLine> {
    let texts: Vec<String> = stage.words.iter().map(|word| text(word, context.env)).collect();
    let words: Vec<&str> = texts.iter().map(String::as_str).collect();
    let variables: Vec<(&str, &str)> =
        stage.variables.iter().map(|(name, word)| (name.as_str(), word.text.as_str())).collect();
    let command = CommandWords {
        words: &words,
        variables: &variables,
        input: context.input,
        names_program: context.names_program,
    };
    read(index, command).map_err(|unread| {
        let place = stage.words.get(unread.word).map_or(stage.range.clone(), |word| word.range.clone());
        let remedy = match unread.suggestions.as_slice() {
            [] => "search for a tool that does it, or see the tool's arguments".to_owned(),
            near => format!("did you mean `{}`?", near.join("`, `")),
        };
        let error = LineError::at(line, place, unread.problem.clone(), remedy);
        UnreadLine::Command { error, unread: Box::new(unread) }
    })
}

/// Replaces the operands that are globs by the paths that match. A glob without a match stays as it is.
fn expanded<'a>(
    mut reading: Reading<'a>,
    line: &str,
    words: &[Word],
    directories: &[String],
    context: LineContext<'_>,
) -> Result<Reading<'a>, UnreadLine> {
    if let Some(mut started) = reading.started.take() {
        started.reading = expanded(started.reading, line, &words[started.first_word..], directories, context)?;
        reading.started = Some(started);
    }
    // From the last to the first, so that the places of those before stay right.
    for place in reading.operands.iter().rev() {
        let word = &words[place.word];
        let Some(glob) = &word.glob else { continue };
        let pattern = if word.is_home { expansion::home(glob, context.env) } else { glob.clone() };
        let error =
            |problem: String| LineError::at(line, word.range.clone(), problem, "name the paths, or quote the word");
        let found = (context.glob)(&pattern, directories).map_err(error)?;
        let safe = |path: String| if path.starts_with('-') { format!("./{path}") } else { path };
        let paths: Vec<String> = found.into_iter().map(safe).collect();
        let is_list = reading.tool.args().any(|arg| arg.name() == place.arg && matches!(arg.shape(), Shape::List(_)));
        match (reading.arguments.get_mut(&place.arg), paths.as_slice()) {
            (_, []) => {}
            (Some(Value::Array(items)), paths) if is_list => {
                let at = items.iter().position(|item| item.as_str() == Some(&text(word, context.env)));
                if let Some(at) = at {
                    items.splice(at..=at, paths.iter().map(|path| Value::from(path.as_str())));
                }
            }
            (Some(value @ Value::String(_)), [only]) => *value = only.as_str().into(),
            (Some(Value::String(_)), paths) => {
                let problem = format!("{} paths match, and `{}` takes one", paths.len(), place.arg);
                return Err(error(problem).into());
            }
            (Some(_) | None, _) => {}
        }
    }
    Ok(reading)
}
