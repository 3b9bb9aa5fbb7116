//! The operands of a help page: those that it lists, and those of its usage lines.

use crate::command::{Operand, Several, Sure, Value};
use crate::draft::SEVERAL_LINES;
use crate::page::{ListEntry, Section};
use crate::placeholder;
use crate::synopsis::Synopsis;
use crate::values::alternatives;
use crate::{prose, refine, shape, values};

pub(super) fn listed_operands(entries: &[ListEntry], synopses: &[Synopsis]) -> Vec<Operand> {
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
        let has_it = |own: &&Operand| own.name.eq_ignore_ascii_case(name);
        let in_usage = synopses.iter().flat_map(|synopsis| &synopsis.operands).find(has_it);
        if !is_name || entry.text.is_empty() && !bare.starts_with(['<', '[']) && in_usage.is_none() {
            return None;
        }
        name.clone_into(&mut operand.name);
        let is_literal =
            synopses.iter().any(|synopsis| synopsis.literal.as_deref() == Some(name) && !synopsis.literal_optional);
        let is_repeated = |synopsis: &Synopsis| synopsis.literal_repeated && synopsis.literal.as_deref() == Some(name);
        if value.several == Several::No && synopses.iter().any(is_repeated) {
            value.several = Several::Each;
        }
        // `files|directories`
        if value.several == Several::No && name.contains('|') && name.split('|').any(placeholder::is_plural) {
            value.several = Several::Each;
        }
        operand.required = bare.starts_with('<') || is_literal || in_usage.is_some_and(|own| own.required);
        if let Some(own) = in_usage {
            if value.several == Several::No {
                let mut same = synopses.iter().flat_map(|synopsis| &synopsis.operands).filter(has_it);
                let is_repeated = same.any(|own| own.value.several != Several::No);
                value.several = if is_repeated { Several::Each } else { own.value.several };
            }
            operand.behind_dashes = own.behind_dashes;
        }
    }

    // "Arguments following `--`".
    let said = operand.about.to_ascii_lowercase();
    let words = said.split(' ').map(|word| word.trim_matches(['`', '\'', '"', '.', ',', ')']));
    operand.behind_dashes |= words
        .collect::<Vec<_>>()
        .windows(2)
        .any(|pair| matches!(pair[0], "following" | "after" | "behind") && pair[1] == "--");
    value.name.clone_from(&operand.name);
    value.pair = shape::is_pair(&operand.name);
    values::complete(&mut value, &entry.text);
    operand.value = value;

    Some(operand)
}

/// The operands of the first usage line that runs the command itself.
pub(super) fn usage_operands(synopses: &[Synopsis], has_subcommands: bool) -> Vec<Operand> {
    let own = || synopses.iter().filter(|synopsis| !has_subcommands || synopsis.literal.is_none());
    // `prog [file]` beside `prog [command]`, where nothing names a command.
    let shows = |synopsis: &&Synopsis| !synopsis.operands.is_empty();
    let is_plain = |synopsis: &&Synopsis| {
        (shows(synopsis) || synopsis.literal_alone && !has_subcommands) && synopsis.wants_command.is_none()
    };
    let first = own().find(is_plain);
    let Some(first) = first.or_else(|| own().find(shows)).or_else(|| own().next()) else {
        return Vec::new();
    };
    let mut operands = first.operands.clone();
    refine::join_repeated(&mut operands);
    if let (Some(literal), false) = (&first.literal, has_subcommands) {
        let guesses = vec!["a plain word in the usage line"];
        let is_plural = placeholder::is_plural(literal);
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
        // `COLUMNS` is a list of them rather than their number.
        let is_list = operand.value.several != Several::No;
        let is_free = operand.value.values.is_none() && !is_list && !operand.guesses.contains(&"one of several forms");
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

/// Whether the first usage line of several takes fewer operands than another one.
fn first_has_fewest(synopses: &[Synopsis]) -> bool {
    let most = |synopsis: &Synopsis| {
        let is_open = synopsis.operands.iter().any(|operand| operand.value.several != Several::No);
        if is_open { usize::MAX } else { synopsis.operands.len() }
    };
    let mut with = synopses.iter().filter(|synopsis| !synopsis.operands.is_empty()).map(most);
    with.next().is_some_and(|first| with.any(|other| other > first))
}

/// The operands of a program as its usage lines show them, if they differ, or if no line shows any.
///
/// Without a line nobody knows whether it takes operands; what it does not take it refuses itself.
pub(super) fn forms(
    usages: &[String],
    synopses: &[Synopsis],
    operands: &[Operand],
    words: &[String],
) -> Option<String> {
    if operands.iter().any(|operand| operand.rest || operand.behind_dashes) {
        return None;
    }
    // Behind a sign stand words of which the line shows one name: `[TITLE] [:: TEXT]`.
    let has_sign = synopses.iter().any(|synopsis| synopsis.has_sign);
    // Of a subcommand the first line is taken, unless another one has more operands.
    if !words.is_empty() && !first_has_fewest(synopses) && !has_sign {
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
    if !differs && !has_alternatives && !has_sign {
        return None;
    }
    let mut shown: Vec<&str> = usages.iter().map(|usage| usage.split_once(' ').map_or("", |(_, rest)| rest)).collect();
    shown.dedup();
    Some(shown.into_iter().take(4).collect::<Vec<_>>().join("; or "))
}
