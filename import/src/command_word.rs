//! Names of commands in text.

/// The parts of a list of names: `add, remove and show.`
pub(crate) fn listed_names(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.trim_end_matches('.').split(',').flat_map(|part| part.split(" and ")).map(str::trim);
    parts.map(|part| part.strip_prefix("and ").unwrap_or(part)).filter(|part| !part.is_empty())
}

/// Whether a word could be the name of a command.
pub(crate) fn is_command_word(word: &str) -> bool {
    word.len() <= 60
        && word.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:".contains(c))
        && !word.ends_with(['.', ':', '-'])
}
