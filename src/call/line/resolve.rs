//! Reads each command of a line as a call, and expands its globs.

use climax_catalog::ToolIndex;
use climax_catalog::expansion::{self, Lookup};

use super::reading::{CommandWords, Reading, UnknownTool, Unread, read};
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
    /// Returns the tool that runs a program which no config describes.
    pub unknown: UnknownTool<'c>,
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
    /// Returns whether it is refused because it gives an arg that a policy took away.
    #[must_use]
    pub fn is_withheld(&self) -> bool {
        matches!(self, Self::Command { unread, .. } if unread.is_withheld)
    }

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
            let read = |input| command(index, (line, stage), &directories, LineContext { input, ..context });
            let (reading, reads_input) = match (read(input), input) {
                (Ok(reading), input) => (reading, input != Input::Nothing),
                (Err(error), Input::Pipe) if is_first => (read(Input::Nothing).map_err(|_| error)?, false),
                (Err(error), _) => return Err(error),
            };
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

/// A word of a command after expansion.
struct ExpandedWord {
    text: String,
    /// The place among the words of the line that it comes from.
    from: usize,
}

/// Reads one command.
///
/// Which tool it is follows from the words as they are written. A glob may then stand for any number of words.
fn command<'a>(
    index: &'a ToolIndex,
    (line, stage): (&str, &Stage),
    directories: &[String],
    context: LineContext<'_>,
) -> Result<Reading<'a>, UnreadLine> {
    let written: Vec<ExpandedWord> = stage
        .words
        .iter()
        .enumerate()
        .map(|(from, word)| ExpandedWord { text: text(word, context.env), from })
        .collect();
    let reading = read_words(index, (line, stage), &written, context)?;
    if stage.words.iter().all(|word| word.glob.is_none()) {
        return Ok(reading);
    }

    let expanded = expanded(line, &stage.words, &written, directories, context)?;
    let again = read_words(index, (line, stage), &expanded, context)?;
    check_selection(line, stage, (&reading, &again), &expanded)?;
    Ok(again)
}

/// Reads words as a command.
fn read_words<'a>(
    index: &'a ToolIndex,
    (line, stage): (&str, &Stage),
    words: &[ExpandedWord],
    context: LineContext<'_>,
) -> Result<Reading<'a>, UnreadLine> {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let variables: Vec<(&str, &str)> =
        stage.variables.iter().map(|(name, word)| (name.as_str(), word.text.as_str())).collect();
    let command = CommandWords {
        words: &texts,
        variables: &variables,
        input: context.input,
        names_program: context.names_program,
        unknown: context.unknown,
    };
    read(index, command).map_err(|unread| {
        let from = words.get(unread.word).map(|word| &stage.words[word.from]);
        let place = from.map_or(stage.range.clone(), |word| word.range.clone());
        let remedy = match unread.suggestions.as_slice() {
            [] if unread.is_withheld => {
                "leave it out; the operator can permit it by a rule for this argument".to_owned()
            }
            [] => "search for a tool that does it, or see the tool's arguments".to_owned(),
            near => format!("did you mean `{}`?", near.join("`, `")),
        };
        let error = LineError::at(line, place, unread.problem.clone(), remedy);
        UnreadLine::Command { error, unread: Box::new(unread) }
    })
}

/// Replaces globs by the paths that match. A glob without a match stays as it is.
fn expanded(
    line: &str,
    words: &[Word],
    written: &[ExpandedWord],
    directories: &[String],
    context: LineContext<'_>,
) -> Result<Vec<ExpandedWord>, LineError> {
    let mut all = Vec::with_capacity(words.len());
    for (from, (word, written)) in words.iter().zip(written).enumerate() {
        let paths = match &word.glob {
            None => Vec::new(),
            Some(glob) => {
                let pattern = if word.is_home { expansion::home(glob, context.env) } else { glob.clone() };
                (context.glob)(&pattern, directories).map_err(|problem| {
                    LineError::at(line, word.range.clone(), problem, "name the paths, or quote the word")
                })?
            }
        };
        if paths.is_empty() {
            all.push(ExpandedWord { text: written.text.clone(), from });
        }
        let safe = |path: String| if path.starts_with('-') { format!("./{path}") } else { path };
        all.extend(paths.into_iter().map(|path| ExpandedWord { text: safe(path), from }));
    }

    Ok(all)
}

/// Checks that the paths of globs did not change which tools the words of a line name.
fn check_selection(
    line: &str,
    stage: &Stage,
    (written, expanded): (&Reading<'_>, &Reading<'_>),
    words: &[ExpandedWord],
) -> Result<(), LineError> {
    let tools = |reading: &Reading<'_>| {
        let started = std::iter::successors(Some(reading), |one| one.started.as_ref().map(|next| &next.reading));
        started.map(|one| one.tool.name().to_owned()).collect::<Vec<_>>()
    };
    let is_several = |from: usize| words.iter().filter(|word| word.from == from).count() != 1;
    // Paths that stand before a subcommand could take its place.
    let base = expanded.typed.command_end;
    let moves = words.iter().take(base).find(|word| stage.words[word.from].glob.is_some() && is_several(word.from));
    if tools(written) == tools(expanded) && moves.is_none() {
        return Ok(());
    }

    let glob = moves.map(|word| word.from).or_else(|| stage.words.iter().position(|word| word.glob.is_some()));
    let range = glob.map_or(stage.range.clone(), |at| stage.words[at].range.clone());
    let problem = "which command this is would depend on the paths that match";
    Err(LineError::at(line, range, problem, "name the paths, or quote the word"))
}
