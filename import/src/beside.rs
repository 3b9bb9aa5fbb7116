//! Headings that share a line with their first entry: `Options: -a  first`.

use crate::page_line::{Section, indent_of, is_listed_option, lists_commands, section};

/// The longest heading that shares its line.
const MAX_TITLE_BYTES: usize = 40;

/// Puts the first entry of a section on a line of its own, below the heading before it and in the column where it stood.
pub(super) fn parted(lines: &[String]) -> Vec<String> {
    let mut parted = Vec::with_capacity(lines.len());
    for (at, line) in lines.iter().enumerate() {
        let next = lines[at + 1..].iter().find(|line| !line.trim().is_empty()).map_or("", String::as_str);
        if let Some((title, entry)) = shared(line, next) {
            let column = line.len() - entry.len();
            parted.push(title.to_owned());
            parted.push(format!("{:column$}{entry}", ""));
        } else {
            parted.push(line.clone());
        }
    }
    parted
}

/// The heading and the entry of a line that has both. A command counts if the next line lists another one below it.
fn shared<'a>(line: &'a str, next: &str) -> Option<(&'a str, &'a str)> {
    let colon = line.find(": ")?;
    let (title, entry) = (&line[..=colon], line[colon + 1..].trim_start());
    let is_title = title.len() <= MAX_TITLE_BYTES && title.trim_start().starts_with(|c: char| c.is_ascii_uppercase());
    if !is_title {
        return None;
    }
    let is_entry = match section(title) {
        Section::Options | Section::Valued => is_listed_option(entry),
        Section::Commands => {
            lists_commands(entry) && lists_commands(next) && indent_of(next) == line.len() - entry.len()
        }
        _ => false,
    };
    is_entry.then_some((title, entry))
}
