//! How found tools came to their places, told by the code that scores them.

use super::floor::{covered, needed};
use super::ranked::FieldWords;
use super::rarity::UNIT;
use super::score::{self, Gain, SentencePart, gain_of_mention, loss_of_unsaid, lowered, scaled};
use super::search::{Filter, Match, Strategy};
use super::{Id, ToolIndex};
use crate::view::ToolIndexEntry;

/// A tool that a search has found, and how it came to its place.
///
/// Results are ordered by [`FoundTool::found_as`], then by [`FoundTool::score`]. Scores are in units of a term of
/// weight 1 and of the largest impact.
#[derive(Debug)]
pub struct FoundTool<'a> {
    /// The tool.
    pub entry: ToolIndexEntry<'a>,
    /// How it was found.
    pub found_as: Match,
    /// What the ranking makes of it; `None` for a search that ranks nothing, or a tool that has no word of the request.
    pub score: Option<Score>,
}

/// The score of a tool, from the sentence of the request that gives it most.
#[derive(Debug)]
pub struct Score {
    /// The words of content of that sentence.
    pub sentence: Vec<String>,
    /// What each term adds, in the order in which they are added.
    pub terms: Vec<TermShare>,
    /// What is added since the sentence names the tool's CLI.
    pub mention: f64,
    /// What is taken away since the tool's name says more than the sentence.
    pub unsaid: f64,
    /// What is taken away since the sentence is a question and the tool changes something.
    pub changes: f64,
    /// What is added since a phrase of the tool says what the sentence does.
    pub phrase: f64,
    /// What all of this is multiplied by, to be compared with what other sentences give.
    pub factor: f64,
    /// The result.
    pub total: f64,
    /// The mass of terms that the tool is about.
    pub covered: f64,
    /// The mass of terms that one of the first tools must be about, or nothing is found by rank.
    pub needed: f64,
}

/// What one term adds to a score.
#[derive(Debug)]
pub struct TermShare {
    /// The stem of the term.
    pub stem: String,
    /// Where it comes from: `said`, `synonym`, `compound` or `near`.
    pub origin: &'static str,
    /// How much it counts, which includes how rare it is.
    pub weight: f64,
    /// How much it is what the tool is about, from 1 to 255.
    pub impact: u8,
    /// The fields of the tool that have the term, with its weighted frequency in each. Their sum makes the impact.
    pub fields: Vec<(&'static str, f64)>,
    /// What it adds: weight times impact, and a share for standing in the name.
    pub gain: f64,
}

impl ToolIndex {
    /// Explains the results that [`ToolIndex::search_by`] finds, in the same order.
    #[must_use]
    pub fn explain(&self, strategy: Strategy, filter: Filter<'_>, limit: usize) -> Vec<FoundTool<'_>> {
        let Some((request, literal)) = self.read(strategy, filter) else {
            let found = self.search(filter, limit).into_iter();
            return found.map(|entry| FoundTool { entry, found_as: Match::Field, score: None }).collect();
        };
        let scores = score::scores(self, &request, &self.runs(filter), filter.is_narrow());
        let words: Vec<_> = self.layers.iter().map(|layer| FieldWords::of(&layer.catalog)).collect();

        let explained = self
            .rank(&request, filter, &literal, limit, if strategy == Strategy::Auto { super::search::FALL } else { 0.0 })
            .into_iter()
            .map(|id| {
                let from_sentences = scores.parts.iter().filter_map(|part| self.score_from(part, &words, id));
                let score = from_sentences.max_by(|one, other| one.total.total_cmp(&other.total));
                FoundTool { entry: self.tool(id).entry(), found_as: literal.match_of_tool(self, id), score }
            });
        explained.collect()
    }

    /// The score that a sentence gives a tool; `None` if it gives none.
    fn score_from(&self, part: &SentencePart, words: &[FieldWords], id: Id) -> Option<Score> {
        let (layer, row) = id;
        let mut sum: u32 = 0;
        let mut named: u8 = 0;
        let mut terms = Vec::new();
        for gain in &part.gains {
            let Some(posting) = gain.term.posting(self, id) else { continue };
            sum = sum.saturating_add(gain.of(posting));
            named = named.saturating_add(posting.said());
            terms.push(share(gain, posting.impact, gain.of(posting), words[layer].frequencies(row, &gain.stem)));
        }

        let mention =
            part.named.iter().filter(|named| named.has(layer, row)).map(|named| gain_of_mention(named.is_first)).sum();
        sum = sum.saturating_add(mention);

        let tools = self.layers.iter().map(|layer| layer.catalog.tools.len()).sum();
        let name = self.layers[layer].catalog.ranked.names[row as usize];
        let kept = lowered(sum, loss_of_unsaid(tools), name.saturating_sub(named));
        let left = if part.asks { score::asked(kept, self.layers[layer].reads(row)) } else { kept };
        let phrase = part.lifts.iter().find(|(lifted, _)| *lifted == id).map_or(0, |(_, gain)| *gain);
        (left > 0).then(|| Score {
            sentence: part.words.clone(),
            terms,
            mention: units(mention),
            unsaid: units(sum - kept),
            changes: units(kept - left),
            factor: part.factor(),
            phrase: units(phrase),
            total: units(scaled(left.saturating_add(phrase), part.factor)),
            covered: covered(self, &part.known, id),
            needed: needed(self, &part.known),
        })
    }
}

fn share(gain: &Gain, impact: u8, points: u32, fields: Vec<(&'static str, f64)>) -> TermShare {
    TermShare {
        stem: gain.stem.clone(),
        origin: gain.origin.into(),
        weight: f64::from(gain.weight) / 1000.0,
        impact,
        fields,
        gain: units(points),
    }
}

fn units(points: u32) -> f64 {
    f64::from(points) / UNIT
}
