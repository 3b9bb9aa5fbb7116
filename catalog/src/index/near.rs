//! Terms that an unknown word was probably meant to be.

use super::ToolIndex;

/// Terms that an unknown word is taken for at most.
const MAX_NEAR: usize = 4;

/// Terms that start as an unknown one does, or are it but for a typing mistake; nearest first, then in their order.
pub(super) fn near(index: &ToolIndex, unknown: &str) -> Vec<String> {
    let mistakes = match unknown.chars().count() {
        0..=3 => return Vec::new(),
        4..=7 => 1,
        _ => 2,
    };
    let letters_of_unknown = letters(unknown);

    // A letter has two bytes at most in nearly all alphabets.
    let bytes = unknown.len().saturating_sub(2 * mistakes)..=unknown.len() + 2 * mistakes;
    let mut found: Vec<(usize, &str)> = Vec::new();
    for layer in &index.layers {
        let ranked = &layer.catalog.ranked;
        found.extend(ranked.starting_with(unknown).map(|term| (1, term)));
        for term in ranked.of_length(bytes.clone()) {
            // A mistake changes two letters at most; a look at them spares the distance for nearly all terms.
            let changed = (letters(term) ^ letters_of_unknown).count_ones() as usize;
            if changed <= 2 * mistakes && !term.starts_with(unknown) {
                let distance = strsim::damerau_levenshtein(term, unknown);
                found.extend((distance <= mistakes).then_some((distance, term)));
            }
        }
    }

    found.sort_unstable();
    found.dedup();
    found.into_iter().take(MAX_NEAR).map(|(_, term)| term.to_owned()).collect()
}

/// The letters of a word, as a set of their codes modulo 64.
fn letters(word: &str) -> u64 {
    word.chars().fold(0, |letters, letter| letters | 1 << (u32::from(letter) % u64::BITS))
}
