//! Says why no tool takes a command, and what may be meant.

use climax_catalog::{MAX_SUGGESTIONS, ToolIndex, near_misses};

use super::command::{Command, is_option};
use super::command_words::CommandWords;
use super::grammar::{Grammar, Slot};
use super::scan::{Misfit, MisfitKind};
use crate::call::arguments::Violation;
use crate::call::unknown;

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

/// A tool that does not take the words, and why.
pub(super) struct Failure<'a> {
    pub(super) grammar: Grammar<'a>,
    /// The words of its command that are no options.
    pub(super) plain_words: usize,
    pub(super) misfit: Misfit,
    pub(super) violations: Vec<Violation>,
    /// Why no tool takes the command that it starts.
    pub(super) started: Option<Unread>,
}

/// Returns the problem of the tool that takes most of the words.
pub(super) fn unread(index: &ToolIndex, command: CommandWords<'_>, failed: &[Box<Failure<'_>>]) -> Unread {
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
        let first = tool.cli().words().chain(tool.words()).next();
        programs.extend(first);
        // Another spelling may name another program, where the config names none.
        let is_fixed = tool.cli().words().next().is_some() || tool.aliases().next().is_none();
        if is_fixed && first.is_some_and(|word| !(command.names_program)(program, word)) {
            continue;
        }
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
