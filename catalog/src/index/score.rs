//! Scores of tools for one request.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use strum::IntoStaticStr;

use super::floor::{self, LOOKED_AT, MEANT, STAND_IN};
use super::mention::{Mention, position_of};
use super::near::{Near, is_nearly_empty, near};
use super::phrase::{LIFTED, SaidTerms};
use super::query::{QuerySentence, Request, Term, WEAK};
use super::ranked::{PLACE, Posting};
use super::rarity::{UNIT, fixed, rarity};
use super::term::{KnownTerm, LocatedTerm};
use super::tokens::stem;
use super::{Id, ToolIndex};
use crate::table::Rows;

/// Gain of a CLI's tools if a sentence starts with the CLI's name, and if it has the name elsewhere.
const NAMED_FIRST: f64 = 4.3;
const NAMED: f64 = 0.8;
/// Loss of a tool whose name says more than the request, in rarities of a word that one tool has.
const UNSAID: f64 = 0.15;
/// Weight of a synonym of a word.
const SYNONYM: f64 = 0.1;
/// Weight of a word that two adjacent words of the request make.
const COMPOUND: f64 = 0.86;
/// Weight of a term that an unknown word was probably meant to be.
const NEAR: f64 = 0.75;
/// What is left of a term in a form that commands nothing, for tools whose names command it.
const INFLECTED: f64 = 0.6;
/// What is left of the score of a tool that changes something, for a question.
const CHANGES: f64 = 0.7;
/// Unknown words for which such terms are looked for: each look goes through all terms.
const MAX_NEAR_LOOKS: usize = 8;
/// How likely a sentence must be the request for its unknown words to be looked for.
const LIKELY: f64 = 0.5;
/// What a word of a tool's name gains where a request has a scope, as a share of the largest impact: names tell the tools of a
/// CLI apart.
const IN_NAME: f64 = 0.3;
/// Share of the rarity within the scope in a term's rarity, where a request has a scope.
const LOCAL: f64 = 0.375;

/// Scores the tools in some rows for a request; where the rows are narrowed down, it is about those.
pub(super) fn scores(index: &ToolIndex, request: &Request, runs: &[(usize, Rows)], is_narrowed: bool) -> Scores {
    let mut scorer = Scorer::new(index);
    let mut all = Scores::none(index);
    let is_alone = request.sentences.len() == 1;
    scorer.is_foreign = request.is_foreign;
    for sentence in &request.sentences {
        let named = scorer.clis_in(sentence);
        scorer.scope = if is_narrowed { Some(Scope::new(runs.to_vec())) } else { Scope::of_first(&named) };
        let known = scorer.score(sentence, &named);
        let top = best(visible(index, runs, &scorer.sums), LIFTED);
        // A lone word may be misspelt or cut short, and no tool is about anything else than it.
        let is_lone_word = is_alone && known.len() == 1 && !top.is_empty();
        let is_served = is_lone_word || floor::is_served(index, &named, &known, &top[..top.len().min(LOOKED_AT)]);
        let lifts = scorer.lift(&known, top);
        let gains = std::mem::take(&mut scorer.gains);
        let words = sentence.words.clone();
        let part = SentencePart { words, gains, named, known, factor: ONE, asks: sentence.asks, lifts };
        if is_alone {
            return Scores { layers: scorer.sums, is_served, parts: vec![part] };
        }
        // Once a tool serves a sentence, those that none serves are beside the point.
        if is_served && !all.is_served {
            all = Scores { is_served, ..Scores::none(index) };
        }
        if is_served || !all.is_served {
            let mass: f64 = part.known.iter().map(|term| term.mass).sum();
            // Long sentences have high scores for saying much.
            let factor = u64::from(fixed(sentence.weight / mass.sqrt() * ONE_AS_FLOAT));
            all.merge(&scorer.sums, factor);
            all.parts.push(SentencePart { factor, ..part });
        }
        scorer.clear();
    }

    all
}

/// The visible tools in some rows that have a score, with it.
fn visible<'a>(
    index: &'a ToolIndex,
    runs: &'a [(usize, Rows)],
    layers: &'a [Vec<u32>],
) -> impl Iterator<Item = (u32, Id)> {
    let scored = runs.iter().flat_map(|(layer, rows)| {
        let scores = (rows.0..rows.1).zip(&layers[*layer][rows.range()]);
        scores.filter(|(_, score)| **score > 0).map(move |(row, score)| (*score, (*layer, row)))
    });
    scored.filter(|(_, id)| index.is_visible(*id))
}

/// The score of each tool.
pub(super) struct Scores {
    layers: Vec<Vec<u32>>,
    /// Whether a tool is about enough of a sentence.
    pub(super) is_served: bool,
    /// What the scores are made of.
    pub(super) parts: Vec<SentencePart>,
}

/// What the scores for one sentence are made of.
pub(super) struct SentencePart {
    /// Its words of content.
    pub(super) words: Vec<String>,
    /// In the order in which they are added.
    pub(super) gains: Vec<Gain>,
    pub(super) named: Vec<Mention>,
    pub(super) known: Vec<KnownTerm>,
    /// What the scores are multiplied by, in parts of [`ONE`], to be compared with those of other sentences.
    pub(super) factor: u64,
    pub(super) asks: bool,
    /// What the best tools gain by their phrases.
    pub(super) lifts: Vec<(Id, u32)>,
}

impl SentencePart {
    /// What the scores are multiplied by.
    pub(super) fn factor(&self) -> f64 {
        f64::from(u32::try_from(self.factor).unwrap_or(u32::MAX)) / ONE_AS_FLOAT
    }
}

/// A factor of one.
const ONE: u64 = 1 << 16;
const ONE_AS_FLOAT: f64 = 65536.0;

/// A score for a sentence, made comparable with those for others by a factor in parts of [`ONE`].
pub(super) fn scaled(score: u32, factor: u64) -> u32 {
    u32::try_from(((u64::from(score) * factor) >> 16).max(1)).unwrap_or(u32::MAX)
}

/// What a term adds to the scores of the tools that have it.
pub(super) struct Gain {
    pub(super) origin: Origin,
    pub(super) stem: String,
    pub(super) term: LocatedTerm,
    /// In thousandths.
    pub(super) weight: u32,
    /// For tools that have the term in their names.
    in_name: u32,
    /// Share of the impact, in thousandths, for tools whose names command the term.
    in_command: u32,
}

/// Where a term comes from.
#[derive(Clone, Copy, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub(super) enum Origin {
    /// The sentence says it.
    Said,
    /// It stands for a term that is said.
    Synonym,
    /// Two adjacent words of the sentence make it.
    Compound,
    /// An unknown word was probably meant to be it.
    Near,
}

impl Gain {
    /// What a tool gains that has the term.
    pub(super) fn of(&self, posting: Posting) -> u32 {
        let gain = self.weight * u32::from(posting.impact);
        let gain = if posting.is_command() { gain / 1000 * self.in_command } else { gain };
        gain + if posting.named > 0 { self.in_name } else { 0 }
    }
}

impl Scores {
    fn none(index: &ToolIndex) -> Self {
        let layers = index.layers.iter().map(|layer| vec![0; layer.catalog.tools.len()]);
        Self { layers: layers.collect(), is_served: false, parts: Vec::new() }
    }

    /// Takes the score of a tool out, if it has one.
    pub(super) fn take(&mut self, (layer, row): Id) -> Option<u32> {
        Some(std::mem::take(&mut self.layers[layer][row as usize])).filter(|score| *score > 0)
    }

    /// The visible tools in some rows that have a score, with it.
    pub(super) fn visible<'a>(
        &'a self,
        index: &'a ToolIndex,
        runs: &'a [(usize, Rows)],
    ) -> impl Iterator<Item = (u32, Id)> {
        visible(index, runs, &self.layers)
    }

    /// Keeps the better of the scores so far and those of another sentence.
    fn merge(&mut self, sentence: &[Vec<u32>], factor: u64) {
        for (best, score) in self.layers.iter_mut().flatten().zip(sentence.iter().flatten()) {
            if *score > 0 {
                *best = scaled(*score, factor).max(*best);
            }
        }
    }
}

/// The scores for one sentence after the other.
struct Scorer<'a> {
    index: &'a ToolIndex,
    tools: usize,
    /// The tools that the sentence is about, as far as it says so.
    scope: Option<Scope>,
    /// The score of each tool.
    sums: Vec<Vec<u32>>,
    /// The sum of the parts of each tool's name that the sentence says.
    named: Vec<Vec<u8>>,
    /// What has been added for the sentence.
    gains: Vec<Gain>,
    /// Unknown words that are still looked for.
    looks_left: usize,
    is_foreign: bool,
}

/// Some tools of an index.
struct Scope {
    runs: Vec<(usize, Rows)>,
    tools: usize,
}

impl Scope {
    fn new(runs: Vec<(usize, Rows)>) -> Self {
        let tools = runs.iter().map(|(_, rows)| rows.range().len()).sum();
        Self { runs, tools }
    }

    /// The tools of the CLIs that a sentence starts with.
    fn of_first(named: &[Mention]) -> Option<Self> {
        let first = named.iter().filter(|named| named.is_first).map(|named| (named.layer, named.rows));
        let scope = Self::new(first.collect());
        (scope.tools > 0).then_some(scope)
    }
}

impl<'a> Scorer<'a> {
    fn new(index: &'a ToolIndex) -> Self {
        let sizes = || index.layers.iter().map(|layer| layer.catalog.tools.len());
        let sums = sizes().map(|tools| vec![0; tools]).collect();
        let named = sizes().map(|tools| vec![0; tools]).collect();
        Self {
            index,
            tools: sizes().sum(),
            scope: None,
            sums,
            named,
            gains: Vec::new(),
            looks_left: MAX_NEAR_LOOKS,
            is_foreign: false,
        }
    }

    fn clear(&mut self) {
        self.sums.iter_mut().for_each(|layer| layer.fill(0));
        self.named.iter_mut().for_each(|layer| layer.fill(0));
    }

    /// Scores all tools for a sentence.
    fn score(&mut self, sentence: &QuerySentence, named: &[Mention]) -> Vec<KnownTerm> {
        let is_likely = sentence.weight >= LIKELY;
        let mut terms: Vec<_> = sentence.terms.iter().map(|term| self.add_term(term, is_likely)).collect();
        for compound in &sentence.compounds {
            let located = LocatedTerm::find(self.index, &compound.stem);
            if located.tools > 0 {
                self.add(Origin::Compound, &compound.stem, &located, COMPOUND * self.rarity(&located), false);
                let parts = compound.words.each_ref().map(|word| stem(word));
                let said = sentence.terms.iter().zip(&mut terms);
                let parts_said = said.filter(|(term, _)| parts.contains(&term.stem.as_str().into()));
                parts_said.for_each(|(_, known)| known.stand_ins.push((located.clone(), STAND_IN)));
            }
        }

        self.add_named(named);
        self.take_unsaid();
        if sentence.asks {
            self.take_changes();
        }
        terms
    }

    fn add_term(&mut self, term: &Term, is_likely: bool) -> KnownTerm {
        let exact = LocatedTerm::find(self.index, &term.stem);
        let is_inflected = term.is_inflected;
        let locate = |stem: &String| (LocatedTerm::find(self.index, stem), STAND_IN);
        let mut stand_ins: Vec<_> = term.synonyms.iter().map(locate).collect();
        for (stem, (synonym, _)) in term.synonyms.iter().zip(&stand_ins) {
            self.add(Origin::Synonym, stem, synonym, SYNONYM * term.weight * self.rarity(synonym), is_inflected);
        }

        let mut mass = term.weight * self.rarity(&exact);
        // An unknown word with a digit is a value: `show commit 3fa2c1`.
        if exact.tools == 0 && term.stem.bytes().any(|byte| byte.is_ascii_digit()) {
            mass *= WEAK;
        }

        if exact.tools > 0 {
            self.add(Origin::Said, &term.stem, &exact, mass, is_inflected);
        } else if is_likely && term.weight > WEAK && self.looks_left > 0 {
            self.looks_left -= 1;
            if is_nearly_empty(&term.said) {
                mass *= WEAK;
            }
            let mut likely_mass: f64 = 0.0;
            for Near { stem, is_misspelt } in near(self.index, term) {
                let near = LocatedTerm::find(self.index, &stem);
                let near_mass = term.weight * self.rarity(&near);
                self.add(Origin::Near, &stem, &near, NEAR * near_mass, is_inflected);
                stand_ins.push((near, if is_misspelt { MEANT } else { STAND_IN }));
                likely_mass = likely_mass.max(if is_misspelt { near_mass } else { 0.0 });
            }
            // A misspelt word tells no more than the right one.
            if likely_mass > 0.0 {
                mass = mass.min(likely_mass);
            }
        }

        KnownTerm { mass, exact, stand_ins }
    }

    fn add(&mut self, origin: Origin, stem: &str, term: &LocatedTerm, weight: f64, is_inflected: bool) {
        let in_name = if self.scope.is_some() { fixed(IN_NAME * weight * UNIT) } else { 0 };
        let weight = fixed(1000.0 * weight);
        let in_command = if is_inflected { fixed(1000.0 * INFLECTED) } else { 1000 };
        let gain = Gain { origin, stem: stem.to_owned(), term: term.clone(), weight, in_name, in_command };

        for (layer, (sums, named)) in self.sums.iter_mut().zip(&mut self.named).enumerate() {
            for posting in gain.term.postings(self.index, layer) {
                let row = posting.row as usize;
                sums[row] = sums[row].saturating_add(gain.of(posting));
                named[row] = named[row].saturating_add(posting.said());
            }
        }
        self.gains.push(gain);
    }

    /// How much a term tells: what is rare among all tools may be in each of those that a sentence is about.
    fn rarity(&self, term: &LocatedTerm) -> f64 {
        let everywhere = rarity(self.tools, term.tools);
        let Some(scope) = &self.scope else { return everywhere };
        match term.tools_among(self.index, &scope.runs) {
            0 => everywhere,
            tools => (1.0 - LOCAL) * everywhere + LOCAL * rarity(scope.tools, tools),
        }
    }

    /// The CLIs that a sentence names.
    fn clis_in(&self, sentence: &QuerySentence) -> Vec<Mention> {
        let named = self.index.segments.iter().filter_map(|segment| {
            let cli = self.index.cli(*segment);
            let position = position_of(cli, &sentence.words)?;
            Some(Mention { layer: segment.layer, rows: cli.tool_rows(), is_first: position == 0 || self.is_foreign })
        });
        named.collect()
    }

    /// Lifts the tools of CLIs that the sentence names.
    fn add_named(&mut self, named: &[Mention]) {
        for Mention { layer, rows, is_first } in named {
            let gain = gain_of_mention(*is_first);
            for sum in &mut self.sums[*layer][rows.range()] {
                *sum = sum.saturating_add(gain);
            }
        }
    }

    /// Lowers tools that change something: a question asks for none of them.
    fn take_changes(&mut self) {
        for (layer, sums) in self.index.layers.iter().zip(&mut self.sums) {
            for (row, sum) in (0..).zip(sums.iter_mut()).filter(|(_, sum)| **sum > 0) {
                *sum = asked(*sum, layer.reads(row));
            }
        }
    }

    /// Lifts the best tools by what their phrases have of the sentence.
    fn lift(&mut self, terms: &[KnownTerm], top: Vec<Id>) -> Vec<(Id, u32)> {
        let said = SaidTerms::new(self.index, terms);
        let lifts: Vec<_> = top.into_iter().map(|id| (id, said.gain(id))).collect();
        for ((layer, row), gain) in &lifts {
            let sum = &mut self.sums[*layer][*row as usize];
            *sum = sum.saturating_add(*gain);
        }
        lifts
    }

    /// Lowers tools whose names say more than the sentence: those that also match are beside what is asked for, or a special
    /// case of it.
    fn take_unsaid(&mut self) {
        let loss = loss_of_unsaid(self.tools);
        for ((layer, sums), named) in self.index.layers.iter().zip(&mut self.sums).zip(&self.named) {
            for ((sum, named), name) in sums.iter_mut().zip(named).zip(layer.catalog.ranked.names.iter()) {
                *sum = lowered(*sum, loss, name.saturating_sub(*named));
            }
        }
    }
}

/// What a question leaves of a score, by whether the tool only reads.
pub(super) fn asked(sum: u32, reads: bool) -> u32 {
    if reads { sum } else { fixed(f64::from(sum) * CHANGES).max(sum.min(1)) }
}

/// What the tools of a CLI gain that a sentence names.
pub(super) fn gain_of_mention(is_first: bool) -> u32 {
    fixed(if is_first { NAMED_FIRST } else { NAMED } * UNIT)
}

/// What a tool loses at most for what its name says more than a sentence, among so many tools.
pub(super) fn loss_of_unsaid(tools: usize) -> u32 {
    fixed(UNSAID * rarity(tools, 1) * UNIT)
}

/// A score less the loss for the parts of the tool's name that are not said. A tool that has a score keeps one.
pub(super) fn lowered(sum: u32, loss: u32, unsaid: u8) -> u32 {
    let lowered = sum.saturating_sub(loss / u32::from(PLACE) * u32::from(unsaid.min(PLACE)));
    lowered.max(sum.min(1))
}

/// The best `limit`, best first, equal ones in the order in which they come.
pub(super) fn best<K: Ord, T: Ord>(ranked: impl Iterator<Item = (K, T)>, limit: usize) -> Vec<T> {
    let mut heap = BinaryHeap::with_capacity(limit.min(1024) + 1);
    // The closure is what makes this fast: a loop would ask each of the iterators that `ranked` is made of for each item.
    ranked.enumerate().for_each(|(order, (key, id))| {
        if heap.len() < limit {
            heap.push(Reverse((key, Reverse(order), id)));
        } else if heap.peek().is_some_and(|Reverse((worst, ..))| key > *worst) {
            heap.pop();
            heap.push(Reverse((key, Reverse(order), id)));
        }
    });

    heap.into_sorted_vec().into_iter().map(|Reverse((_, _, id))| id).collect()
}
