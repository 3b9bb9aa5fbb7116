//! A help page → a command's options, operands and subcommands.

mod commands;
mod operands;

use std::collections::HashSet;

pub use self::commands::read_listing;
use self::commands::{listed_commands, names_subcommands, usage_commands};
use self::operands::{forms, listed_operands, usage_operands};
use super::page::{Layout, ListEntry, layout};
use super::synopsis::{self, Synopsis};
use super::{about, option, prose, refine, shape, values};
use crate::command::{Command, Flag, Group, Operand, Several, Subcommand, Value};

/// The most options of one help page.
const MAX_PAGE_OPTIONS: usize = 400;

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
    let is_manual = is_manual(text);
    let Listed { mut options, unsure } = options(&layout.entries, is_manual);
    if text.trim_start().starts_with("Usage of ") {
        double_dashes(&mut options);
    }
    let usages = own_usages(&layout, words);
    let mut synopses: Vec<Synopsis> =
        usages.iter().map(|usage| synopsis::read(usage, words, &is_switch(&options, &unsure))).collect();
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

    // Plain words of usage lines alone are no subcommands where options stand among them.
    let keeps_order = words.is_empty() && refine::order_counts(&usages);
    if keeps_order && is_program {
        subcommands.clear();
    }
    let is_nested = settle_commands(&mut subcommands, &mut synopses);
    join_usage_flags(&mut options, &unsure, &synopses, !subcommands.is_empty());
    if !listed {
        operands = usage_operands(&synopses, !subcommands.is_empty());
    }
    if !subcommands.is_empty() {
        operands.retain(|operand| !synopsis::is_command(&operand.name.to_ascii_lowercase()));
    }

    copy_likes(&mut options);
    refine::join_negations(&mut options);
    refine::settle_rest(&mut operands, words, is_nested);
    if keeps_order && subcommands.is_empty() {
        refine::keep_order(&mut operands);
    }
    let forms = forms(&usages, &synopses, &operands, words).filter(|_| subcommands.is_empty());
    let groups = groups(&synopses, !subcommands.is_empty());
    let options_last = synopses.iter().find(|synopsis| !synopsis.operands.is_empty());
    let options_last = options_last.is_some_and(|synopsis| synopsis.options_last);
    // `prog [flags]` beside `prog [command]`.
    let is_shown = synopses.len() > 1 && synopses.iter().any(|synopsis| synopsis.wants_command.is_some());
    let runs = subcommands.is_empty()
        || (is_program || is_shown || text.contains("to execute (by default"))
            && runs_alone(&synopses)
            && !(options.is_empty() && operands.is_empty());
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

/// Adds `--name` to `-name`: Go's package `flag` takes both, and shows the one.
fn double_dashes(options: &mut [Flag]) {
    for flag in options {
        let long: Vec<String> =
            flag.spellings.iter().filter(|own| own.len() > 2).map(|own| format!("-{own}")).collect();
        flag.spellings.splice(0..0, long);
    }
}

/// The options that a page lists.
#[derive(Default)]
struct Listed {
    options: Vec<Flag>,
    /// Spellings of switches whose line does not show where the option ends: `-d name is the key`.
    unsure: HashSet<String>,
}

fn options(entries: &[ListEntry], is_manual: bool) -> Listed {
    let mut seen = HashSet::new();
    let mut listed = Listed::default();
    // Spellings in lines of their own above the one that is described.
    let mut above: Vec<Flag> = Vec::new();
    for entry in entries.iter().filter(|entry| entry.term.starts_with('-')) {
        // There is a second column, or the text is below: the first column is the option alone. So are two columns of
        // spellings.
        let mut parts = entry.term.split("  ").map(str::trim).filter(|part| !part.is_empty());
        let is_spelled = entry.text.is_empty() && parts.clone().count() > 1 && parts.all(|part| part.starts_with('-'));
        let is_whole = (!entry.text.is_empty() || is_spelled) && !entry.term.contains("> ");
        let Some(term) = option::term(&entry.term, is_whole) else { continue };
        let mut flag = term.flag;
        if is_manual && entry.text.is_empty() && term.rest.is_empty() {
            above.push(flag);
            continue;
        }
        if entry.text.is_empty() && flag.value.is_none() {
            listed.unsure.extend(flag.spellings.clone());
        }
        option::part_quoted(&mut flag, &entry.text.join(" "));
        listed.take_above(&mut above, &mut flag, &mut seen);
        let mut text = entry.text.clone();
        if !is_whole && !term.rest.is_empty() {
            text.insert(0, term.rest);
        }
        let joined = text.join(" ").to_ascii_lowercase();
        flag.required |=
            ["(required)", "[required]"].iter().any(|note| joined.contains(note)) || joined.starts_with("required.");
        add_alias(&mut flag, &mut text);
        match &mut flag.value {
            // "specify several times, or a level by --verbose=n"
            Some(value)
                if text.join(" ").contains(&format!("{}={}", flag.spellings[0], value.name))
                    && shape::counts(&flag.spellings, &text.join(" ")) =>
            {
                value.optional = true;
                value.attached = true;
            }
            Some(value) => values::complete(value, &text),
            None => complete_switch(&mut flag, &text.join(" ")),
        }
        flag.about = prose::shorten(&text);
        listed.add(flag, &mut seen);
    }
    for flag in above {
        listed.add(flag, &mut seen);
    }

    listed
}

impl Listed {
    /// Gives an option the spellings above it, if they take what it takes; the others are options of their own.
    fn take_above(&mut self, above: &mut Vec<Flag>, flag: &mut Flag, seen: &mut HashSet<String>) {
        let name = |flag: &Flag| flag.value.as_ref().map(|value| value.name.clone());
        for other in above.drain(..) {
            if name(&other) == name(flag) && flag.more.is_empty() && other.more.is_empty() {
                flag.spellings.extend(other.spellings);
            } else {
                self.add(other, seen);
            }
        }
        flag.spellings.sort_by_key(|spelling| !spelling.starts_with("--"));
    }

    /// Adds an option with the spellings that no other one has; the first of them must be free.
    fn add(&mut self, mut flag: Flag, seen: &mut HashSet<String>) {
        let known = self.options.iter_mut().find(|known| known.spellings.contains(&flag.spellings[0]));
        if let Some(known) = known {
            // `--lid: close it` in a list, and `--lid=size` above what it says of it.
            if let (None, Some(value)) = (&known.value, flag.value)
                && flag.spellings[0].starts_with("--")
                && !known.counts
            {
                known.value = Some(Value { optional: true, attached: true, ..value });
            }
            return;
        }
        if self.options.len() >= MAX_PAGE_OPTIONS || self.options.iter().any(|known| is_example(&flag, known)) {
            return;
        }
        flag.spellings.retain(|spelling| seen.insert(spelling.clone()));
        self.options.push(flag);
    }
}

/// Takes a spelling in brackets from the start of a description: `-b   (-binary)   Print bytes`.
fn add_alias(flag: &mut Flag, text: &mut [String]) {
    let Some(first) = text.first_mut() else { return };
    let Some((alias, rest)) = first.strip_prefix("(-").and_then(|rest| rest.split_once(')')) else { return };
    let is_name = alias.len() > 1 && alias.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if is_name && !rest.trim().is_empty() {
        flag.spellings.push(format!("-{alias}"));
        *first = rest.trim().to_owned();
    }
}

/// Completes a switch from its description.
fn complete_switch(flag: &mut Flag, text: &str) {
    flag.is_on |= values::default(text).as_deref() == Some("true");
    flag.counts |= shape::counts(&flag.spellings, text);
    if flag.off.is_none() {
        flag.off = flag.spellings.first().and_then(|spelling| refine::opposite_in(spelling, text));
    }
}

/// Starts of descriptions that refer to another option.
const LIKES: [&str; 7] =
    ["like ", "same as ", "similar to ", "alternative for ", "alternative to ", "alias for ", "synonym for "];

/// Gives options that are "like `--x`, but …" the values of `--x`, and those that are "the same as `-x`" its value.
fn copy_likes(options: &mut [Flag]) {
    for at in 0..options.len() {
        let about = &options[at].about;
        let Some(start) = LIKES.iter().find(|start| about.to_ascii_lowercase().starts_with(*start)) else { continue };
        let rest = about[start.len()..].trim_matches(['`', '\'', '"']);
        let name = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next();
        let is_all = name.is_some_and(|name| rest.trim_end_matches(['.', '`', '\'', '"']) == name);
        let model = options.iter().find(|flag| flag.spellings.iter().any(|own| Some(own.as_str()) == name));
        let Some(model) = model.and_then(|flag| flag.value.clone()) else { continue };
        if is_all && *start != "like " && options[at].value.is_none() {
            options[at].value = Some(model.clone());
        }
        if let Some(value) = options[at].value.as_mut().filter(|value| value.several == Several::No) {
            value.several = model.several;
            value.pair |= model.pair;
        }
    }
}

fn is_switch(options: &[Flag], unsure: &HashSet<String>) -> impl Fn(&str) -> bool {
    let switches = options.iter().filter(|flag| flag.value.is_none()).flat_map(|flag| flag.spellings.clone());
    let switches: HashSet<String> = switches.filter(|spelling| !unsure.contains(spelling)).collect();
    move |spelling| switches.contains(spelling)
}

/// Whether an option is another one with a value: `-o5` beside `-o <level>`, `-Tpng` beside `-T{format}`.
pub(crate) fn is_example(flag: &Flag, known: &Flag) -> bool {
    let [spelling] = flag.spellings.as_slice() else { return false };
    let Some(value) = known.value.as_ref().filter(|_| !spelling.starts_with("--")) else { return false };
    known.spellings.iter().filter(|own| own.len() == 2).any(|own| {
        let tail = spelling.strip_prefix(own.as_str()).filter(|tail| !tail.is_empty());
        tail.is_some_and(|tail| value.attached || tail.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// The usage lines of the command `words`, if there are any; else all.
fn own_usages(layout: &Layout, words: &[String]) -> Vec<String> {
    let is_own = |usage: &&String| {
        let mut rest = usage.split(|c: char| c.is_whitespace() || "[]()|".contains(c));
        words.iter().all(|word| rest.any(|own| own == word))
    };
    let own: Vec<String> = layout.usages.iter().filter(is_own).take(MAX_USAGES).cloned().collect();
    if own.is_empty() {
        return layout.usages.iter().take(MAX_USAGES).cloned().collect();
    }
    // A list of topics may have one that is called usage.
    let first = |usage: &String| usage.split(' ').next().map(str::to_owned);
    let is_frequent = |usage: &&String| own.iter().filter(|other| first(other) == first(usage)).count() > 1;
    let frequent: Vec<String> = own.iter().filter(is_frequent).cloned().collect();
    if own.len() > 2 && words.is_empty() && !frequent.is_empty() { frequent } else { own }
}

/// Adds options that only usage lines show, values that only they show, and marks required options.
fn join_usage_flags(options: &mut Vec<Flag>, unsure: &HashSet<String>, synopses: &[Synopsis], has_subcommands: bool) {
    let own = synopses.iter().filter(|synopsis| !has_subcommands || synopsis.literal.is_none());
    for flag in own.flat_map(|synopsis| &synopsis.flags) {
        let known = options.iter().position(|known| known.spellings.iter().any(|own| flag.spellings.contains(own)));
        match known {
            Some(at) => {
                let known = &mut options[at];
                if let (None, Some(value), true) = (&known.value, &flag.value, unsure.contains(&flag.spellings[0])) {
                    known.value = Some(value.clone());
                    known.counts = false;
                    known.off = None;
                    known.about = known.about.strip_prefix(&value.name).unwrap_or(&known.about).trim().to_owned();
                }
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

/// Whether a usage line has no subcommand. A program that lists subcommands rarely runs without one all the same.
fn runs_alone(synopses: &[Synopsis]) -> bool {
    synopses.iter().any(|synopsis| synopsis.literal.is_none() && synopsis.wants_command.is_none())
}

/// Settles which plain words are subcommands. Returns whether an operand that may be absent stands before them:
/// `prog [DEVICE [COMMAND]]` has none that starts the line of a tool.
fn settle_commands(subcommands: &mut Vec<Subcommand>, synopses: &mut [Synopsis]) -> bool {
    if !subcommands.is_empty() {
        for synopsis in synopses.iter_mut() {
            settle_literal(synopsis, subcommands);
        }
    }
    let is_nested = synopses.iter().any(|synopsis| synopsis.command_follows);
    if is_nested {
        subcommands.clear();
    }
    is_nested
}

/// Makes `[path]`, which is none of the subcommands, the operand that it is.
fn settle_literal(synopsis: &mut Synopsis, subcommands: &[Subcommand]) {
    let is_command = |word: &String| synopsis::is_command(word) || subcommands.iter().any(|known| known.name == *word);
    if let Some(name) = synopsis.literal.take_if(|word| synopsis.literal_alone && !is_command(word)) {
        let several = if synopsis.literal_repeated { Several::Each } else { Several::No };
        let value = Value { several, ..Value::default() };
        synopsis.operands.insert(0, Operand { name, value, ..Operand::default() });
    }
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
    start().any(|line| line == "NAME") && start().any(|line| matches!(line, "SYNOPSIS" | "SYNTAX"))
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

#[cfg(test)]
mod tests;
