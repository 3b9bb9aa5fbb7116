//! Terms of a sentence as they stand in an index.

use super::ranked::Posting;
use super::{Id, ToolIndex};
use crate::table::Rows;

/// A term of a sentence, looked up.
pub(super) struct KnownTerm {
    /// Its weight times its rarity.
    pub(super) mass: f64,
    pub(super) exact: LocatedTerm,
    /// What stands in for it, each with how far it covers the term.
    pub(super) stand_ins: Vec<(LocatedTerm, f64)>,
}

/// Where a term stands: its number in each layer.
#[derive(Clone)]
pub(super) struct LocatedTerm {
    pub(super) numbers: Vec<Option<usize>>,
    pub(super) tools: usize,
}

impl LocatedTerm {
    pub(super) fn find(index: &ToolIndex, stem: &str) -> Self {
        let numbers: Vec<_> = index.layers.iter().map(|layer| layer.catalog.ranked.find(stem)).collect();
        let counts = index
            .layers
            .iter()
            .zip(&numbers)
            .filter_map(|(layer, number)| Some(layer.catalog.ranked.postings((*number)?).len()));
        let tools = counts.sum();
        Self { numbers, tools }
    }

    pub(super) fn postings<'a>(&self, index: &'a ToolIndex, layer: usize) -> impl Iterator<Item = Posting> + use<'a> {
        self.numbers[layer].map(|number| index.layers[layer].catalog.ranked.postings(number)).into_iter().flatten()
    }

    /// In how many of some tools the term stands.
    pub(super) fn tools_among(&self, index: &ToolIndex, runs: &[(usize, Rows)]) -> usize {
        let count = |(layer, Rows(first, end)): &(usize, Rows)| {
            let upto = self.postings(index, *layer).take_while(|posting| posting.row < *end);
            upto.filter(|posting| posting.row >= *first).count()
        };
        runs.iter().map(count).sum()
    }

    /// How much the term is what a tool is about, from 0 to 1.
    pub(super) fn strength(&self, index: &ToolIndex, tool: Id) -> f64 {
        self.posting(index, tool).map_or(0.0, Posting::strength)
    }

    /// What the term is in a tool, if the tool has it.
    pub(super) fn posting(&self, index: &ToolIndex, (layer, row): Id) -> Option<Posting> {
        let mut upto = self.postings(index, layer).take_while(|posting| posting.row <= row);
        upto.find(|posting| posting.row == row)
    }
}
