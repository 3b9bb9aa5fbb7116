//! A help page → a command's options, operands and subcommands.

mod alternatives;
mod called;
mod commands;
mod dashed;
mod operands;
mod options;

use std::collections::HashSet;

use self::called::called_commands;
pub use self::commands::read_listing;
use self::commands::{choice_commands, listed_commands, mark_default, names_subcommands, usage_commands};
use self::operands::{forms, listed_operands, usage_operands};
pub(crate) use self::options::is_example;
use self::options::{Listed, MAX_PAGE_OPTIONS, add_dashes, copy_likes, options};
use super::page::{Layout, Section, layout};
use super::synopsis::{self, BeforeCommand, Synopsis};
use super::{about, examples, panel, placeholder, refine, tree, values};
use crate::command::{Command, Flag, Group, Operand, Several, Subcommand, Value};

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
    let text = &tree::flattened(&panel::opened(text), words);
    let mut layout = layout(text);
    layout.find_usage_of(words);
    let is_manual = is_manual(text);
    let Listed { mut options, mut unsure } = options(&layout.entries, is_manual);
    add_dashes(&mut options, text);
    let dashed = dashed::take(&mut options, &layout.entries, text);

    let usages: Vec<String> =
        own_usages(&layout, words).iter().map(|usage| placeholder::with_plain_options(usage)).collect();
    if usages_alone_show_values(&options, &usages, words) {
        unsure.extend(options.iter().flat_map(|flag| flag.spellings.clone()));
    }
    let mut synopses: Vec<Synopsis> =
        usages.iter().map(|usage| synopsis::read(usage, words, &is_switch(&options, &unsure))).collect();
    let mut operands = listed_operands(&layout.entries, &synopses);
    let listed = !operands.is_empty();

    let program = usages.first().and_then(|usage| usage.split(' ').next()).unwrap_or_default();
    // `prog add` lists a command by its whole line.
    let parents: Vec<String> = [program.to_owned()].into_iter().chain(words.iter().cloned()).collect();
    let mut subcommands = listed_commands(&layout.entries, &synopses, &operands, (words, &parents), is_manual);
    if subcommands.is_empty() && !is_manual && synopses.iter().any(|synopsis| synopsis.wants_command.is_some()) {
        subcommands = called_commands(text, &parents);
    }
    if !dashed.is_empty() {
        subcommands = dashed;
    }
    mark_default(&mut subcommands, text);
    operands.retain(|operand| !names_subcommands(operand, &subcommands));
    let is_listed = !subcommands.is_empty() && layout.entries.iter().any(|entry| entry.section == Section::Commands);
    let mut is_program = !words.is_empty();
    if subcommands.is_empty() && !listed && usages.len() > 1 {
        subcommands = usage_commands(&usages, &synopses);
        // A page that lists no subcommands is about the program too.
        is_program = true;
    }
    if subcommands.is_empty() && !listed {
        subcommands = choice_commands(&synopses);
    }

    // Plain words of usage lines alone are no subcommands where options stand among them.
    let keeps_order = words.is_empty() && refine::order_counts(&usages);
    if keeps_order && is_program {
        subcommands.clear();
    }
    let is_nested = settle_commands(&mut subcommands, &mut synopses, is_listed);
    join_usage_flags(&mut options, &unsure, &synopses, !subcommands.is_empty());
    if !listed {
        operands = usage_operands(&synopses, !subcommands.is_empty());
        operands.retain(|operand| !names_subcommands(operand, &subcommands));
    }
    if !subcommands.is_empty() {
        operands.retain(|operand| !placeholder::is_command(&operand.name.to_ascii_lowercase()));
    }

    if operands.is_empty() && subcommands.is_empty() {
        operands.extend(example_operand(text, &parents, &options));
    }

    copy_likes(&mut options);
    examples::repeat(&mut options, text, &parents[0]);
    refine::guess_values(&mut options);
    refine::join_negations(&mut options);
    refine::settle_rest(&mut operands, words, is_nested);
    if keeps_order && subcommands.is_empty() {
        refine::keep_order(&mut operands);
    }

    let forms = forms(&usages, &synopses, &operands, words).filter(|_| subcommands.is_empty());
    let forms = forms.filter(|_| words.is_empty() || !listed);
    let groups = groups(&synopses, !subcommands.is_empty());
    let options_last = synopses.iter().find(|synopsis| !synopsis.operands.is_empty());
    let options_last = options_last.is_some_and(|synopsis| synopsis.options_last);
    let is_default = is_program || subcommands.iter().any(|command| command.is_default);
    // `prog sub [OPTIONS] [COMMAND]` of a command with options of its own.
    let is_optional = !words.is_empty() && usages.iter().any(|usage| usage.contains(" [COMMAND"));
    let runs = subcommands.is_empty()
        || (runs_alone(&synopses, is_default) || is_optional) && !(options.is_empty() && operands.is_empty());
    if is_optional && !subcommands.is_empty() {
        // `[COMMAND] [ARGS]...`: those of the subcommand.
        operands.retain(|operand| !operand.name.eq_ignore_ascii_case("args"));
    }
    let command = Command {
        words: words.to_vec(),
        aliases: commands::aliases(text, words),
        about: about::description(&layout.prose, is_manual, words),
        replaces: replaces(text),
        options,
        operands,
        groups,
        options_last,
        forms,
        ..Command::default()
    };

    HelpPage {
        command,
        subcommands,
        runs,
        is_manual,
        all_commands: all_commands(text),
        common_options: common_options(text),
    }
}

/// Returns whether a help page is one of the library cobra, whose switches take `=true` and `=false`.
#[must_use]
pub fn is_cobra(text: &str) -> bool {
    text.contains(" [command] --help\" for more information about a command")
}

/// Phrases by which a page says that a command replaces what exists.
const REPLACES: [&str; 5] = [
    "overridden if exists",
    "overwritten if ",
    "will be overwritten",
    "overwrites existing",
    "overwrites the existing",
];

/// Whether a list of options shows no values, or hardly any, but usage lines show those of some.
fn usages_alone_show_values(options: &[Flag], usages: &[String], words: &[String]) -> bool {
    let listed = options.iter().filter(|flag| flag.value.is_some()).count();
    if options.len() < 5 {
        return false;
    }
    let is_listed =
        |flag: &Flag| options.iter().any(|known| known.value.is_none() && known.spellings.contains(&flag.spellings[0]));
    let is_spelled =
        |word: &str| options.iter().any(|known| known.value.is_none() && known.spellings.iter().any(|own| own == word));
    let flags = usages.iter().flat_map(|usage| synopsis::read(usage, words, &|_| false).flags);
    // `prog --all <sack>` may be a switch with an operand, `[ --bag <bag> ]` is none.
    let shown = flags.filter(|flag| flag.value.is_some() && !flag.required && is_listed(flag)).count();
    shown > 1 && shown > 4 * listed || listed == 0 && usages.iter().any(|usage| are_pairs(usage, &is_spelled))
}

/// Whether a usage line is two or more listed options, each with a value, and nothing else: `-in <sack> -out <bag>`.
fn are_pairs(usage: &str, is_listed: &dyn Fn(&str) -> bool) -> bool {
    let words: Vec<&str> = usage.split_whitespace().skip_while(|word| !word.starts_with('-')).collect();
    let is_pair = |pair: &[&str]| matches!(pair, [option, value] if is_listed(option) && value.starts_with('<') && value.ends_with('>'));
    words.len() > 2 && words.chunks(2).all(is_pair)
}

fn is_switch(options: &[Flag], unsure: &HashSet<String>) -> impl Fn(&str) -> bool {
    let switches = options.iter().filter(|flag| flag.value.is_none()).flat_map(|flag| flag.spellings.clone());
    let switches = switches.filter(|spelling| !unsure.contains(spelling)).chain(glued(options));
    let switches: HashSet<String> = switches.collect();
    move |spelling| switches.contains(spelling)
}

/// The forms of options in one word with the names of their values: `-Fsack`.
fn glued(options: &[Flag]) -> impl Iterator<Item = String> {
    let named = options.iter().filter_map(|flag| Some((flag, flag.value.as_ref().filter(|value| value.attached)?)));
    named.flat_map(|(flag, value)| flag.spellings.iter().map(|spelling| format!("{spelling}{}", value.name)))
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
            None if options.len() < MAX_PAGE_OPTIONS && !glued(options).any(|own| flag.spellings.contains(&own)) => {
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

/// Whether a command that has subcommands runs without one too. A program that lists subcommands rarely does; `is_default`
/// tells that it is more than a list of them.
fn runs_alone(synopses: &[Synopsis], is_default: bool) -> bool {
    let is_alone = |synopsis: &Synopsis| {
        synopsis.literal.is_none()
            && (synopsis.wants_command.is_none() || synopsis.before_command == BeforeCommand::Beside)
    };
    // `prog [flags]` beside `prog [command]`.
    let is_shown = synopses.len() > 1 && synopses.iter().any(|synopsis| synopsis.wants_command.is_some())
        || synopses.iter().any(takes_operands);
    (is_default || is_shown) && synopses.iter().any(is_alone)
}

/// Whether a page says that its command replaces what exists.
fn replaces(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    REPLACES.iter().any(|phrase| lower.contains(phrase))
}

/// Whether a usage line has operands, which may be absent, in the place of a subcommand: `prog [spec...]`.
fn takes_operands(synopsis: &Synopsis) -> bool {
    let is_alone = synopsis.literal.is_none() && synopsis.wants_command.is_none();
    is_alone && synopsis.operands.first().is_some_and(|operand| !operand.required && operand.value.values.is_none())
}

/// The operands that examples of a subcommand have, if its usage line leaves them out as those of cobra may.
fn example_operand(text: &str, command: &[String], options: &[Flag]) -> Option<Operand> {
    let takes_value = |word: &str| {
        options.iter().any(|flag| flag.value.is_some() && flag.spellings.iter().any(|spelling| spelling == word))
    };

    let has_operand = |line: &str| {
        let mut words = line.trim().trim_start_matches("$ ").split_whitespace();
        if !command.iter().all(|own| words.next() == Some(own)) {
            return false;
        }
        let mut is_value = false;
        let mut words = words.take_while(|word| !word.starts_with(['|', '>', '<', '&', ';', '#', '\\']));
        words.any(|word| {
            let is_operand = !is_value && word.starts_with(|c: char| c.is_alphanumeric() || "./~\"'".contains(c));
            is_value = !word.contains('=') && takes_value(word);
            is_operand
        })
    };

    let has_one = command.len() > 1 && text.lines().filter(|line| line.starts_with([' ', '\t'])).any(has_operand);
    has_one.then(|| Operand {
        name: "operands".to_owned(),
        value: Value { several: Several::Each, ..Value::default() },
        guesses: vec!["the examples have them"],
        ..Operand::default()
    })
}

/// Settles which plain words are subcommands. Returns whether an operand that may be absent stands before them.
///
/// `prog [DEVICE [COMMAND]]` has none that starts the line of a tool. `prog [NAME] [COMMAND]` has those that a section
/// lists, as `is_listed` tells.
fn settle_commands(subcommands: &mut Vec<Subcommand>, synopses: &mut [Synopsis], is_listed: bool) -> bool {
    if !subcommands.is_empty() {
        for synopsis in synopses.iter_mut() {
            settle_literal(synopsis, subcommands);
        }
    }
    let is_around = synopses.iter().any(|synopsis| synopsis.before_command == BeforeCommand::Around);
    let is_beside = synopses.iter().any(|synopsis| synopsis.before_command == BeforeCommand::Beside);
    if is_around || is_beside && !is_listed {
        subcommands.clear();
    }
    is_around || is_beside
}

/// Makes `[path]`, which is none of the subcommands, the operand that it is.
fn settle_literal(synopsis: &mut Synopsis, subcommands: &[Subcommand]) {
    let is_command =
        |word: &String| placeholder::is_command(word) || subcommands.iter().any(|known| known.name == *word);
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
