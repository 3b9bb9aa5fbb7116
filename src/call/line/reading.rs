//! Reads the words of a command back into a tool and its arguments: the inverse of planning a command line.

use std::cmp::Reverse;

use climax_catalog::{
    CommandPart, MAX_SUGGESTIONS, Place, ResolvedTool, Risk, Shape, Spread, ToolIndex, near_misses, quoted_words,
};
use serde_json::{Map, Value};

use super::command::{Command, is_option};
use super::grammar::{Grammar, Slot};
use super::operands::{OperandPlace, assign};
use super::scan::{Given, Misfit, scan};
use crate::call::arguments::{Input, Violation, bind_line};
use crate::call::risk;

/// A command, read.
#[derive(Clone, Debug)]
pub struct Reading<'a> {
    /// The tool.
    pub tool: ResolvedTool<'a>,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// The words that are operands, with their args.
    pub operands: Vec<OperandPlace>,
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
}

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
}

/// Reads a command.
///
/// Of the tools that take all words, the one with the most words of its command in the line wins. Between equals, fewest
/// added words win, then the lower risk, then the order of definition. Defaults do not apply.
///
/// # Errors
/// The problem of the tool that takes most of the words.
pub fn read<'a>(index: &'a ToolIndex, command: CommandWords<'_>) -> Result<Reading<'a>, Unread> {
    let candidates = candidates(index, command);
    let mut best: Option<(Rank, Reading<'a>)> = None;
    let mut failed: Vec<Box<Failure<'a>>> = Vec::new();
    for candidate in &candidates {
        match read_as(candidate, command) {
            Ok((rank, reading)) if best.as_ref().is_none_or(|(other, _)| rank > *other) => best = Some((rank, reading)),
            Ok(_) => {}
            Err(failure) => failed.push(failure),
        }
    }
    best.map(|(_, reading)| reading).ok_or_else(|| unread(index, command, &failed))
}

/// A tool whose command the line may have, in one of its spellings.
struct Candidate<'a> {
    tool: ResolvedTool<'a>,
    command: Command,
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
}

/// Returns the tools whose command words stand in the line in this order.
fn candidates<'a>(index: &'a ToolIndex, command: CommandWords<'_>) -> Vec<Candidate<'a>> {
    let mut found = Vec::new();
    let runs = |parts: &mut dyn Iterator<Item = CommandPart<'_>>| match parts.next() {
        Some(CommandPart::Word(word)) => (command.names_program)(command.words[0], word),
        _ => true,
    };
    let may_run = |text: &str| quoted_words(text).first().is_some_and(|word| word == command.words[0]);
    for (cli, tools) in index.groups() {
        if !runs(&mut cli.parts()) && !cli.programs().any(may_run) {
            continue;
        }
        for tool in tools.filter(|tool| !tool.is_native() && may_fit(*tool, command)) {
            let spellings = Command::all(tool).into_iter();
            let fitting = spellings.filter(|spelling| has_words(spelling, command));
            found.extend(fitting.map(|command| Candidate { tool, command }));
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
    let stands_as =
        |alias: &str| quoted_words(alias).iter().find(|word| !is_option(word)).is_none_or(|word| stands(word));
    own.is_none_or(stands) || tool.aliases().any(stands_as)
}

/// Whether the words of a command stand in the line, in this order, the program first.
fn has_words(own: &Command, command: CommandWords<'_>) -> bool {
    let mut line = command.words.iter();
    let mut own = own.words();
    let (Some(program), Some(first)) = (own.next(), line.next()) else { return false };
    (command.names_program)(first, program) && own.all(|word| line.any(|other| *other == word))
}

/// Reads a command as one of a tool.
fn read_as<'a>(candidate: &Candidate<'a>, command: CommandWords<'_>) -> Result<(Rank, Reading<'a>), Box<Failure<'a>>> {
    let Candidate { tool, command: own } = candidate;
    let (command_words, plain_words) = (own.len(), own.words().count());
    let mut grammar = Grammar::new(*tool, own);
    // The first word names the program, perhaps by its path.
    if let (Some(Slot::Word(program)), Some(first)) = (grammar.slots.first_mut(), command.words.first()) {
        (*first).clone_into(program);
    }
    match arguments_of(&grammar, command) {
        Ok((arguments, operands, added_words)) => match bind_line(*tool, &arguments, command.input) {
            Ok(bound) => {
                let rank = (command_words, Reverse(added_words), Reverse(risk::of_call(*tool, &bound)));
                Ok((rank, Reading { tool: *tool, arguments, operands }))
            }
            Err(violations) => {
                let misfit = Misfit::new(command.words.len() + 1, "an argument cannot be used");
                Err(Box::new(Failure { grammar, plain_words, misfit, violations }))
            }
        },
        Err(misfit) => Err(Box::new(Failure { grammar, plain_words, misfit, violations: Vec::new() })),
    }
}

type Arguments = (Map<String, Value>, Vec<OperandPlace>, usize);

/// Reads the arguments of a tool.
fn arguments_of(grammar: &Grammar<'_>, command: CommandWords<'_>) -> Result<Arguments, Misfit> {
    let mut scanned = scan(grammar, command.words)?;
    let operands = assign(grammar, &mut scanned, command.words.len())?;
    let mut arguments: Map<String, Value> =
        scanned.given.iter().map(|(name, given)| ((*name).to_owned(), json(given))).collect();
    for (name, value) in command.variables {
        let arg = grammar.tool.args().find(|arg| arg.variable() == Some(name));
        let Some(arg) = arg else {
            return Err(Misfit::new(0, format!("the variable `{name}` cannot be set for this command")));
        };
        arguments.insert(arg.name().to_owned(), (*value).into());
    }
    let stdin = grammar.tool.args().find(|arg| arg.place() == Place::Stdin && !arg.is_from_user());
    match (command.input, stdin) {
        (Input::Nothing, _) | (Input::Pipe, Some(_)) => {}
        (Input::Text(text), Some(stdin)) => drop(arguments.insert(stdin.name().to_owned(), text.into())),
        (Input::Text(_) | Input::Pipe, None) => {
            return Err(Misfit::new(0, format!("`{}` reads no standard input", grammar.tool.name())));
        }
    }
    Ok((arguments, operands, scanned.added_words))
}

/// Returns what a line says about an arg, as JSON.
fn json(given: &Given<'_>) -> Value {
    let arg = given.arg;
    let texts = || given.values.iter().map(|(_, value)| value.as_str());
    match arg.shape() {
        Shape::Count => given.count.into(),
        Shape::Single => match (given.switch, given.values.first()) {
            (Some(on), _) => on.into(),
            (None, value) => value.map_or("", |(_, value)| value).into(),
        },
        Shape::List(Spread::Joined) => {
            texts().flat_map(|text| text.split(arg.separator())).map(Value::from).collect::<Vec<_>>().into()
        }
        Shape::List(_) | Shape::Rest => texts().map(Value::from).collect::<Vec<_>>().into(),
        Shape::Map(Spread::Joined) => {
            let pairs = texts().flat_map(|text| text.split(arg.separator()));
            let separator = arg.template().separator().to_owned();
            let separator = if separator.is_empty() { "=" } else { &separator };
            map(pairs.map(|pair| pair.split_once(separator).unwrap_or((pair, ""))))
        }
        Shape::Map(_) => map(given.values.iter().map(|(key, value)| (key.as_str(), value.as_str()))),
    }
}

/// Makes an object whose members are lists: a line may repeat a key.
fn map<'p>(pairs: impl Iterator<Item = (&'p str, &'p str)>) -> Value {
    let mut members: Map<String, Value> = Map::new();
    for (key, value) in pairs {
        if let Value::Array(values) = members.entry(key).or_insert_with(|| Value::Array(Vec::new())) {
            values.push(value.into());
        }
    }
    members.into()
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
    let Misfit { at, problem, unknown_option } = &nearest.misfit;
    let names = failed.iter().flat_map(|failure| failure.grammar.names());
    let suggestions = unknown_option.as_ref().map_or_else(Vec::new, |option| {
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
        [] => format!("{problem} (`{program}`, tool {tool})"),
        violations => {
            let texts: Vec<String> = violations.iter().map(ToString::to_string).collect();
            format!("{} (tool {tool})", texts.join("; "))
        }
    };
    Unread { word: *at, problem, suggestions, tool: Some(tool.to_owned()) }
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
    };
    if depth == 0 {
        programs.dedup();
        let near = near_misses(program, programs.iter().copied(), MAX_SUGGESTIONS);
        return unread(0, format!("no tool runs `{program}`"), near);
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
