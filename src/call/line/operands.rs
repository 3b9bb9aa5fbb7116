//! Gives the operands of a command line to the args of a tool.

use std::ops::Range;

use climax_catalog::{ArgView, GroupKind, Place, RuleView, Shape};

use super::grammar::{Grammar, Slot};
use super::scan::{Given, Misfit, MisfitKind, Scanned};

/// An operand that an arg takes: the place of its word, and the item of the arg's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperandPlace {
    /// The place among the words.
    pub word: usize,
    /// The name of the arg.
    pub arg: String,
}

/// The operands of a line, given to the words and args of a command.
#[derive(Debug, Default)]
pub(super) struct Assigned {
    /// The operands that args take.
    pub(super) places: Vec<OperandPlace>,
    /// The slots of the grammar with the places of the words that they take, in order.
    pub(super) slots: Vec<(usize, usize)>,
}

/// Gives operands to the words and args of a command, in order.
///
/// Each arg takes as many as it can and leaves enough for those behind it.
///
/// # Errors
/// A word of the command that is missing, or an operand that no arg takes.
pub(super) fn assign<'a>(
    grammar: &Grammar<'a>,
    scanned: &mut Scanned<'a, '_>,
    words: usize,
) -> Result<Assigned, Misfit> {
    let dashes = grammar.slots.iter().position(|slot| matches!(slot, Slot::Dashes));
    let operands = std::mem::take(&mut scanned.operands);
    let typed_dashes = scanned.dashes;
    let mut assigner = Assigner { grammar, scanned, assigned: Assigned::default(), words };

    match (typed_dashes, dashes) {
        // The line has `--`, and the command has args on both sides of it.
        (Some(typed), Some(at)) if grammar.separates() => {
            assigner.part(&operands[..typed.operands], 0..at)?;
            assigner.part(&operands[typed.operands..], at..grammar.slots.len())?;
        }
        _ => assigner.part(&operands, 0..grammar.slots.len())?,
    }

    if typed_dashes.is_none() && grammar.separates() {
        assigner.check_sides(dashes.unwrap_or_default())?;
    }

    Ok(assigner.assigned)
}

struct Assigner<'s, 'a, 'w> {
    grammar: &'s Grammar<'a>,
    scanned: &'s mut Scanned<'a, 'w>,
    assigned: Assigned,
    /// The number of words of the line.
    words: usize,
}

impl<'a> Assigner<'_, 'a, '_> {
    fn part(&mut self, operands: &[(usize, &str)], slots: Range<usize>) -> Result<(), Misfit> {
        let grammar = self.grammar;
        let mut left = operands;
        for number in slots.clone() {
            let reserved: usize = grammar.slots[number + 1..slots.end].iter().map(|slot| self.least(slot)).sum();
            let free = left.len().saturating_sub(reserved);
            let taken = match &grammar.slots[number] {
                Slot::Word(word) => match left.first() {
                    Some((_, operand)) if operand == word => 1,
                    Some((at, operand)) => return Err(Misfit::new(*at, format!("`{operand}` is not `{word}`"))),
                    None => return Err(Misfit::new(self.words, format!("`{word}` is missing"))),
                },
                Slot::Arg(arg) => self.values(*arg, &left[..free]),
                Slot::Dashes => 0,
            };
            self.assigned.slots.extend(left[..taken].iter().map(|(at, _)| (number, *at)));
            left = &left[taken..];
        }

        match left.first() {
            Some((at, word)) => Err(self.one_too_many(*at, word)),
            None => Ok(()),
        }
    }

    /// The misfit of an operand that no arg takes, perhaps because a policy took the arg away.
    fn one_too_many(&self, at: usize, word: &str) -> Misfit {
        let tool = self.grammar.tool;
        match tool.withheld_args().find(|arg| arg.place() == Place::Positional) {
            Some(arg) => Misfit::withheld(at, arg.name(), tool.name()),
            None => Misfit {
                kind: MisfitKind::ExtraOperand,
                ..Misfit::new(at, format!("`{word}` is one operand too many"))
            },
        }
    }

    /// Refuses operands without `--` where it decides which arg they belong to, and a policy has rules for the args behind
    /// it: the program would decide by what the words name.
    fn check_sides(&self, dashes: usize) -> Result<(), Misfit> {
        let is_ruled = |slot: &Slot<'a>| matches!(slot, Slot::Arg(arg) if arg.rules().any(RuleView::is_from_policy));
        let is_arg = |(slot, _): &&(usize, usize)| matches!(self.grammar.slots[*slot], Slot::Arg(_));
        let first = self.assigned.slots.iter().find(is_arg);

        match (first, self.grammar.slots[dashes..].iter().any(is_ruled)) {
            (Some((_, at)), true) => {
                let problem =
                    "the policy has rules for the operands behind `--`; write `--` before or behind this word";
                Err(Misfit::new(*at, problem))
            }
            _ => Ok(()),
        }
    }

    /// Gives operands to an arg, and returns how many it takes.
    fn values(&mut self, arg: ArgView<'a>, operands: &[(usize, &str)]) -> usize {
        // Its words were read as an option.
        if self.scanned.given.contains_key(arg.name()) || self.is_needless(arg) {
            return 0;
        }

        let most = arg.max_items().and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
        let taken = match arg.shape() {
            Shape::Single | Shape::Count => operands.iter().take(1).filter(|(_, word)| accepts(arg, word)).count(),
            Shape::List(_) => operands.len().min(most),
            Shape::Map(_) => operands.iter().take(most).take_while(|(_, word)| word.contains('=')).count(),
            Shape::Rest(_) => operands.len(),
        };
        for (at, word) in &operands[..taken] {
            let given = self.scanned.given.entry(arg.name()).or_insert_with(|| Given::of(arg));
            let (key, value) = match arg.shape() {
                Shape::Map(_) => word.split_once('=').unwrap_or((word, "")),
                _ => ("", *word),
            };
            given.add(key, meant(arg, value));
            self.assigned.places.push(OperandPlace { word: *at, arg: arg.name().to_owned() });
        }

        taken
    }

    /// The fewest operands that a slot takes.
    fn least(&self, slot: &Slot<'a>) -> usize {
        match slot {
            Slot::Word(_) => 1,
            Slot::Dashes => 0,
            Slot::Arg(arg) if self.scanned.given.contains_key(arg.name()) || self.is_needless(*arg) => 0,
            Slot::Arg(arg) => {
                let of_list = arg.min_items().and_then(|least| usize::try_from(least).ok());
                let is_wanted = usize::from(arg.required() || self.is_only_choice(*arg));
                match arg.shape() {
                    Shape::Single | Shape::Count => is_wanted,
                    Shape::List(_) | Shape::Map(_) | Shape::Rest(_) => of_list.unwrap_or(is_wanted),
                }
            }
        }
    }

    /// Whether an option of the line stands for an operand, as `-e PATTERN` of grep does.
    fn is_needless(&self, arg: ArgView<'a>) -> bool {
        let is_one = |kind: GroupKind| matches!(kind, GroupKind::ExactlyOne | GroupKind::AtMostOne);
        let is_operand = |name: &str| {
            let mut slots = self.grammar.slots.iter();
            slots.any(|slot| matches!(slot, Slot::Arg(other) if other.name() == name))
        };
        let is_option_given = |name: &str| !is_operand(name) && self.scanned.given.contains_key(name);
        let mut groups = self.grammar.tool.groups().filter(|group| is_one(group.kind()));

        groups.any(|group| {
            let mut names = group.args();
            names.clone().any(|name| name == arg.name()) && names.any(is_option_given)
        })
    }

    /// Whether the line gives no other arg of a group of which exactly one is given.
    fn is_only_choice(&self, arg: ArgView<'a>) -> bool {
        let mut groups = self.grammar.tool.groups().filter(|group| group.kind() == GroupKind::ExactlyOne);
        groups.any(|group| {
            let mut names = group.args();
            names.clone().any(|name| name == arg.name()) && !names.any(|name| self.scanned.given.contains_key(name))
        })
    }
}

/// Whether an operand can be the value of an optional arg; a required one gets it in any case.
fn accepts(arg: ArgView<'_>, word: &str) -> bool {
    arg.required() || arg.values().len() == 0 || choice(arg, word).is_some()
}

/// The value whose words are this word.
fn choice<'a>(arg: ArgView<'a>, word: &str) -> Option<&'a str> {
    let is_word = |words: Option<Vec<String>>, value: &str| match words {
        Some(words) => words.iter().map(String::as_str).eq([word]),
        None => value == word,
    };
    arg.choices().find(|choice| is_word(choice.words(), choice.value)).map(|choice| choice.value)
}

/// The value that a word stands for.
fn meant<'w>(arg: ArgView<'w>, word: &'w str) -> &'w str {
    choice(arg, word).unwrap_or(word)
}
