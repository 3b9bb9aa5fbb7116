//! Reads the words of a command back into a tool and its arguments: the inverse of planning a command line.

use std::cmp::Reverse;

use climax_catalog::expansion::Lookup;
use climax_catalog::{
    ArgView, CommandPart, MAX_SUGGESTIONS, Place, ResolvedTool, Risk, ToolIndex, near_misses, quoted_words,
};
use serde_json::{Map, Value};

use super::command::{Command, is_option};
use super::grammar::{Grammar, Slot};
use super::operands::OperandPlace;
use super::respelling::Respelled;
use super::said::{Said, Typed, said};
use super::scan::{Misfit, MisfitKind};
use crate::call::arguments::{Bound, Input, Violation, bind_line};
use crate::call::command_line;
use crate::call::risk;
use crate::call::typed_words::TypedWords;
use crate::call::unknown;
use crate::exec::Invocation;

/// Maximum commands that start one another in one command.
pub(crate) const MAX_STARTED_DEPTH: usize = 8;

/// A command, read.
#[derive(Clone, Debug)]
pub struct Reading<'a> {
    /// The tool.
    pub tool: ResolvedTool<'a>,
    /// Its arguments. Of an option of one value that stands several times, the last.
    pub arguments: Map<String, Value>,
    /// The values of options that stand again further on. The program may let the last win; checks are for all of them.
    pub repeated: Vec<(String, Value)>,
    /// The words that run.
    pub typed: TypedWords,
    /// The typed words that are operands, with their args.
    pub operands: Vec<OperandPlace>,
    /// The command that it starts, such as `git log` of `timeout 5 git log`.
    pub started: Option<Box<StartedCommand<'a>>>,
    /// The variables that the line gives a program which no config describes; `None` if one does.
    pub unknown: Option<Vec<(String, String)>>,
}

/// A command that stands among the words of another one.
#[derive(Clone, Debug)]
pub struct StartedCommand<'a> {
    /// The place of its program among the typed words of the other one.
    pub first_word: usize,
    /// The tool and its arguments.
    pub reading: Reading<'a>,
}

/// A command to read.
#[derive(Clone, Copy)]
pub struct CommandWords<'w> {
    /// The words, the program first.
    pub words: &'w [&'w str],
    /// Variables for the program, by name.
    pub variables: &'w [(&'w str, &'w str)],
    /// Its standard input.
    pub input: Input<'w>,
    /// Returns whether the first word names the program that a config names.
    pub names_program: &'w dyn Fn(&str, &str) -> bool,
    /// Returns the tool that runs a program which no config describes; `None` if it does not run.
    pub unknown: UnknownTool<'w>,
}

/// Returns the tool that runs a program which no config describes.
pub type UnknownTool<'w> = &'w dyn Fn(&str) -> Option<ResolvedTool<'static>>;

/// The reason why no tool takes a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The place of the word among the words of the command; their number if one is missing.
    pub word: usize,
    /// What is wrong.
    pub problem: String,
    /// What may be meant.
    pub suggestions: Vec<String>,
    /// The tool that takes most of the words.
    pub tool: Option<String>,
    /// Whether the word gives an arg that a policy took away.
    pub is_withheld: bool,
}

/// Reads a command.
///
/// Of the tools that take all words, the one with the most words of its command in the line wins. Between equals, fewest
/// added words win, then the lower risk, then the order of definition. Defaults do not apply.
///
/// # Errors
/// The problem of the tool that takes most of the words.
pub fn read<'a>(index: &'a ToolIndex, command: CommandWords<'_>) -> Result<Reading<'a>, Unread> {
    read_at(index, command, 0).map_err(|unread| with_useful_suggestions(index, command, unread))
}

/// Leaves out the suggestions with which no tool would take more of the words.
pub(crate) fn with_useful_suggestions(index: &ToolIndex, command: CommandWords<'_>, mut unread: Unread) -> Unread {
    let at = unread.word;
    let Some(word) = command.words.get(at) else { return unread };
    let value = word.split_once('=').map(|(_, value)| value).filter(|_| is_option(word));
    let is_useful = |near: &String| {
        let spelled = value.map_or_else(|| near.clone(), |value| format!("{near}={value}"));
        let mut words = command.words.to_vec();
        words[at] = &spelled;
        // Whoever reads a line tries the command without its input too.
        [command.input, Input::Nothing].into_iter().any(|input| {
            match read_at(index, CommandWords { words: &words, input, ..command }, 0) {
                Ok(_) => true,
                // Another program must at least seem to be meant by the words behind it.
                Err(next) => next.word > at && (at > 0 || next.tool.is_some() || !next.suggestions.is_empty()),
            }
        })
    };
    unread.suggestions.retain(is_useful);

    unread
}

/// Reads a command that stands in `depth` others.
fn read_at<'a>(index: &'a ToolIndex, command: CommandWords<'_>, depth: usize) -> Result<Reading<'a>, Unread> {
    if depth > MAX_STARTED_DEPTH {
        let problem = format!("more than {MAX_STARTED_DEPTH} commands start one another");
        return Err(Unread { word: 0, problem, suggestions: Vec::new(), tool: None, is_withheld: false });
    }
    let read = match Respelled::of(index, command.words, command.names_program) {
        None => {
            return match (command.unknown)(command.words[0]) {
                Some(tool) => Ok(unknown_program(tool, command)),
                None => read_words(index, command, depth),
            };
        }
        Some(respelled) => {
            let words = respelled.words();
            read_words(index, CommandWords { words: &words, ..command }, depth)
                .map_err(|unread| Unread { word: respelled.place(unread.word), ..unread })
        }
    };
    // The program may have a config of its own.
    read.or_else(|unread| read_words(index, command, depth).map_err(|_| unread))
}

/// Makes the reading of a program that no config describes, by the tool that runs it. Nothing is known of its words.
fn unknown_program(tool: ResolvedTool<'static>, command: CommandWords<'_>) -> Reading<'static> {
    let words: Vec<String> = command.words.iter().map(|word| (*word).to_owned()).collect();
    let mut arguments = Map::new();
    arguments.insert("program".to_owned(), words[0].as_str().into());
    if words.len() > 1 {
        arguments.insert("arguments".to_owned(), words[1..].into());
    }
    let variables = command.variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));

    let typed = TypedWords { words, ..TypedWords::default() };
    let operands = Vec::new();
    Reading {
        tool,
        arguments,
        repeated: Vec::new(),
        typed,
        operands,
        started: None,
        unknown: Some(variables.collect()),
    }
}

impl Reading<'_> {
    /// Returns whether the line gives an arg.
    #[must_use]
    pub fn gives(&self, arg: ArgView<'_>) -> bool {
        self.arguments.contains_key(arg.name())
    }

    /// Plans the command that was read, without the one that it starts. `bound` are its checked arguments.
    #[must_use]
    pub fn plan(&self, bound: &Bound<'_>, env: Lookup<'_>) -> Invocation {
        if let Some(variables) = &self.unknown {
            let planned = command_line::plan(self.tool, bound, env);
            return Invocation { argv: self.typed.words.clone(), env: variables.clone(), ..planned };
        }
        let is_typed = |name: &str| self.arguments.contains_key(name);
        command_line::plan_line(self.tool, bound, &self.typed, &is_typed, env)
    }

    /// Converts and checks the arguments, those of repeated options too.
    ///
    /// # Errors
    /// All violations.
    pub fn bind(&self, input: Input<'_>) -> Result<Bound<'_>, Vec<Violation>> {
        bind_line(self.tool, &self.arguments, input)?.with_repeated(self.tool, &self.repeated)
    }
}

/// Reads a command as it stands.
fn read_words<'a>(index: &'a ToolIndex, command: CommandWords<'_>, depth: usize) -> Result<Reading<'a>, Unread> {
    let candidates = candidates(index, command);
    let separates = candidates.iter().any(|candidate| candidate.grammar.separates());
    let mut best: Option<(Rank, Reading<'a>)> = None;
    let mut failed: Vec<Box<Failure<'a>>> = Vec::new();

    for candidate in candidates {
        match read_as(index, candidate, (command, separates), depth) {
            Ok((rank, reading)) if best.as_ref().is_none_or(|(other, _)| rank > *other) => best = Some((rank, reading)),
            Ok(_) => {}
            Err(failure) => failed.push(failure),
        }
    }

    best.map(|(_, reading)| reading).ok_or_else(|| unread(index, command, &failed))
}

/// A tool whose command the line may have, in one of its spellings.
struct Candidate<'a> {
    grammar: Grammar<'a>,
    /// The number of words of its command, with those of options.
    command_words: usize,
    /// The words of its command that are no options.
    plain_words: usize,
}

impl<'a> Candidate<'a> {
    /// Makes the candidate of a tool whose command is spelled like this. `program` is the first word of the line, which
    /// names the program, perhaps by its path.
    fn new(tool: ResolvedTool<'a>, command: &Command, program: &str) -> Self {
        let mut grammar = Grammar::new(tool, command);
        if let Some(Slot::Word(first)) = grammar.slots.first_mut() {
            program.clone_into(first);
        }
        Self { grammar, command_words: command.len(), plain_words: command.words().count() }
    }
}

/// The order of readings: more words of the command, fewer added words, lower risk.
type Rank = (usize, Reverse<usize>, Reverse<Risk>);

/// A tool that does not take the words, and why.
struct Failure<'a> {
    grammar: Grammar<'a>,
    /// The words of its command that are no options.
    plain_words: usize,
    misfit: Misfit,
    violations: Vec<Violation>,
    /// Why no tool takes the command that it starts.
    started: Option<Unread>,
}

/// Returns the tools whose command words stand in the line in this order.
fn candidates<'a>(index: &'a ToolIndex, command: CommandWords<'_>) -> Vec<Candidate<'a>> {
    let mut found = Vec::new();
    let runs = |parts: &mut dyn Iterator<Item = CommandPart<'_>>| match parts.next() {
        Some(CommandPart::Word(word)) => (command.names_program)(command.words[0], word),
        _ => true,
    };
    for (cli, tools) in index.groups() {
        if !runs(&mut cli.parts()) {
            continue;
        }
        for tool in tools.filter(|tool| !tool.is_native() && may_fit(*tool, command)) {
            let spellings = Command::all(tool).into_iter();
            let fitting = spellings.filter(|spelling| has_words(spelling, command));
            found.extend(fitting.map(|spelling| Candidate::new(tool, &spelling, command.words[0])));
        }
    }

    found
}

/// Whether the first own word of a tool, in one of its spellings, stands in the line.
///
/// Most tools of a program fail here, before the spellings of their commands are made.
fn may_fit(tool: ResolvedTool<'_>, command: CommandWords<'_>) -> bool {
    let stands = |word: &str| command.words.contains(&word) || (command.names_program)(command.words[0], word);
    let own = tool.parts().find_map(|part| match part {
        CommandPart::Word(word) if !is_option(word) => Some(word),
        _ => None,
    });
    own.is_none_or(stands) || tool.aliases().filter_map(selecting_word).any(|word| stands(&word))
}

/// Returns the word of a spelling by which a line selects it: the first that is no option, or else its first option, such
/// as `--version`.
fn selecting_word(alias: &str) -> Option<String> {
    let words = quoted_words(alias);
    words.iter().find(|word| !is_option(word)).or(words.first()).cloned()
}

/// Whether the words of a command stand in the line, in this order, the program first.
fn has_words(own: &Command, command: CommandWords<'_>) -> bool {
    let mut line = command.words.iter();
    let mut own = own.words();
    let (Some(program), Some(first)) = (own.next(), line.next()) else { return false };
    (command.names_program)(first, program) && own.all(|word| line.any(|other| *other == word))
}

/// Reads a command as one of a tool.
fn read_as<'a>(
    index: &'a ToolIndex,
    Candidate { grammar, command_words, plain_words }: Candidate<'a>,
    (command, separates): (CommandWords<'_>, bool),
    depth: usize,
) -> Result<(Rank, Reading<'a>), Box<Failure<'a>>> {
    let tool = grammar.tool;
    let given = Typed { words: command.words, variables: command.variables, input: command.input };
    let Said { arguments, repeated, operands, typed } = match said(&grammar, given, separates) {
        Ok(found) => found,
        Err(misfit) => {
            return Err(Box::new(Failure { grammar, plain_words, misfit, violations: Vec::new(), started: None }));
        }
    };
    let added_words = typed.base_options.len() + typed.base_always.len() + typed.always.len();
    let bound = bind_line(tool, &arguments, command.input).and_then(|bound| bound.with_repeated(tool, &repeated));
    let rank = match bound {
        Ok(bound) => (command_words, Reverse(added_words), Reverse(risk::of_call(tool, &bound))),
        Err(violations) => {
            let misfit = Misfit::new(command.words.len() + 1, "an argument cannot be used");
            return Err(Box::new(Failure { grammar, plain_words, misfit, violations, started: None }));
        }
    };

    match started(index, tool, &operands, command, depth) {
        Ok(started) => Ok((rank, Reading { tool, arguments, repeated, typed, operands, started, unknown: None })),
        Err(unread) => {
            let misfit = Misfit::new(unread.word, unread.problem.clone());
            Err(Box::new(Failure { grammar, plain_words, misfit, violations: Vec::new(), started: Some(unread) }))
        }
    }
}

/// Reads a command that another one starts. It runs in the directory of that one.
///
/// # Errors
/// No tool takes the words, or they name a directory.
pub fn read_started<'a>(index: &'a ToolIndex, command: CommandWords<'_>, depth: usize) -> Result<Reading<'a>, Unread> {
    let reading = read_at(index, command, depth)?;
    let cwd = reading.tool.args().find(|arg| arg.place() == Place::Cwd);
    match cwd.filter(|cwd| reading.arguments.contains_key(cwd.name())) {
        None => Ok(reading),
        Some(cwd) => {
            let problem = format!("`{}` gives it a directory of its own; give it to the whole line", cwd.name());
            Err(Unread { word: 0, problem, suggestions: Vec::new(), tool: None, is_withheld: false })
        }
    }
}

/// Reads the command that a tool starts; `None` if it starts none.
fn started<'a>(
    index: &'a ToolIndex,
    tool: ResolvedTool<'a>,
    operands: &[OperandPlace],
    command: CommandWords<'_>,
    depth: usize,
) -> Result<Option<Box<StartedCommand<'a>>>, Unread> {
    let Some(arg) = tool.started_command() else { return Ok(None) };
    let Some(first_word) = operands.iter().find(|place| place.arg == arg.name()).map(|place| place.word) else {
        return Ok(None);
    };
    let words = CommandWords { words: &command.words[first_word..], variables: &[], ..command };

    match read_started(index, words, depth + 1) {
        Ok(reading) => Ok(Some(Box::new(StartedCommand { first_word, reading }))),
        Err(unread) => Err(Unread { word: first_word + unread.word, ..unread }),
    }
}

/// Returns the problem of the tool that takes most of the words.
fn unread(index: &ToolIndex, command: CommandWords<'_>, failed: &[Box<Failure<'_>>]) -> Unread {
    let program = command.words[0];
    let Some(nearest) = failed.iter().reduce(|best, one| {
        let key = |failure: &Failure<'_>| (failure.plain_words, failure.misfit.at);
        if key(one) > key(best) { one } else { best }
    }) else {
        return unknown_command(index, command);
    };
    if let Some(unread) = &nearest.started {
        return unread.clone();
    }

    // The line names none of the tools that have an option in their command.
    if failed.iter().all(|failure| failure.misfit.kind == MisfitKind::MissingConstant) {
        return if nearest.plain_words > 1 {
            other_forms(command, nearest.plain_words, failed)
        } else {
            unknown_command(index, command)
        };
    }

    let Misfit { at, problem, kind } = &nearest.misfit;
    let names = failed.iter().flat_map(|failure| failure.grammar.names());
    let unknown_option = if let MisfitKind::UnknownOption(name) = kind { Some(name) } else { None };
    let suggestions = unknown_option.map_or_else(Vec::new, |option| {
        let full: Vec<&str> =
            names.clone().filter(|name| option.len() > 2 && name.starts_with(option.as_str())).collect();
        let near = near_misses(option, names, MAX_SUGGESTIONS);
        let mut all: Vec<String> = full.into_iter().chain(near).map(str::to_owned).collect();
        let mut seen = std::collections::HashSet::new();
        all.retain(|name| name != option && seen.insert(name.clone()));
        all.truncate(MAX_SUGGESTIONS);
        all
    });
    let tool = nearest.grammar.tool.name();
    let problem = match nearest.violations.as_slice() {
        [] if *kind == MisfitKind::Withheld => problem.clone(),
        [] => format!("{problem} (`{program}`, tool {tool})"),
        violations => {
            let texts: Vec<String> = violations.iter().map(ToString::to_string).collect();
            format!("{} (tool {tool})", texts.join("; "))
        }
    };
    let is_withheld = *kind == MisfitKind::Withheld;

    Unread { word: *at, problem, suggestions, tool: Some(tool.to_owned()), is_withheld }
}

/// The problem of a command that tools have with options alone which the line lacks. `words` is the number of words that
/// the line shares with them.
fn other_forms(command: CommandWords<'_>, words: usize, failed: &[Box<Failure<'_>>]) -> Unread {
    let form = |failure: &Failure<'_>| {
        let plain = failure.grammar.slots.iter().filter_map(|slot| match slot {
            Slot::Word(word) => Some(word.as_str()),
            Slot::Arg(_) | Slot::Dashes => None,
        });
        let options = failure.grammar.constants.iter().flatten().map(String::as_str);
        format!("`{}`", plain.chain(options).collect::<Vec<_>>().join(" "))
    };
    let mut forms: Vec<String> =
        failed.iter().filter(|failure| failure.plain_words == words).map(|failure| form(failure)).collect();
    forms.dedup();
    let more = forms.len().saturating_sub(MAX_SUGGESTIONS);
    forms.truncate(MAX_SUGGESTIONS);
    let more = if more == 0 { String::new() } else { format!(" and {more} more forms") };
    let problem = format!("this is served as {}{more} alone", forms.join(", "));
    let word = command.words.len();

    Unread { word, problem, suggestions: Vec::new(), tool: None, is_withheld: false }
}

/// The problem of a command that no tool has.
fn unknown_command(index: &ToolIndex, command: CommandWords<'_>) -> Unread {
    let program = command.words[0];
    let mut programs: Vec<&str> = Vec::new();
    // The words of tools that start with most of the line's words, and the place behind these.
    let mut next: Vec<String> = Vec::new();
    let mut depth = 0;

    for tool in index.tools().filter(|tool| !tool.is_native()) {
        programs.extend(tool.cli().words().chain(tool.words()).next());
        for own in Command::all(tool) {
            let (shared, word) = shared_words(&own, command);
            if shared > depth {
                (depth, next) = (shared, Vec::new());
            }
            if shared == depth && depth > 0 {
                next.extend(word.map(str::to_owned));
            }
        }
    }

    let unread = |word: usize, problem: String, near: Vec<&str>| Unread {
        word,
        problem,
        suggestions: near.into_iter().map(str::to_owned).collect(),
        tool: None,
        is_withheld: false,
    };
    if depth == 0 {
        programs.dedup();
        let near = near_misses(program, programs.iter().copied(), MAX_SUGGESTIONS);
        let problem = match unknown::objection(program) {
            Some(reason) => format!("no tool runs `{program}`, and no cage does: {reason}"),
            None => format!("no tool runs `{program}`"),
        };
        return unread(0, problem, near);
    }

    let mut operands = command.words.iter().enumerate().filter(|(_, word)| !is_option(word)).skip(depth);
    let (place, found) = operands.next().map_or((command.words.len(), ""), |(at, word)| (at, *word));
    next.sort_unstable();
    next.dedup();
    let before: Vec<&str> = command.words.iter().copied().filter(|word| !is_option(word)).take(depth).collect();
    let before = before.join(" ");

    match found {
        "" => unread(
            place,
            format!("`{before}` needs a subcommand"),
            next.iter().map(String::as_str).take(MAX_SUGGESTIONS).collect(),
        ),
        found => {
            let near = near_misses(found, next.iter().map(String::as_str), MAX_SUGGESTIONS);
            unread(place, format!("no tool has the subcommand `{before} {found}`"), near)
        }
    }
}

/// Returns how many words of the line a command starts with, options aside, and the next word of the command.
fn shared_words<'c>(own: &'c Command, command: CommandWords<'_>) -> (usize, Option<&'c str>) {
    let mut line = command.words.iter().copied().filter(|word| !is_option(word));
    let mut shared = 0;
    for word in own.words() {
        let is_same = line.next().is_some_and(|other| match shared {
            0 => (command.names_program)(other, word),
            _ => other == word,
        });
        if !is_same {
            return (shared, Some(word));
        }
        shared += 1;
    }

    (shared, None)
}
