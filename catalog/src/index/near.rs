//! Terms that an unknown word was probably meant to be.

use super::ToolIndex;
use super::query::Term;
use super::tokens::stem;
use super::vocabulary::{FRAME_WORDS, STOP_WORDS};

/// How far a term is from an unknown word by one letter too many or too few, or two that changed places: it was meant.
const SLIP: usize = 1;
/// The same by one other letter, which often makes another word.
const OTHER_LETTER: usize = 2;
/// The same for a term of which the unknown word is the beginning.
const BEGINNING: usize = 3;
/// The same by two mistakes.
const TWICE: usize = 4;
/// Letters of a word that is hardly another one but for two mistakes.
const LONG: usize = 9;
/// Letters of a word that are looked at for mistakes.
const RESPELT_LETTERS: usize = 16;
/// Bytes of the shortest word without content that is known again when it is misspelt.
const EMPTY_BYTES: usize = 4;

/// Terms that an unknown word is taken for at most.
const MAX_NEAR: usize = 4;

/// A term that an unknown one may stand for.
pub(super) struct Near {
    pub(super) stem: String,
    /// Whether the unknown one is hardly anything else than the term with a typing mistake.
    pub(super) is_misspelt: bool,
}

/// Terms that start as an unknown one does, or are it but for a typing mistake; nearest first, then in their order.
pub(super) fn near(index: &ToolIndex, unknown: &Term) -> Vec<Near> {
    let letters = unknown.said.chars().count();
    let mistakes = match letters {
        0..=3 => return Vec::new(),
        4..=7 => 1,
        _ => 2,
    };

    let mut found: Vec<(usize, String)> = Vec::new();
    for right in respelt(&unknown.said) {
        let stem = stem(&right);
        if index.layers.iter().any(|layer| layer.catalog.ranked.find(&stem).is_some()) {
            found.push((SLIP, stem.into_owned()));
        }
    }
    add_near_stems(index, &unknown.stem, mistakes, &mut found);

    found.sort_unstable();
    let mut known: Vec<String> = Vec::new();
    found.retain(|(_, stem)| {
        let is_new = !known.contains(stem);
        known.extend(is_new.then(|| stem.clone()));
        is_new
    });
    let nearest = found.first().map_or(0, |(distance, _)| *distance);
    let as_near = found.into_iter().filter(|(distance, _)| *distance <= nearest.max(BEGINNING)).take(MAX_NEAR);
    let is_misspelt = |distance| distance <= SLIP || distance > BEGINNING && letters >= LONG;
    as_near.map(|(distance, stem)| Near { stem, is_misspelt: is_misspelt(distance) }).collect()
}

/// Adds the stems that start as an unknown one does, or differ from it by so many mistakes.
fn add_near_stems(index: &ToolIndex, unknown: &str, mistakes: usize, found: &mut Vec<(usize, String)>) {
    let letters_of_unknown = letters(unknown);
    let first = unknown.chars().next();

    // A letter has two bytes at most in nearly all alphabets.
    let bytes = unknown.len().saturating_sub(2 * mistakes)..=unknown.len() + 2 * mistakes;
    for layer in &index.layers {
        let ranked = &layer.catalog.ranked;
        found.extend(ranked.starting_with(unknown).map(|term| (BEGINNING, term.to_owned())));
        for term in ranked.of_length(bytes.clone()) {
            // A mistake changes two letters at most; a look at them spares the distance for nearly all terms.
            let changed = (letters(term) ^ letters_of_unknown).count_ones() as usize;
            if changed <= 2 * mistakes && !term.starts_with(unknown) {
                let distance = strsim::damerau_levenshtein(term, unknown);
                let is_slip = term.len() != unknown.len() || changed == 0;
                let kind = match distance {
                    1 if is_slip && term.chars().next() == first => SLIP,
                    1 => OTHER_LETTER,
                    _ => TWICE,
                };
                found.extend((distance <= mistakes).then(|| (kind, term.to_owned())));
            }
        }
    }
}

/// The words that a word is but for one letter too many, or two that changed places.
fn respelt(word: &str) -> impl Iterator<Item = String> {
    let letters: Vec<char> = word.chars().take(RESPELT_LETTERS).collect();
    let count = letters.len();
    let other = letters.clone();
    let without =
        move |at: usize| other.iter().enumerate().filter(|(place, _)| *place != at).map(|(_, c)| *c).collect();
    let swapped = move |at: usize| {
        let mut letters = letters.clone();
        letters.swap(at - 1, at);
        letters.into_iter().collect()
    };
    (1..count).map(swapped).chain((1..count).map(without))
}

/// Whether an unknown word is one that says nothing, but for a typing mistake.
pub(super) fn is_nearly_empty(word: &str) -> bool {
    let is_near = |empty: &str| {
        let lengths = [empty.len(), word.len()];
        lengths.iter().all(|length| *length >= EMPTY_BYTES)
            && lengths[0].abs_diff(lengths[1]) <= 1
            && strsim::damerau_levenshtein(empty, word) == 1
    };
    STOP_WORDS.iter().chain(FRAME_WORDS).any(|empty| is_near(empty))
}

/// The letters of a word, as a set of their codes modulo 64.
fn letters(word: &str) -> u64 {
    word.chars().fold(0, |letters, letter| letters | 1 << (u32::from(letter) % u64::BITS))
}
