//! A help page → a command's options, operands and subcommands.

use std::collections::HashSet;

use super::draft::SEVERAL_LINES;
use super::page::{Layout, ListEntry, Section, layout};
use super::synopsis::{self, Synopsis};
use super::values::alternatives;
use super::{about, option, prose, refine, shape, values};
use crate::command::{Command, Flag, Group, Operand, Several, Subcommand, Sure, Value};

/// The most options of one help page.
const MAX_PAGE_OPTIONS: usize = 400;

/// The most subcommands of one help page.
const MAX_PAGE_COMMANDS: usize = 400;

/// The most usage lines of one help page.
const MAX_USAGES: usize = 60;

/// The content of a help page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HelpPage {
    /// The command that the page is about.
    pub command: Command,
    /// Its subcommands.
    pub subcommands: Vec<Subcommand>,
    /// Whether the command runs without a subcommand.
    pub runs: bool,
    /// Whether the page is a manual rather than a summary.
    pub is_manual: bool,
    /// Words after the program's name that list all subcommands, if the page omits some.
    pub all_commands: Option<&'static [&'static str]>,
    /// Words after the program's name that print options which every subcommand takes, if the page names them.
    pub common_options: Option<&'static [&'static str]>,
}

impl HelpPage {
    /// Adds the options of another page about the same command.
    #[must_use]
    pub fn with_options_of(mut self, other: Self) -> Self {
        let known: HashSet<String> = self.command.options.iter().flat_map(|flag| flag.spellings.clone()).collect();
        let new =
            other.command.options.into_iter().filter(|flag| !flag.spellings.iter().any(|own| known.contains(own)));
        self.command.options.extend(new);
        self
    }

    /// Takes the options and operands of a longer page about the same command, as far as that page has them.
    #[must_use]
    pub fn with_details_of(mut self, longer: Self) -> Self {
        self.command.options = longer.command.options;
        if !longer.command.operands.is_empty() {
            self.command.operands = longer.command.operands;
        }
        self
    }

    /// Returns whether anything was recognised.
    #[must_use]
    pub fn says_something(&self) -> bool {
        !self.subcommands.is_empty() || !self.command.options.is_empty() || !self.command.operands.is_empty()
    }
}

/// Reads the clean text of the help of the command `words`.
#[must_use]
pub fn read(text: &str, words: &[String]) -> HelpPage {
    let layout = layout(text);
    let mut options = options(&layout.entries);
    if text.trim_start().starts_with("Usage of ") {
        double_dashes(&mut options);
    }
    let usages = own_usages(&layout, words);
    let synopses: Vec<Synopsis> =
        usages.iter().map(|usage| synopsis::read(usage, words, &is_switch(&options))).collect();
    let mut operands = listed_operands(&layout.entries, &synopses);
    let listed = !operands.is_empty();
    let mut subcommands = listed_commands(&layout.entries, &synopses, &operands, words);
    operands.retain(|operand| !names_subcommands(operand, &subcommands));
    let mut is_program = !words.is_empty();
    if subcommands.is_empty() && !listed && usages.len() > 1 {
        subcommands = usage_commands(&usages, &synopses);
        // A page that lists no subcommands is about the program too.
        is_program = true;
    }

    join_usage_flags(&mut options, &synopses, !subcommands.is_empty());
    if !listed {
        operands = usage_operands(&synopses, !subcommands.is_empty());
    }
    if !subcommands.is_empty() {
        operands.retain(|operand| !synopsis::is_command(&operand.name.to_ascii_lowercase()));
    }

    copy_likes(&mut options);
    refine::join_negations(&mut options);
    refine::settle_rest(&mut operands, words);
    let forms = forms(&usages, &synopses, &operands, words).filter(|_| subcommands.is_empty());
    let groups = groups(&synopses, !subcommands.is_empty());
    let options_last = synopses.iter().find(|synopsis| !synopsis.operands.is_empty());
    let options_last = options_last.is_some_and(|synopsis| synopsis.options_last);
    // `prog [flags]` beside `prog [command]`.
    let is_shown = synopses.len() > 1 && synopses.iter().any(|synopsis| synopsis.wants_command.is_some());
    let runs = subcommands.is_empty()
        || (is_program || is_shown) && runs_alone(&synopses) && !(options.is_empty() && operands.is_empty());
    let is_manual = is_manual(text);
    let about = about::description(&layout.prose, is_manual, words);
    let words = words.to_vec();
    let command = Command { words, about, options, operands, groups, options_last, forms, ..Command::default() };

    HelpPage {
        command,
        subcommands,
        runs,
        is_manual,
        all_commands: all_commands(text),
        common_options: common_options(text),
    }
}

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

/// Adds `--name` to `-name`: Go's package `flag` takes both, and shows the one.
fn double_dashes(options: &mut [Flag]) {
    for flag in options {
        let long: Vec<String> =
            flag.spellings.iter().filter(|own| own.len() > 2).map(|own| format!("-{own}")).collect();
        flag.spellings.splice(0..0, long);
    }
}

fn options(entries: &[ListEntry]) -> Vec<Flag> {
    let mut seen = HashSet::new();
    let mut options = Vec::new();
    for entry in entries.iter().filter(|entry| entry.term.starts_with('-')) {
        // There is a second column, or the text is below: the first column is the option alone. So are two columns of
        // spellings.
        let mut parts = entry.term.split("  ").map(str::trim).filter(|part| !part.is_empty());
        let is_spelled = entry.text.is_empty() && parts.clone().count() > 1 && parts.all(|part| part.starts_with('-'));
        let is_whole = (!entry.text.is_empty() || is_spelled) && !entry.term.contains("> ");
        let Some(term) = option::term(&entry.term, is_whole) else { continue };
        let mut flag = term.flag;
        let mut text = entry.text.clone();
        if !is_whole && !term.rest.is_empty() {
            text.insert(0, term.rest);
        }
        let joined = text.join(" ").to_ascii_lowercase();
        flag.required |=
            ["(required)", "[required]"].iter().any(|note| joined.contains(note)) || joined.starts_with("required.");
        match &mut flag.value {
            Some(value) => values::complete(value, &text),
            None => complete_switch(&mut flag, &text.join(" ")),
        }
        flag.about = prose::shorten(&text);
        if options.len() < MAX_PAGE_OPTIONS && seen.insert(flag.spellings[0].clone()) {
            options.push(flag);
        }
    }

    options
}

/// Completes a switch from its description.
fn complete_switch(flag: &mut Flag, text: &str) {
    flag.is_on |= values::default(text).as_deref() == Some("true");
    flag.counts |= shape::counts(&flag.spellings, text);
    if flag.off.is_none() {
        flag.off = flag.spellings.first().and_then(|spelling| refine::opposite_in(spelling, text));
    }
}

/// Gives options that are "like `--x`, but …" the values of `--x`.
fn copy_likes(options: &mut [Flag]) {
    for at in 0..options.len() {
        let lower = options[at].about.to_ascii_lowercase();
        let Some(rest) = ["like ", "same as ", "similar to "].iter().find_map(|start| lower.strip_prefix(start)) else {
            continue;
        };
        let name = rest.trim_start_matches('`').split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next();
        let model = options.iter().find(|flag| flag.spellings.iter().any(|own| Some(own.as_str()) == name));
        let Some(model) = model.and_then(|flag| flag.value.clone()) else { continue };
        if let Some(value) = options[at].value.as_mut().filter(|value| value.several == Several::No) {
            value.several = model.several;
            value.pair |= model.pair;
        }
    }
}

fn is_switch(options: &[Flag]) -> impl Fn(&str) -> bool {
    let switches = options.iter().filter(|flag| flag.value.is_none()).flat_map(|flag| flag.spellings.clone());
    let switches: HashSet<String> = switches.collect();
    move |spelling| switches.contains(spelling)
}

/// The usage lines of the command `words`, if there are any; else all.
fn own_usages(layout: &Layout, words: &[String]) -> Vec<String> {
    let is_own = |usage: &&String| {
        let mut rest = usage.split(|c: char| c.is_whitespace() || "[]()|".contains(c));
        words.iter().all(|word| rest.any(|own| own == word))
    };
    let own: Vec<String> = layout.usages.iter().filter(is_own).take(MAX_USAGES).cloned().collect();
    if own.is_empty() { layout.usages.iter().take(MAX_USAGES).cloned().collect() } else { own }
}

/// Adds options that only usage lines show, and marks required options.
fn join_usage_flags(options: &mut Vec<Flag>, synopses: &[Synopsis], has_subcommands: bool) {
    let own = synopses.iter().filter(|synopsis| !has_subcommands || synopsis.literal.is_none());
    for flag in own.flat_map(|synopsis| &synopsis.flags) {
        let known = options.iter().position(|known| known.spellings.iter().any(|own| flag.spellings.contains(own)));
        match known {
            Some(at) => {
                let known = &mut options[at];
                known.required |= flag.required && synopses.len() == 1 && known.value.is_some();
            }
            None if options.len() < MAX_PAGE_OPTIONS => {
                let mut flag = flag.clone();
                flag.required &= synopses.len() == 1;
                if let Some(value) = &mut flag.value {
                    values::complete(value, &[]);
                }
                options.push(flag);
            }
            None => {}
        }
    }
}

fn listed_operands(entries: &[ListEntry], synopses: &[Synopsis]) -> Vec<Operand> {
    let terms = entries.iter().filter(|entry| entry.section == Section::Operands && !entry.term.starts_with('-'));
    terms.filter_map(|entry| listed_operand(entry, synopses)).collect()
}

fn listed_operand(entry: &ListEntry, synopses: &[Synopsis]) -> Option<Operand> {
    let term = entry.term.trim();
    let bare = term.trim_end_matches(['.', ' ', '…']);
    let several = if bare.len() < term.len() { Several::Each } else { Several::No };
    let mut value = Value { several, ..Value::default() };
    let mut operand = Operand { about: prose::shorten(&entry.text), ..Operand::default() };

    if let Some(inner) = bare.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        value.values = alternatives(inner, ',').map(Sure::Said);
        operand.required = true;
    } else {
        let name = bare.trim_matches(['<', '>', '[', ']']);
        let is_name = !name.is_empty() && !name.contains(char::is_whitespace) && !name.ends_with(':');
        if !is_name || entry.text.is_empty() && !bare.starts_with(['<', '[']) {
            return None;
        }
        name.clone_into(&mut operand.name);
        let in_usage = synopses.iter().flat_map(|synopsis| &synopsis.operands).find(|own| own.name == name);
        let is_literal =
            synopses.iter().any(|synopsis| synopsis.literal.as_deref() == Some(name) && !synopsis.literal_optional);
        operand.required = bare.starts_with('<') || is_literal || in_usage.is_some_and(|own| own.required);
        if let Some(own) = in_usage {
            if value.several == Several::No {
                let mut same = synopses.iter().flat_map(|synopsis| &synopsis.operands).filter(|own| own.name == name);
                let is_repeated = same.any(|own| own.value.several != Several::No);
                value.several = if is_repeated { Several::Each } else { own.value.several };
            }
            operand.behind_dashes = own.behind_dashes;
        }
    }

    value.name.clone_from(&operand.name);
    value.pair = shape::is_pair(&operand.name);
    values::complete(&mut value, &entry.text);
    operand.value = value;

    Some(operand)
}

/// Returns whether an operand is only the place of a subcommand, as `argparse` lists it.
fn names_subcommands(operand: &Operand, subcommands: &[Subcommand]) -> bool {
    let is_named = |name: &str| subcommands.iter().any(|subcommand| subcommand.name == name);
    operand.value.values.as_ref().is_some_and(|values| values.get().iter().any(|value| is_named(value)))
        || is_named(&operand.name)
}

fn listed_commands(
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
fn usage_commands(usages: &[String], synopses: &[Synopsis]) -> Vec<Subcommand> {
    let mut found: Vec<Subcommand> = Vec::new();
    for (usage, synopsis) in usages.iter().zip(synopses) {
        let Some(name) = synopsis.literal.as_ref().filter(|name| is_command_word(name) && !is_useless(name)) else {
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

/// The operands of the first usage line that runs the command itself.
fn usage_operands(synopses: &[Synopsis], has_subcommands: bool) -> Vec<Operand> {
    let own = || synopses.iter().filter(|synopsis| !has_subcommands || synopsis.literal.is_none());
    let Some(first) = own().find(|synopsis| !synopsis.operands.is_empty()).or_else(|| own().next()) else {
        return Vec::new();
    };
    let mut operands = first.operands.clone();
    refine::join_repeated(&mut operands);
    if let (Some(literal), false) = (&first.literal, has_subcommands) {
        let guesses = vec!["a plain word in the usage line"];
        let is_plural = synopsis::is_plural(literal);
        let several = if first.literal_repeated || is_plural { Several::Each } else { Several::No };
        let value = Value { several, ..Value::default() };
        let required = !first.literal_optional;
        operands.insert(0, Operand { name: literal.clone(), required, value, guesses, ..Operand::default() });
    }

    // `prog [OPTION]` stands for `--help` and the like.
    let own = || {
        own().filter(|synopsis| {
            !(synopsis.operands.is_empty() && synopsis.flags.is_empty() && synopsis.literal.is_none())
        })
    };
    let lines = own().count();
    for operand in &mut operands {
        let in_all =
            own().all(|synopsis| synopsis.operands.iter().any(|other| other.name == operand.name && other.required));
        if lines > 1 {
            operand.required &= in_all;
            operand.guesses.push(SEVERAL_LINES);
        }
        operand.value.name.clone_from(&operand.name);
        let is_free = operand.value.values.is_none() && !operand.guesses.contains(&"one of several forms");
        operand.value.kind = values::kind_of_name(&operand.name).filter(|_| is_free);
    }

    operands
}

/// Whether a bar stands outside of brackets: `<files> | <set 1> <set 2>`.
fn has_open_bar(usage: &str) -> bool {
    let mut depth = 0_usize;
    let mut words = usage.split(' ');
    words.any(|word| {
        let is_open = word == "|" && depth == 0;
        depth += word.matches(['[', '{', '(']).count();
        depth = depth.saturating_sub(word.matches([']', '}', ')']).count());
        is_open
    })
}

/// The operands of a program as its usage lines show them, if they differ, or if no line shows any.
///
/// Without a line nobody knows whether it takes operands; what it does not take it refuses itself.
fn forms(usages: &[String], synopses: &[Synopsis], operands: &[Operand], words: &[String]) -> Option<String> {
    if !words.is_empty() || operands.iter().any(|operand| operand.rest || operand.behind_dashes) {
        return None;
    }
    if operands.is_empty() {
        return Some(String::new());
    }

    let names = |synopsis: &Synopsis| synopsis.operands.iter().map(|operand| operand.name.clone()).collect::<Vec<_>>();
    let with: Vec<&Synopsis> = synopses.iter().filter(|synopsis| !synopsis.operands.is_empty()).collect();
    let differs = with.windows(2).any(|pair| names(pair[0]) != names(pair[1]))
        || synopses.len() > with.len() && with.iter().any(|synopsis| synopsis.operands.len() > 1);
    let has_alternatives = usages.iter().any(|usage| has_open_bar(usage));
    if !differs && !has_alternatives {
        return None;
    }
    let mut shown: Vec<&str> = usages.iter().map(|usage| usage.split_once(' ').map_or("", |(_, rest)| rest)).collect();
    shown.dedup();
    Some(shown.into_iter().take(4).collect::<Vec<_>>().join("; or "))
}

/// Whether a usage line has no subcommand. A program that lists subcommands rarely runs without one all the same.
fn runs_alone(synopses: &[Synopsis]) -> bool {
    synopses.iter().any(|synopsis| synopsis.literal.is_none() && synopsis.wants_command.is_none())
}

/// The groups of all usage lines. One of several lines requires nothing of the others.
fn groups(synopses: &[Synopsis], has_subcommands: bool) -> Vec<Group> {
    let own = synopses.iter().filter(|synopsis| !has_subcommands || synopsis.literal.is_none());
    let mut groups: Vec<Group> = own.flat_map(|synopsis| synopsis.groups.clone()).collect();
    for group in &mut groups {
        group.required &= synopses.len() == 1;
    }
    groups
}

fn is_manual(text: &str) -> bool {
    let start = || text.lines().take(40).map(str::trim);
    start().any(|line| line == "NAME") && start().any(|line| line == "SYNOPSIS")
}

fn all_commands(text: &str) -> Option<&'static [&'static str]> {
    if text.contains(" help -a'") {
        Some(&["help", "-a"])
    } else {
        text.contains("ll commands with --list").then_some(&["--list"])
    }
}

fn common_options(text: &str) -> Option<&'static [&'static str]> {
    if text.contains(" options\" for a list of global") {
        Some(&["options"])
    } else {
        text.contains(" help flags\"").then_some(&["help", "flags"])
    }
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

#[cfg(test)]
mod tests;
