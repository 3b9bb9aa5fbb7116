//! Terms that an unknown word was probably meant to be.

use super::ToolIndex;

/// Terms that an unknown word is taken for at most.
const MAX_NEAR: usize = 4;

/// Terms that start as an unknown one does, or are it but for a typing mistake; nearest first, then in their order.
pub(super) fn near(index: &ToolIndex, unknown: &str) -> Vec<String> {
    let length = unknown.chars().count();
    let mistakes = match length {
        0..=3 => return Vec::new(),
        4..=7 => 1,
        _ => 2,
    };
    let wanted = letters(unknown);
    let mut found: Vec<(usize, &str)> = Vec::new();
    for term in index.layers.iter().flat_map(|layer| layer.catalog.ranked.terms()) {
        if term.len() > unknown.len() && term.starts_with(unknown) {
            found.push((1, term));
        } else if may_be_near(term, unknown, wanted, mistakes) && term.chars().count().abs_diff(length) <= mistakes {
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

/// Whether a term may differ from another by no more than some mistakes, each of which changes two letters at most. A look
/// at lengths and letters spares the distance for nearly all terms.
fn may_be_near(term: &str, other: &str, wanted: u64, mistakes: usize) -> bool {
    const MAX_BYTES_OF_LETTER: usize = 4;
    term.len().abs_diff(other.len()) <= MAX_BYTES_OF_LETTER * mistakes
        && (letters(term) ^ wanted).count_ones() as usize <= 2 * mistakes
}

/// The letters of a word, as a set of their codes modulo 64.
fn letters(word: &str) -> u64 {
    word.chars().fold(0, |letters, letter| letters | 1 << (u32::from(letter) % u64::BITS))
}
