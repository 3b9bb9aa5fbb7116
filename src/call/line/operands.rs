//! Gives the operands of a command line to the args of a tool.

use climax_catalog::{ArgView, GroupKind, ResolvedTool, Shape};

use super::grammar::{Grammar, Slot};
use super::scan::{Given, Misfit, Scanned};

/// An operand that an arg takes: the place of its word, and the item of the arg's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperandPlace {
    /// The place among the words.
    pub word: usize,
    /// The name of the arg.
    pub arg: String,
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
) -> Result<Vec<OperandPlace>, Misfit> {
    let is_arg = |slot: &Slot<'_>| matches!(slot, Slot::Arg(_));
    let dashes = grammar.slots.iter().position(|slot| matches!(slot, Slot::Dashes));
    let operands = std::mem::take(&mut scanned.operands);
    let mut assigner = Assigner { tool: grammar.tool, scanned, places: Vec::new(), words };
    match (assigner.scanned.dashes, dashes) {
        // The line has `--`, and the command has args on both sides of it.
        (Some(count), Some(at)) if grammar.slots[..at].iter().any(is_arg) => {
            assigner.part(&operands[..count], &grammar.slots[..at])?;
            assigner.part(&operands[count..], &grammar.slots[at..])?;
        }
        _ => assigner.part(&operands, &grammar.slots)?,
    }
    Ok(assigner.places)
}

struct Assigner<'s, 'a, 'w> {
    tool: ResolvedTool<'a>,
    scanned: &'s mut Scanned<'a, 'w>,
    places: Vec<OperandPlace>,
    /// The number of words of the line.
    words: usize,
}

impl<'a> Assigner<'_, 'a, '_> {
    fn part(&mut self, operands: &[(usize, &str)], slots: &[Slot<'a>]) -> Result<(), Misfit> {
        let slots: Vec<&Slot<'a>> = slots.iter().filter(|slot| !matches!(slot, Slot::Dashes)).collect();
        let mut left = operands;
        for (number, slot) in slots.iter().enumerate() {
            let reserved: usize = slots[number + 1..].iter().map(|slot| self.least(slot)).sum();
            let free = left.len().saturating_sub(reserved);
            let taken = match slot {
                Slot::Word(word) => match left.first() {
                    Some((_, operand)) if operand == word => 1,
                    Some((at, operand)) => return Err(Misfit::new(*at, format!("`{operand}` is not `{word}`"))),
                    None => return Err(Misfit::new(self.words, format!("`{word}` is missing"))),
                },
                Slot::Arg(arg) => self.values(*arg, &left[..free]),
                Slot::Dashes => 0,
            };
            left = &left[taken..];
        }
        match left.first() {
            Some((at, word)) => Err(Misfit::new(*at, format!("`{word}` is one operand too many"))),
            None => Ok(()),
        }
    }

    /// Gives operands to an arg, and returns how many it takes.
    fn values(&mut self, arg: ArgView<'a>, operands: &[(usize, &str)]) -> usize {
        // Its words were read as an option.
        if self.scanned.given.contains_key(arg.name()) {
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
            self.places.push(OperandPlace { word: *at, arg: arg.name().to_owned() });
        }
        taken
    }

    /// The fewest operands that a slot takes.
    fn least(&self, slot: &Slot<'a>) -> usize {
        match slot {
            Slot::Word(_) => 1,
            Slot::Dashes => 0,
            Slot::Arg(arg) if self.scanned.given.contains_key(arg.name()) => 0,
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

    /// Whether the line gives no other arg of a group of which exactly one is given.
    fn is_only_choice(&self, arg: ArgView<'a>) -> bool {
        let mut groups = self.tool.groups().filter(|group| group.kind() == GroupKind::ExactlyOne);
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
