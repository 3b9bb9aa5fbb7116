//! Scores of tools for one request.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::ToolIndex;
use super::query::{Request, SYNONYM, Term};
use super::ranked::{PLACE, Posting};
use super::tokens::stem;
use crate::view::Cli;

/// A score of one, in units of a term's weight times its impact.
///
/// A request has at most 64 terms, each worth at most 21 of these with its stand-ins, and as many compounds, each worth at
/// most 8: scores stay below 2^29.
const UNIT: f64 = 1000.0 * 255.0;
/// What a CLI's tools gain when the request starts with its name, and when it has it elsewhere.
const NAMED_FIRST: f64 = 4.3;
const NAMED: f64 = 0.6;
/// What a tool loses whose name says more than the request, in rarities of a word that one tool has.
const UNSAID: f64 = 0.08;
/// How much a word counts that two adjacent words of the request make.
const COMPOUND: f64 = 0.7;
/// How much a term counts that an unknown word was probably meant to be.
const NEAR: f64 = 0.5;
/// Terms that an unknown word is taken for at most.
const MAX_NEAR: usize = 4;
/// Unknown words for which such terms are looked for: each look goes through all terms.
const MAX_NEAR_LOOKS: usize = 8;
/// The part of a request that one of the best tools must be about, else no tool serves it, where there is one tool …
const SERVED: f64 = 0.145;
/// … and by how much it grows with the logarithm of their number: of many tools one has some of the words by chance.
const SERVED_GROWTH: f64 = 0.0125;
/// Best tools that are looked at for that.
pub(super) const LOOKED_AT: usize = 3;
/// How far a stand-in of a word covers it.
const STAND_IN: f64 = 0.5;

/// The scores of all tools of an index.
pub(super) struct Scores {
    layers: Vec<Vec<Score>>,
    near_looks: usize,
}

/// What is known of a tool.
#[derive(Clone, Copy, Default)]
struct Score {
    sum: u32,
    /// What the words of its name say together that the request says too.
    named: u8,
}

/// What is known of a term of the request.
pub(super) struct Known {
    /// Its weight times its rarity.
    mass: f64,
    exact: Located,
    stand_ins: Vec<Located>,
}

/// Where a term stands: its number in each layer.
#[derive(Clone)]
struct Located {
    numbers: Vec<Option<usize>>,
    tools: usize,
}

/// Scores all tools.
pub(super) fn scores(index: &ToolIndex, request: &Request) -> (Vec<Known>, Scores) {
    let layers: Vec<_> = index.layers.iter().map(|layer| vec![Score::default(); layer.catalog.tools.len()]).collect();
    let tools = layers.iter().map(Vec::len).sum();
    let mut scores = Scores { layers, near_looks: 0 };
    let mut terms: Vec<_> = request.terms.iter().map(|term| scores.add_term(index, tools, term)).collect();
    for compound in &request.compounds {
        let located = Located::find(index, &compound.stem);
        if located.tools > 0 {
            scores.add(index, &located, COMPOUND * rarity(tools, located.tools));
            let parts = compound.words.each_ref().map(|word| stem(word));
            let said =
                request.terms.iter().zip(&mut terms).filter(|(term, _)| parts.contains(&term.stem.as_str().into()));
            said.for_each(|(_, known)| known.stand_ins.push(located.clone()));
        }
    }
    scores.add_names(index, &request.words);
    scores.take_unsaid(index, fixed(UNSAID * rarity(tools, 1) * UNIT));
    (terms, scores)
}

impl Scores {
    /// The score of a tool, if it has one.
    pub(super) fn get(&self, (layer, row): (usize, u32)) -> Option<u32> {
        Some(self.layers[layer][row as usize].sum).filter(|score| *score > 0)
    }

    fn add_term(&mut self, index: &ToolIndex, tools: usize, term: &Term) -> Known {
        let exact = Located::find(index, &term.stem);
        let mut stand_ins: Vec<Located> = term.synonyms.iter().map(|stem| Located::find(index, stem)).collect();
        for synonym in &stand_ins {
            self.add(index, synonym, SYNONYM * term.weight * rarity(tools, synonym.tools));
        }
        let mass = term.weight * rarity(tools, exact.tools);
        if exact.tools == 0 {
            self.near_looks += 1;
            let looked_for = if self.near_looks > MAX_NEAR_LOOKS { Vec::new() } else { near(index, &term.stem) };
            for stem in looked_for {
                let near = Located::find(index, &stem);
                self.add(index, &near, NEAR * term.weight * rarity(tools, near.tools));
                stand_ins.push(near);
            }
        } else {
            self.add(index, &exact, mass);
        }
        Known { mass, exact, stand_ins }
    }

    fn add(&mut self, index: &ToolIndex, term: &Located, weight: f64) {
        let weight = fixed(1000.0 * weight);
        for ((layer, scores), number) in index.layers.iter().zip(&mut self.layers).zip(&term.numbers) {
            let postings = number.map(|number| layer.catalog.ranked.postings(number));
            for posting in postings.into_iter().flatten() {
                let score = &mut scores[posting.row as usize];
                score.sum = score.sum.saturating_add(weight * u32::from(posting.impact));
                score.named = score.named.saturating_add(posting.named);
            }
        }
    }

    /// Lifts the tools of CLIs that the request names.
    fn add_names(&mut self, index: &ToolIndex, words: &[String]) {
        for segment in &index.segments {
            let cli = index.cli(*segment);
            let gain = match position_of(cli, words) {
                None => continue,
                Some(0) => NAMED_FIRST,
                Some(_) => NAMED,
            };
            let rows = cli.tool_rows().range();
            for score in &mut self.layers[segment.layer][rows] {
                score.sum = score.sum.saturating_add(fixed(gain * UNIT));
            }
        }
    }

    /// Lowers tools whose names say more than the request: those that also match are beside what is asked for, or a special
    /// case of it.
    fn take_unsaid(&mut self, index: &ToolIndex, loss: u32) {
        for (layer, scores) in index.layers.iter().zip(&mut self.layers) {
            for (score, name) in scores.iter_mut().zip(layer.catalog.ranked.names.iter()) {
                let unsaid = name.saturating_sub(score.named).min(PLACE);
                let lowered = score.sum.saturating_sub(loss / u32::from(PLACE) * u32::from(unsaid));
                score.sum = lowered.max(score.sum.min(1));
            }
        }
    }
}

/// Where a request first names a CLI.
fn position_of(cli: Cli<'_>, words: &[String]) -> Option<usize> {
    let program = cli.words().next().map(|path| path.rsplit('/').next().unwrap_or(path));
    let names = [Some(cli.name()), Some(cli.stem()), program];
    words.iter().position(|word| names.iter().flatten().any(|name| name.eq_ignore_ascii_case(word)))
}

impl Located {
    fn find(index: &ToolIndex, stem: &str) -> Self {
        let numbers: Vec<_> = index.layers.iter().map(|layer| layer.catalog.ranked.find(stem)).collect();
        let counts = index
            .layers
            .iter()
            .zip(&numbers)
            .filter_map(|(layer, number)| Some(layer.catalog.ranked.postings((*number)?).len()));
        let tools = counts.sum();
        Self { numbers, tools }
    }

    /// How much the term is what a tool is about, from 0 to 1.
    fn strength(&self, index: &ToolIndex, (layer, row): (usize, u32)) -> f64 {
        let postings = self.numbers[layer].map(|number| index.layers[layer].catalog.ranked.postings(number));
        let mut upto = postings.into_iter().flatten().take_while(|posting| posting.row <= row);
        upto.find(|posting| posting.row == row).map_or(0.0, Posting::strength)
    }
}

/// Whether one of the best tools is about enough of what the request says, or of the CLI that it starts with, so that the
/// request is not about something else.
pub(super) fn is_served(index: &ToolIndex, request: &Request, terms: &[Known], best: &[(usize, u32)]) -> bool {
    let all: f64 = terms.iter().map(|term| term.mass).sum();
    let tools: usize = index.layers.iter().map(|layer| layer.catalog.tools.len()).sum();
    #[expect(clippy::cast_precision_loss, reason = "tools are counted in 32 bits")]
    let enough = all * (SERVED + SERVED_GROWTH * ln(tools as f64));
    best.iter().take(LOOKED_AT).any(|tool| {
        let covered = terms.iter().map(|term| {
            let strength = |located: &Located| located.strength(index, *tool);
            let exact = strength(&term.exact);
            // No stand-in covers more.
            if exact >= STAND_IN {
                return term.mass * exact;
            }
            let stand_in = term.stand_ins.iter().map(strength).fold(0.0, f64::max);
            term.mass * exact.max(STAND_IN * stand_in)
        });
        position_of(index.tool(*tool).cli(), &request.words) == Some(0) || covered.sum::<f64>() >= enough
    })
}

/// Terms that start as an unknown one does, or are it but for a typing mistake; nearest first, then in their order.
fn near(index: &ToolIndex, unknown: &str) -> Vec<String> {
    let length = unknown.chars().count();
    let mistakes = match length {
        0..=3 => return Vec::new(),
        4..=7 => 1,
        _ => 2,
    };
    let mut found: Vec<(usize, &str)> = Vec::new();
    for term in index.layers.iter().flat_map(|layer| layer.catalog.ranked.terms()) {
        if term.len() > unknown.len() && term.starts_with(unknown) {
            found.push((1, term));
        } else if term.chars().count().abs_diff(length) <= mistakes {
            let distance = strsim::damerau_levenshtein(term, unknown);
            if distance <= mistakes {
                found.push((distance, term));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found.into_iter().take(MAX_NEAR).map(|(_, term)| term.to_owned()).collect()
}

/// The best `limit`, best first, equal ones in the order in which they come.
pub(super) fn best<K: Ord, T: Ord>(ranked: impl Iterator<Item = (K, T)>, limit: usize) -> Vec<T> {
    let mut heap = BinaryHeap::with_capacity(limit.min(1024) + 1);
    for (order, (key, id)) in ranked.enumerate() {
        let candidate = Reverse((key, Reverse(order), id));
        if heap.len() < limit {
            heap.push(candidate);
        } else if let Some(mut worst) = heap.peek_mut()
            && candidate < *worst
        {
            *worst = candidate;
        }
    }
    heap.into_sorted_vec().into_iter().map(|Reverse((_, _, id))| id).collect()
}

/// How much a term tells that stands in `frequency` of `tools`: BM25's inverse document frequency, its peaks flattened.
fn rarity(tools: usize, frequency: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "tools are counted in 32 bits")]
    let [tools, frequency] = [tools, frequency].map(|count| count as f64);
    let idf = ln(1.0 + (tools - frequency + 0.5) / (frequency + 0.5));
    (idf * idf.sqrt()).sqrt()
}

/// The natural logarithm for values from 1 on, by basic operations: the system's may differ in the last bit.
fn ln(mut value: f64) -> f64 {
    let mut halvings = 0.0;
    while value > 2.0 {
        value /= 2.0;
        halvings += 1.0;
    }
    let ratio = (value - 1.0) / (value + 1.0);
    let (mut sum, mut power, mut odd) = (0.0, ratio, 1.0);
    while odd < 40.0 {
        sum += power / odd;
        power *= ratio * ratio;
        odd += 2.0;
    }
    2.0 * sum + halvings * std::f64::consts::LN_2
}

fn fixed(value: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "weights are small and positive")]
    let fixed = value.round() as u32;
    fixed
}
