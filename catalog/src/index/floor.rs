//! The floor: whether any tool is about enough of what a request says.

use super::mention::Mention;
use super::rarity::{count, ln};
use super::term::{KnownTerm, LocatedTerm};
use super::{Id, ToolIndex};

/// The part of a sentence that one of the best tools must be about, in an index of one tool.
const NEEDED: f64 = 0.185;
/// How much that part grows with the logarithm of the number of tools: of many, one has some of the words by chance.
const NEEDED_GROWTH: f64 = 0.0355;
/// Terms of average mass that are a whole request. Longer ones say more than any tool is about.
const WHOLE: usize = 3;
/// Best tools that are looked at.
pub(super) const LOOKED_AT: usize = 3;
/// How far a synonym of a word covers it, or a word that it is the beginning of.
pub(super) const STAND_IN: f64 = 0.3;
/// How far a word covers one that was probably misspelt.
pub(super) const MEANT: f64 = 0.45;

/// Whether one of the best tools is about enough of a sentence, or of the CLI that the sentence starts with.
pub(super) fn is_served(index: &ToolIndex, named: &[Mention], terms: &[KnownTerm], best: &[Id]) -> bool {
    let needed = needed(index, terms);
    let is_of_first = |(layer, row): Id| named.iter().any(|named| named.is_first && named.has(layer, row));
    best.iter().any(|tool| covered(index, terms, *tool) >= needed || is_of_first(*tool))
}

/// The mass of terms that one of the best tools must be about.
pub(super) fn needed(index: &ToolIndex, terms: &[KnownTerm]) -> f64 {
    let tools = index.layers.iter().map(|layer| layer.catalog.tools.len()).sum();
    whole_mass(terms) * (NEEDED + NEEDED_GROWTH * ln(count(tools)))
}

/// The mass of terms that a tool is about.
pub(super) fn covered(index: &ToolIndex, terms: &[KnownTerm], tool: Id) -> f64 {
    terms.iter().map(|term| term.mass * coverage(index, tool, term)).sum()
}

fn coverage(index: &ToolIndex, tool: Id, term: &KnownTerm) -> f64 {
    let strength = |located: &LocatedTerm| located.strength(index, tool);
    let stand_ins = term.stand_ins.iter().map(|(located, share)| share * strength(located));
    stand_ins.fold(strength(&term.exact), f64::max)
}

/// The mass of the terms, as if they were all average and no more than make a whole request.
fn whole_mass(terms: &[KnownTerm]) -> f64 {
    let all: f64 = terms.iter().map(|term| term.mass).sum();
    all / count(terms.len().max(1)) * count(terms.len().min(WHOLE))
}
