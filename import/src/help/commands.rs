//! The subcommands of a help page.

use std::collections::HashSet;

use crate::command::{Operand, Several, Subcommand, Sure};
use crate::command_word::{is_command_word, listed_names};
use crate::page::{ListEntry, Section};
use crate::placeholder;
use crate::prose;
use crate::synopsis::Synopsis;

/// The most subcommands of one help page.
const MAX_PAGE_COMMANDS: usize = 400;

/// Remarks behind the names of commands, which are no other names.
const REMARKS: [&str; 6] = ["default", "deprecated", "experimental", "beta", "alpha", "optional"];

/// Reads a list of subcommands in two columns.
#[must_use]
pub fn read_listing(text: &str) -> Vec<Subcommand> {
    let lines = text.lines().filter(|line| line.starts_with(' '));
    let pairs = lines.filter_map(|line| line.trim().split_once("  "));
    let named = pairs.filter(|(name, about)| is_command_word(name) && !about.trim().starts_with("alias:"));
    let commands = named.map(|(name, about)| Subcommand {
        name: name.to_owned(),
        about: prose::shorten(&[about.trim().to_owned()]),
        ..Subcommand::default()
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
    (words, parents): (&[String], &[String]),
    is_manual: bool,
) -> Vec<Subcommand> {
    // Of a manual other sections show tables and examples.
    let wants = !is_manual && synopses.iter().any(|synopsis| synopsis.wants_command.is_some());
    let choices = |name: &str| {
        let values = operands.iter().filter_map(|operand| operand.value.values.as_ref());
        values.flat_map(Sure::get).any(|value| value == name)
    };
    let namespaces = namespaces(entries, parents);
    let mut found = Vec::new();

    for entry in entries.iter().filter(|entry| !entry.term.starts_with('-')) {
        let first = entry.term.split_whitespace().next().unwrap_or_default();
        if entry.section == Section::Commands && namespaces.contains(first) {
            found.extend(command_of_words(entry));
            continue;
        }
        let is_place = match entry.section {
            Section::Commands => true,
            Section::Other => wants,
            // `argparse` lists subcommands below `{add,list}`.
            Section::Operands => choices(entry.term.trim()),
            _ => false,
        };
        if is_place {
            found.extend(subcommands(entry, parents));
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
            found.extend(names.map(|name| Subcommand { name: name.to_owned(), ..Subcommand::default() }));
        }
        found.extend(listed);
    }
    // `<command>` with the subcommands below it.
    for entry in entries.iter().filter(|entry| entry.section == Section::Operands && found_in(&entry.term)) {
        found.extend(entry.text.iter().filter_map(|line| below_operand(line)));
    }

    once(found.into_iter().filter(|command| !is_useless(&command.name))).take(MAX_PAGE_COMMANDS).collect()
}

/// The first words of commands of several words, which share them: `cache` of `cache clear` and `cache list`.
fn namespaces<'a>(entries: &'a [ListEntry], parents: &[String]) -> HashSet<&'a str> {
    let listed = entries.iter().filter(|entry| entry.section == Section::Commands && !entry.text.is_empty());
    let pairs: HashSet<(&str, &str)> = listed.filter_map(|entry| plain_words(entry)?.split_once(' ')).collect();
    let is_shared = |first: &str| pairs.iter().filter(|(own, _)| *own == first).count() > 1;
    let is_own = |first: &str| parents.first().is_some_and(|program| program == first);
    pairs.iter().map(|(first, _)| *first).filter(|first| is_shared(first) && !is_own(first)).collect()
}

/// The term of an entry, if it is words of commands alone.
fn plain_words(entry: &ListEntry) -> Option<&str> {
    let term = entry.term.trim();
    term.split(' ').all(is_command_word).then_some(term)
}

/// The command of an entry whose words name it; none for the title of others.
fn command_of_words(entry: &ListEntry) -> Option<Subcommand> {
    let name = plain_words(entry)?.to_owned();
    let about = prose::shorten(&entry.text);
    (!about.is_empty()).then(|| Subcommand { name, about, ..Subcommand::default() })
}

/// Marks the subcommand that a page calls the default: "command to execute (by default serve)".
pub(super) fn mark_default(subcommands: &mut [Subcommand], text: &str) {
    let named = text.split_once("to execute (by default ").and_then(|(_, rest)| rest.split([')', ' ']).next());
    for subcommand in subcommands {
        subcommand.is_default |= Some(subcommand.name.as_str()) == named;
    }
}

/// Whether an operand is the place of a subcommand.
fn found_in(term: &str) -> bool {
    placeholder::is_command(term.trim_matches(['<', '>', '[', ']']).to_ascii_lowercase().as_str())
}

/// A subcommand in a line below its place, in two columns.
fn below_operand(line: &str) -> Option<Subcommand> {
    let (name, about) = line.split_once("  ")?;
    let about = prose::shorten(&[about.trim().to_owned()]);
    is_command_word(name).then(|| Subcommand { name: name.to_owned(), about, ..Subcommand::default() })
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
            // `run (r)`
            let noted = first.split_once('(').and_then(|(_, inner)| inner.split(')').next()).unwrap_or_default();
            let aliases = noted.split(',').map(str::trim).filter(|word| is_command_word(word)).map(str::to_owned);
            found.push(Subcommand {
                name: name.to_owned(),
                aliases: aliases.collect(),
                about,
                ..Subcommand::default()
            });
        }
    }

    found
}

/// The subcommands of an entry. `parents` are the words before theirs: the program, and the command of the page.
fn subcommands(entry: &ListEntry, parents: &[String]) -> Vec<Subcommand> {
    let mut text = entry.text.clone();
    let mut aliases = text.last_mut().map(noted_aliases).unwrap_or_default();
    let about = prose::shorten(&text);
    let term = entry.term.trim().trim_end_matches(':');
    let term = term.strip_prefix("(default) ").unwrap_or(term);
    let (term, noted) = noted_names(term);
    aliases.extend(noted);
    let listed: Vec<&str> = term.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();

    if listed.len() > 1 && listed.iter().all(|name| is_command_word(name)) {
        // Without a description it is a list of commands; with a description, a command and its aliases.
        if about.is_empty() || listed.len() > 3 || term.ends_with(',') {
            let more = entry.text.iter().flat_map(|line| listed_names(line));
            return named(listed.iter().copied().chain(more));
        }
        return vec![with_aliases(&listed, aliases, about)];
    }

    if let (true, Some(more)) = (is_command_word(term), names_in_columns(&entry.text)) {
        return named([term].into_iter().chain(more));
    }

    // `add <name>`, and `prog add <name>`.
    let mut own = term.split_whitespace().filter(|word| !parents.iter().any(|parent| parent == word));
    let Some(first) = own.next() else { return Vec::new() };
    // `serve*` is what runs where no command is named.
    let is_default = first.ends_with('*') || entry.term.trim_start().starts_with("(default) ");
    let first = first.trim_end_matches([',', '*']);
    // `serve|s [options]`
    let (first, others) = first.split_once('|').unwrap_or((first, ""));
    aliases.extend(others.split('|').filter(|word| is_command_word(word)).map(str::to_owned));
    let is_operand = |word: &str| is_command_word(word) || is_shouted(word);
    let is_shaped =
        own.all(|word| word.starts_with(['<', '[', '(', '{', '-', '.']) || is_operand(word) && !about.is_empty());

    if !is_command_word(first)
        || !is_shaped
        || term.split_whitespace().count() > 6
        || entry.text.is_empty() && term.contains(' ')
    {
        return Vec::new();
    }

    vec![Subcommand { is_default, ..with_aliases(&[first], aliases, about) }]
}

/// Subcommands of which only the names are known.
fn named<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Subcommand> {
    let names = names.filter(|name| is_command_word(name));
    names.map(|name| Subcommand { name: name.to_owned(), ..Subcommand::default() }).collect()
}

/// Parts a name from the other ones in brackets behind it: `delete (del, rm)`.
fn noted_names(term: &str) -> (&str, Vec<String>) {
    let Some((name, inner)) = term.strip_suffix(')').and_then(|term| term.rsplit_once(" (")) else {
        return (term, Vec::new());
    };
    let names: Vec<String> = inner.split(',').map(|word| word.trim().to_owned()).collect();
    let is_name = |word: &String| is_command_word(word) && !REMARKS.contains(&word.as_str());
    if names.iter().all(is_name) { (name.trim_end(), names) } else { (term, Vec::new()) }
}

/// The names of a text with columns of nothing but names: `add   clean   diff`.
fn names_in_columns(text: &[String]) -> Option<Vec<&str>> {
    let cells = text.iter().flat_map(|line| line.split("  ")).map(str::trim).filter(|cell| !cell.is_empty());
    let cells: Vec<&str> = cells.collect();
    (cells.len() > 1 && cells.iter().all(|cell| is_command_word(cell))).then_some(cells)
}

/// Whether a word is the name of an operand in capitals: `FILE`, `KEY...`.
fn is_shouted(word: &str) -> bool {
    let name = word.trim_end_matches('.');
    name.len() > 1
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || b"_-".contains(&byte))
}

/// A subcommand that is called by its longest word, and by others.
fn with_aliases(words: &[&str], mut aliases: Vec<String>, about: String) -> Subcommand {
    // The first one is what the page of the command calls it, unless it is short for another one.
    let first = words.first().filter(|word| word.len() > 3);
    let name = first.or_else(|| words.iter().rev().max_by_key(|word| word.len())).copied().unwrap_or_default();
    aliases.extend(words.iter().filter(|word| **word != name).map(|word| (*word).to_owned()));
    Subcommand { name: name.to_owned(), aliases, about, ..Subcommand::default() }
}

/// Takes the other words of a subcommand from the end of its description: `[aliases: b, bld]`.
fn noted_aliases(text: &mut String) -> Vec<String> {
    let Some((before, inner)) = text.trim_end().strip_suffix(']').and_then(|text| text.rsplit_once('[')) else {
        return Vec::new();
    };
    let Some(words) = inner.strip_prefix("aliases: ").or_else(|| inner.strip_prefix("alias: ")) else {
        return Vec::new();
    };
    let words = words.split(',').map(str::trim).filter(|word| is_command_word(word)).map(str::to_owned).collect();
    *text = before.trim_end().to_owned();
    words
}

/// Subcommands that a usage line shows as a choice with words behind it: `{add,list} ...`, the form of `argparse`.
pub(super) fn choice_commands(synopses: &[Synopsis]) -> Vec<Subcommand> {
    let choices = synopses.iter().flat_map(|synopsis| &synopsis.operands);
    let choice = choices.filter(|operand| operand.value.several == Several::Each && operand.required);
    let names = choice.filter_map(|operand| operand.value.values.as_ref()).flat_map(Sure::get);
    let names = names.filter(|name| is_command_word(name) && !is_useless(name));
    once(names.map(|name| Subcommand { name: name.clone(), ..Subcommand::default() })).collect()
}

/// The other spellings of a command that the section `Aliases:` of its own page lists, with the words of its parents.
///
/// A spelling of several words starts with the program.
pub(super) fn aliases(text: &str, words: &[String]) -> Vec<String> {
    let Some((_, parents)) = words.split_last() else { return Vec::new() };
    let mut lines = text.lines().skip_while(|line| !matches!(line.trim(), "Aliases:" | "ALIASES" | "ALIASES:")).skip(1);
    let mut behind =
        text.lines().filter_map(|line| ["aliases: ", "alias: "].iter().find_map(|start| line.strip_prefix(start)));
    let listed = lines.find(|line| !line.trim().is_empty()).or_else(|| behind.next());
    let Some(listed) = listed else { return Vec::new() };
    let spellings = listed.split(',').map(|spelling| spelling.split_whitespace().collect::<Vec<_>>());
    let with_parents = |spelling: Vec<&str>| match spelling.as_slice() {
        [word] => parents.iter().map(String::as_str).chain([*word]).collect::<Vec<_>>().join(" "),
        [_program, own @ ..] => own.join(" "),
        [] => String::new(),
    };
    let is_other = |spelling: &String| {
        *spelling != words.join(" ") && !spelling.is_empty() && spelling.split(' ').all(is_command_word)
    };
    spellings.map(with_parents).filter(is_other).collect()
}

/// Subcommands that only usage lines show.
pub(super) fn usage_commands(usages: &[String], synopses: &[Synopsis]) -> Vec<Subcommand> {
    let mut found: Vec<Subcommand> = Vec::new();
    // `prog input output` beside `prog --version`: two plain words in the only line with any are operands.
    let mut with_words = usages.iter().zip(synopses).filter(|(_, synopsis)| synopsis.literal.is_some());
    if let (Some((usage, synopsis)), None) = (with_words.next(), with_words.next()) {
        let mut words = usage.split(' ').skip_while(|word| Some(*word) != synopsis.literal.as_deref());
        if words.nth(1).is_some_and(is_command_word) {
            return found;
        }
    }
    for (usage, synopsis) in usages.iter().zip(synopses) {
        let is_name = |name: &&String| {
            is_command_word(name) && !is_useless(name) && !is_placeholder(name) && !synopsis.literal_alone
        };
        let Some(name) = synopsis.literal.as_ref().filter(is_name) else {
            continue;
        };
        if let Some(known) = found.iter_mut().find(|known| known.name == *name) {
            known.usages.push(usage.clone());
        } else {
            let usages = vec![usage.clone()];
            found.push(Subcommand { name: name.clone(), usages, ..Subcommand::default() });
        }
    }

    found
}

/// Whether a plain word is the name of an operand: `root1`, `profilename`.
fn is_placeholder(name: &str) -> bool {
    name.ends_with(|c: char| c.is_ascii_digit())
        || ["name", "file", "dir", "path"].iter().any(|end| name.ends_with(end))
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
