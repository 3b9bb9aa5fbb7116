//! Names and sentences of a draft.

use std::collections::HashSet;

/// Makes an identifier: letters, digits and `_`, not starting with `_`.
pub(super) fn identifier(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        let wanted = if character.is_ascii_alphanumeric() { character } else { '_' };
        if wanted != '_' || !out.is_empty() && !out.ends_with('_') {
            out.push(wanted);
        }
    }

    let out = out.trim_end_matches('_');
    if out.is_empty() { "value".to_owned() } else { out.to_owned() }
}

/// Makes a name unique by a number.
pub(super) fn unique(name: &str, taken: &mut HashSet<String>) -> String {
    let mut numbers = 2..;
    let mut own = name.to_owned();
    while !taken.insert(own.clone()) {
        own = format!("{name}_{}", numbers.next().unwrap_or(u32::MAX));
    }
    own
}

/// Puts a text on one line and capitalizes it.
pub(super) fn sentence(text: &str) -> String {
    let text = one_line(text);
    let mut characters = text.chars();
    let is_word = text.chars().nth(1).is_some_and(|second| second.is_ascii_lowercase() || second == ' ');

    match characters.next() {
        Some(first) if first.is_ascii_lowercase() && is_word => {
            first.to_ascii_uppercase().to_string() + characters.as_str()
        }
        _ => text,
    }
}

/// Puts a text on one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ").replace('\0', "")
}
