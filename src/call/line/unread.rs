//! Says why no tool takes a command, and what may be meant.

use std::cmp::Reverse;

use climax_catalog::{ArgView, MAX_SUGGESTIONS, ResolvedTool, ToolIndex, near_misses};

use super::command::{Command, is_option};
use super::command_words::{CommandWords, NamesProgram};
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
    /// The place of an operand that is none of the values of its arg, and these. It may be meant as a subcommand.
    pub(super) misnamed: Option<(usize, Vec<String>)>,
    /// Why no tool takes the command that it starts.
    pub(super) started: Option<Unread>,
}

impl<'a> Failure<'a> {
    /// Makes the failure of a tool that does not take a word.
    pub(super) fn new(grammar: Grammar<'a>, plain_words: usize, misfit: Misfit) -> Self {
        Self { grammar, plain_words, misfit, violations: Vec::new(), misnamed: None, started: None }
    }
}

/// Returns the problem of the tool that takes most of the words.
pub(super) fn unread(index: &ToolIndex, command: CommandWords<'_>, failed: &[Box<Failure<'_>>]) -> Unread {
    let program = command.words[0];
    if !command.explains {
        let problem = format!("no tool takes the words of `{program}`");
        return problem_at(0, problem, []);
    }
    let Some(nearest) = failed.iter().reduce(|best, one| {
        let key = |failure: &Failure<'_>| (failure.plain_words, failure.misfit.at, Reverse(failure.violations.len()));
        if key(one) > key(best) { one } else { best }
    }) else {
        return unknown_command(index, command);
    };
    if let Some(unread) = &nearest.started {
        return unread.clone();
    }
    if let Some(unread) = misnamed(index, command, nearest).or_else(|| no_subcommand(index, command, failed)) {
        return unread;
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
        let plain = failure.grammar.slots.iter().filter_map(Slot::word);
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

/// The commands that start with the most of some words.
#[derive(Default)]
struct Neighbors<'a> {
    /// The programs of all tools.
    programs: Vec<&'a str>,
    /// The number of words that they share.
    depth: usize,
    /// Their next words.
    next: Vec<String>,
}

impl<'a> Neighbors<'a> {
    fn of(words: &[&str], index: &'a ToolIndex, names_program: NamesProgram<'_>) -> Self {
        let mut neighbors = Self::default();
        for (cli, tools) in index.groups() {
            let mut tools = tools.filter(|tool| !tool.is_native()).peekable();
            let base = cli.words().next().filter(|_| tools.peek().is_some());
            neighbors.programs.extend(base);
            if base.is_some_and(|program| !names_program(words[0], program)) {
                continue;
            }
            for tool in tools {
                neighbors.add(tool, words, names_program);
            }
        }
        neighbors.programs.dedup();
        neighbors.next.sort_unstable();
        neighbors.next.dedup();

        neighbors
    }

    fn add(&mut self, tool: ResolvedTool<'a>, words: &[&str], names_program: NamesProgram<'_>) {
        let program = tool.cli().words().chain(tool.words()).next();
        self.programs.extend(program.filter(|_| tool.cli().words().next().is_none()));
        // Another spelling may name another program.
        if tool.aliases().next().is_none() && program.is_some_and(|program| !names_program(words[0], program)) {
            return;
        }
        for own in Command::all(tool) {
            let (shared, next) = shared_words(&own, words, names_program);
            if shared > self.depth {
                (self.depth, self.next) = (shared, Vec::new());
            }
            if shared == self.depth && shared > 0 {
                self.next.extend(next.map(str::to_owned));
            }
        }
    }

    /// The problem of a word in a place where subcommands stand. `before` are the words before it.
    fn unknown_subcommand(&self, before: &[&str], (place, found): (usize, &str)) -> Unread {
        let near = near_misses(found, self.next.iter().map(String::as_str), MAX_SUGGESTIONS);
        problem_at(place, format!("no tool has the subcommand `{} {found}`", before.join(" ")), near)
    }
}

fn problem_at<'s>(word: usize, problem: String, near: impl IntoIterator<Item = &'s str>) -> Unread {
    let suggestions = near.into_iter().map(str::to_owned).collect();
    Unread { word, problem, suggestions, tool: None, is_withheld: false }
}

/// The problem of an operand that the nearest tool does not take, and that is meant as a subcommand: other tools have
/// subcommands in its place.
fn misnamed(index: &ToolIndex, command: CommandWords<'_>, nearest: &Failure<'_>) -> Option<Unread> {
    let (place, values) = match (&nearest.misnamed, &nearest.misfit.kind) {
        (Some((place, values)), _) => (*place, values.as_slice()),
        (None, MisfitKind::ExtraOperand) => (nearest.misfit.at, &[][..]),
        (None, _) => return None,
    };
    let words: Vec<&str> = nearest.grammar.slots.iter().filter_map(Slot::word).collect();
    let operands = command.words[..place].iter().filter(|word| !is_option(word)).count();
    if words.is_empty() || values.is_empty() && operands > words.len() {
        return None;
    }

    let mut neighbors = Neighbors::of(&words, index, command.names_program);
    if neighbors.depth < words.len() || neighbors.next.is_empty() {
        return None;
    }
    neighbors.next.extend_from_slice(values);
    let unread = neighbors.unknown_subcommand(&words, (place, command.words[place]));
    Some(unread).filter(|unread| !values.is_empty() || !unread.suggestions.is_empty())
}

/// The problem of a word that is no subcommand, where tools have one: `git gui blame` is no form of `git blame`.
fn no_subcommand(index: &ToolIndex, command: CommandWords<'_>, failed: &[Box<Failure<'_>>]) -> Option<Unread> {
    let (operands, mut neighbors) = operands(index, command);
    let found = *operands.get(neighbors.depth).filter(|_| neighbors.depth > 0 && !neighbors.next.is_empty())?;

    let before: Vec<&str> = operands[..neighbors.depth].iter().map(|(_, word)| *word).collect();
    for failure in failed {
        let Some(arg) = operand_behind(&failure.grammar, &before, command) else { continue };
        let first_words: Vec<String> = arg
            .choices()
            .filter_map(|choice| choice.words().map_or(Some(choice.value.to_owned()), |words| words.into_iter().next()))
            .collect();
        if first_words.is_empty() || first_words.iter().any(|word| word == found.1) {
            return None;
        }
        neighbors.next.extend(first_words);
    }
    Some(neighbors.unknown_subcommand(&before, found))
}

/// Returns the arg of the operand that a tool takes behind some words of a command; `None` if it takes none there, or if the
/// command lacks an option that the tool always has, such as the `--help` of a tool that explains any subcommand.
fn operand_behind<'a>(grammar: &Grammar<'a>, before: &[&str], command: CommandWords<'_>) -> Option<ArgView<'a>> {
    let is_same = grammar.slots.iter().zip(before).skip(1).all(|(slot, word)| slot.word() == Some(word));
    let is_given = |constant: &Vec<String>| constant.first().is_some_and(|name| command.words.contains(&name.as_str()));
    match grammar.slots.get(before.len()) {
        Some(Slot::Arg(arg)) if is_same && grammar.constants.iter().all(is_given) => Some(*arg),
        _ => None,
    }
}

/// The problem of a command that no tool has.
fn unknown_command(index: &ToolIndex, command: CommandWords<'_>) -> Unread {
    let program = command.words[0];
    let (operands, neighbors) = operands(index, command);
    if neighbors.depth == 0 {
        let near = near_misses(program, neighbors.programs.iter().copied(), MAX_SUGGESTIONS);
        let problem = match unknown::objection(program) {
            Some(reason) => format!("no tool runs `{program}`, and no cage does: {reason}"),
            None => format!("no tool runs `{program}`"),
        };
        return problem_at(0, problem, near);
    }

    let before: Vec<&str> = operands[..neighbors.depth].iter().map(|(_, word)| *word).collect();
    if let Some(found) = operands.get(neighbors.depth) {
        return neighbors.unknown_subcommand(&before, *found);
    }
    let some = neighbors.next.iter().map(String::as_str).take(MAX_SUGGESTIONS);
    problem_at(command.words.len(), format!("`{}` needs a subcommand", before.join(" ")), some)
}

/// Returns the program and the words that are probably operands, with their places, and the commands that start with the
/// most of them.
///
/// What stands behind an option may be its value, as in `git -C DIRECTORY log`, or not, as in `git --no-pager log`: whatever
/// is more of a command.
fn operands<'w, 'i>(index: &'i ToolIndex, command: CommandWords<'w>) -> (Vec<(usize, &'w str)>, Neighbors<'i>) {
    // Programs of Rust take `+TOOLCHAIN` before their subcommand.
    let is_plain = |(at, word): &(usize, &str)| *at == 0 || !is_option(word) && !word.starts_with('+');
    let all: Vec<(usize, &str)> = command.words.iter().copied().enumerate().filter(is_plain).collect();
    let is_behind_option = |at: usize| at > 0 && is_option(command.words[at - 1]);
    let apart: Vec<(usize, &str)> = all.iter().copied().filter(|(at, _)| !is_behind_option(*at)).collect();

    let neighbors = |operands: &[(usize, &str)]| {
        let words: Vec<&str> = operands.iter().map(|(_, word)| *word).collect();
        Neighbors::of(&words, index, command.names_program)
    };
    let of_all = neighbors(&all);
    if apart.len() == all.len() || apart.len() == 1 {
        return (all, of_all);
    }
    let of_apart = neighbors(&apart);
    if of_apart.depth < of_all.depth { (all, of_all) } else { (apart, of_apart) }
}

/// Returns with how many of some words a command starts, and its next word.
fn shared_words<'c>(own: &'c Command, words: &[&str], names_program: NamesProgram<'_>) -> (usize, Option<&'c str>) {
    let is_same = |(at, word): (usize, &str)| match (words.get(at), at) {
        (None, _) => false,
        (Some(other), 0) => names_program(other, word),
        (Some(other), _) => *other == word,
    };
    let shared = own.words().enumerate().take_while(|one| is_same(*one)).count();
    (shared, own.words().nth(shared))
}
