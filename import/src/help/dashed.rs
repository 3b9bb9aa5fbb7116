//! Subcommands that start with a dash: `prog -list`.

use crate::command::{Flag, Subcommand};
use crate::page::{ListEntry, Section};
use crate::prose;

/// Takes the subcommands that start with a dash out of the options of a page.
///
/// The page must say how to read the help of one: `prog -command --help`. Else they are switches with a title.
pub(super) fn take(options: &mut Vec<Flag>, entries: &[ListEntry], text: &str) -> Vec<Subcommand> {
    if !names_help(text) {
        return Vec::new();
    }
    let listed = entries.iter().filter(|entry| entry.section == Section::Commands && is_dashed(&entry.term));
    let found: Vec<Subcommand> = listed
        .map(|entry| Subcommand {
            name: entry.term.clone(),
            about: prose::shorten(&entry.text),
            ..Subcommand::default()
        })
        .collect();
    options.retain(|flag| !found.iter().any(|command| flag.spellings.contains(&command.name)));
    found
}

/// Whether a page shows how to read the help of a command that starts with a dash.
fn names_help(text: &str) -> bool {
    let words = text.split_whitespace().map(|word| word.trim_matches(|c: char| "\"'`.,()".contains(c)));
    let words: Vec<&str> = words.collect();
    let is_command = |word: &str| {
        let name = word.strip_prefix('-').map(|name| name.trim_matches(['<', '>', '[', ']']));
        name.is_some_and(|name| name.to_ascii_lowercase().starts_with("command"))
    };
    words.windows(2).any(|pair| is_command(pair[0]) && matches!(pair[1], "--help" | "-help" | "-h"))
}

/// Whether a term is one dash with a word, and nothing else.
fn is_dashed(term: &str) -> bool {
    term.strip_prefix('-').is_some_and(|name| {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        name.len() > 1 && name.starts_with(|c: char| c.is_ascii_lowercase()) && name.bytes().all(is_part)
    })
}
