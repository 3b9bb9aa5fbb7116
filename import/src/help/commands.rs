//! The subcommands of a help page.

use std::collections::HashSet;

use crate::command::{Operand, Subcommand, Sure};
use crate::page::{ListEntry, Section};
use crate::prose;
use crate::synopsis::{self, Synopsis};

/// The most subcommands of one help page.
const MAX_PAGE_COMMANDS: usize = 400;

/// Reads a list of subcommands in two columns.
#[must_use]
pub fn read_listing(text: &str) -> Vec<Subcommand> {
    let lines = text.lines().filter(|line| line.starts_with(' '));
    let pairs = lines.filter_map(|line| line.trim().split_once("  "));
    let named = pairs.filter(|(name, about)| is_command_word(name) && !about.trim().starts_with("alias:"));
    let commands = named.map(|(name, about)| Subcommand {
        name: name.to_owned(),
        about: prose::shorten(&[about.trim().to_owned()]),
        usages: Vec::new(),
    });
    once(commands).collect()
}

/// Returns whether an operand is only the place of a subcommand, as `argparse` lists it.
pub(super) fn names_subcommands(operand: &Operand, subcommands: &[Subcommand]) -> bool {
    let is_named = |name: &str| subcommands.iter().any(|subcommand| subcommand.name == name);
    operand.value.values.as_ref().is_some_and(|values| values.get().iter().any(|value| is_named(value)))
        || is_named(&operand.name)
}

pub(super) fn listed_commands(
    entries: &[ListEntry],
    synopses: &[Synopsis],
    operands: &[Operand],
    words: &[String],
) -> Vec<Subcommand> {
    let wants = synopses.iter().any(|synopsis| synopsis.wants_command.is_some());
    let choices = |name: &str| {
        let values = operands.iter().filter_map(|operand| operand.value.values.as_ref());
        values.flat_map(Sure::get).any(|value| value == name)
    };
    let mut found = Vec::new();

    for entry in entries.iter().filter(|entry| !entry.term.starts_with('-')) {
        let is_place = match entry.section {
            Section::Commands => true,
            Section::Other => wants,
            // `argparse` lists subcommands below `{add,list}`.
            Section::Operands => choices(entry.term.trim()),
            _ => false,
        };
        if is_place {
            found.extend(subcommands(entry, words));
        }
    }

    let is_choice =
        |entry: &&ListEntry| matches!(entry.section, Section::Operands | Section::Commands | Section::Other);
    for entry in entries.iter().filter(is_choice).filter(|entry| entry.term.starts_with('{')) {
        let listed = below_choice(entry);
        // The choices of a program without a word about any are its subcommands: `{check,upload}`.
        if listed.is_empty() && words.is_empty() && entry.text.iter().all(String::is_empty) {
            let names = entry.term.trim_matches(['{', '}', '.', ' ']).split(',').map(str::trim);
            let names = names.filter(|name| name.len() > 2 && is_command_word(name));
            found.extend(names.map(|name| Subcommand {
                name: name.to_owned(),
                about: String::new(),
                usages: Vec::new(),
            }));
        }
        found.extend(listed);
    }
    // `<command>` with the subcommands below it.
    for entry in entries.iter().filter(|entry| entry.section == Section::Operands && found_in(&entry.term)) {
        found.extend(entry.text.iter().filter_map(|line| below_operand(line)));
    }

    once(found.into_iter().filter(|command| !is_useless(&command.name))).take(MAX_PAGE_COMMANDS).collect()
}

/// Whether an operand is the place of a subcommand.
fn found_in(term: &str) -> bool {
    synopsis::is_command(term.trim_matches(['<', '>', '[', ']']).to_ascii_lowercase().as_str())
}

/// A subcommand in a line below its place, in two columns.
fn below_operand(line: &str) -> Option<Subcommand> {
    let (name, about) = line.split_once("  ")?;
    let about = prose::shorten(&[about.trim().to_owned()]);
    is_command_word(name).then(|| Subcommand { name: name.to_owned(), about, usages: Vec::new() })
}

/// Subcommands in the text of `{add,list}`: lines that start with one of the choices.
fn below_choice(entry: &ListEntry) -> Vec<Subcommand> {
    let inner = entry.term.trim_matches(['{', '}', '.', ' ']);
    let names: Vec<&str> = inner.split(',').map(str::trim).collect();
    let mut found: Vec<Subcommand> = Vec::new();

    for line in &entry.text {
        let (first, rest) = line.split_once("  ").unwrap_or((line, ""));
        let name = first.split([' ', '(']).next().unwrap_or_default();
        if names.contains(&name) {
            let about = prose::shorten(&[rest.trim().to_owned()]);
            found.push(Subcommand { name: name.to_owned(), about, usages: Vec::new() });
        }
    }

    found
}

fn subcommands(entry: &ListEntry, words: &[String]) -> Vec<Subcommand> {
    let about = prose::shorten(&entry.text);
    let subcommand =
        |name: &str, about: &str| Subcommand { name: name.to_owned(), about: about.to_owned(), usages: Vec::new() };
    let term = entry.term.trim().trim_end_matches(':');
    let listed: Vec<&str> = term.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();

    if listed.len() > 1 && listed.iter().all(|name| is_command_word(name)) {
        // Without a description it is a list of commands; with a description, a command and its aliases.
        if about.is_empty() || listed.len() > 3 {
            let more = entry.text.iter().flat_map(|line| line.split(',')).map(str::trim);
            return listed
                .iter()
                .copied()
                .chain(more)
                .filter(|name| is_command_word(name))
                .map(|name| subcommand(name, ""))
                .collect();
        }
        let longest = listed.iter().rev().max_by_key(|name| name.len());
        return longest.map(|name| subcommand(name, &about)).into_iter().collect();
    }

    // `add <name>`, and `prog add <name>`.
    let mut own = term.split_whitespace().filter(|word| !words.iter().any(|parent| parent == word));
    let Some(first) = own.next().map(|word| word.trim_end_matches([',', '*'])) else { return Vec::new() };
    let is_shaped =
        own.all(|word| word.starts_with(['<', '[', '(', '{', '-', '.']) || is_command_word(word) && !about.is_empty());

    if !is_command_word(first)
        || !is_shaped
        || term.split_whitespace().count() > 6
        || entry.text.is_empty() && term.contains(' ')
    {
        return Vec::new();
    }

    vec![subcommand(first, &about)]
}

/// Subcommands that only usage lines show.
pub(super) fn usage_commands(usages: &[String], synopses: &[Synopsis]) -> Vec<Subcommand> {
    let mut found: Vec<Subcommand> = Vec::new();
    for (usage, synopsis) in usages.iter().zip(synopses) {
        let is_name = |name: &&String| is_command_word(name) && !is_useless(name) && !synopsis.literal_alone;
        let Some(name) = synopsis.literal.as_ref().filter(is_name) else {
            continue;
        };
        match found.iter_mut().find(|known| known.name == *name) {
            Some(known) => known.usages.push(usage.clone()),
            None => {
                found.push(Subcommand { name: name.clone(), about: String::new(), usages: vec![usage.clone()] });
            }
        }
    }

    found
}

fn is_command_word(word: &str) -> bool {
    word.len() <= 60
        && word.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:".contains(c))
        && !word.ends_with(['.', ':', '-'])
}

/// Commands for people at a terminal.
fn is_useless(name: &str) -> bool {
    matches!(name, "help" | "completion" | "completions" | "man" | "options")
}

/// Drops repeated names.
fn once(commands: impl IntoIterator<Item = Subcommand>) -> impl Iterator<Item = Subcommand> {
    let mut seen = HashSet::new();
    commands.into_iter().filter(move |command| seen.insert(command.name.clone()))
}
