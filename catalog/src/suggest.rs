//! Suggestions for misspelt names.

/// The most suggestions that an error message has.
pub const MAX_SUGGESTIONS: usize = 3;
/// Finds the candidate that is most similar to `word`.
///
/// The distance (Damerau-Levenshtein, case-insensitive) is at most a third of the word's length, or 1, and less than half
/// of it. The first of equally similar candidates wins.
#[must_use]
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = near_misses(word, candidates, 1);
    near.first().copied()
}

/// Finds up to `limit` candidates that are similar to `word`, the most similar first, then in their order.
#[must_use]
pub fn near_misses<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>, limit: usize) -> Vec<&'a str> {
    const MAX_WORD_BYTES: usize = 256;
    if word.is_empty() || word.len() > MAX_WORD_BYTES {
        return Vec::new();
    }

    let wanted = word.to_lowercase();
    let length = wanted.chars().count();
    let allowed = (length / 3).max(1);
    let mut near: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter(|candidate| candidate.len().abs_diff(word.len()) <= 4 * allowed)
        .filter_map(|candidate| {
            let distance = strsim::damerau_levenshtein(&wanted, &candidate.to_lowercase());
            (distance <= allowed && 2 * distance < length).then_some((distance, candidate))
        })
        .collect();
    near.sort_by_key(|(distance, _)| *distance);

    // A program may be a candidate for each of its configs.
    let mut found: Vec<&str> = Vec::new();
    for (_, candidate) in near {
        if found.len() < limit && !found.contains(&candidate) {
            found.push(candidate);
        }
    }
    found
}
