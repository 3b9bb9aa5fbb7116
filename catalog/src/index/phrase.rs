//! Phrases: a tool gains if one of its phrases asks for what a sentence does.
//!
//! The words of all phrases of a tool together can have a sentence by chance; those of one phrase hardly do.

use super::floor::STAND_IN;
use super::rarity::{UNIT, fixed, rarity};
use super::term::KnownTerm;
use super::{Id, ToolIndex};

/// Best tools whose phrases are looked at.
pub(super) const LIFTED: usize = 8;
/// What a tool gains that has the sentence as a phrase.
const SAME: f64 = 1.3;
/// How far a word of a phrase is one that stands for it in the sentence, such as a synonym.
const STANDS_FOR: f64 = 0.5;
/// How far it is one that was probably misspelt.
const MISSPELT: f64 = 0.8;

/// What a sentence says, to be compared with phrases.
pub(super) struct SaidTerms<'a> {
    index: &'a ToolIndex,
    tools: usize,
    /// Per layer: the numbers of terms that are said or stand for such, ascending, each with the mass that it says.
    layers: Vec<Vec<(usize, f64)>>,
    /// The mass of all terms.
    mass: f64,
}

impl<'a> SaidTerms<'a> {
    pub(super) fn new(index: &'a ToolIndex, terms: &[KnownTerm]) -> Self {
        let layers = (0..index.layers.len()).map(|layer| {
            let said = terms.iter().flat_map(|term| {
                let exact = (term.exact.numbers[layer], term.mass);
                let others = term.stand_ins.iter().map(move |(other, share)| {
                    let likeness = if *share > STAND_IN { MISSPELT } else { STANDS_FOR };
                    (other.numbers[layer], likeness * term.mass)
                });
                std::iter::once(exact).chain(others)
            });
            let mut said: Vec<_> = said.filter_map(|(number, mass)| Some((number?, mass))).collect();
            // The most first, which is what is kept.
            said.sort_unstable_by(|(one, most), (other, least)| one.cmp(other).then(least.total_cmp(most)));
            said.dedup_by_key(|(number, _)| *number);
            said
        });
        let tools = index.layers.iter().map(|layer| layer.catalog.tools.len()).sum();
        Self { index, tools, layers: layers.collect(), mass: terms.iter().map(|term| term.mass).sum() }
    }

    /// What a tool gains by its likest phrase.
    pub(super) fn gain(&self, (layer, row): Id) -> u32 {
        let phrases = self.index.layers[layer].catalog.ranked.phrases(row);
        fixed(SAME * UNIT * phrases.map(|phrase| self.likeness(layer, &phrase)).fold(0.0, f64::max))
    }

    /// What the sentence and a phrase have in common, as a share of what either says, from 0 to 1.
    fn likeness(&self, layer: usize, phrase: &[usize]) -> f64 {
        let ranked = &self.index.layers[layer].catalog.ranked;
        let said = &self.layers[layer];
        let (mut common, mut other) = (0.0, 0.0);
        for number in phrase {
            match said.binary_search_by_key(number, |(said, _)| *said) {
                Ok(at) => common += said[at].1,
                Err(_) => other += rarity(self.tools, ranked.postings(*number).len()),
            }
        }
        if common > 0.0 { common.min(self.mass) / (self.mass + other) } else { 0.0 }
    }
}
