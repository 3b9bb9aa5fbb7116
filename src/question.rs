//! The text of the question that is asked before a call.
//!
//! Pure. Values come from a model that somebody may have tricked, and the text is read by the one who is to notice, so
//! no value can pass for a line of the question.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use climax_catalog::ResolvedTool;
use climax_catalog::template::{self, Piece};

use crate::arguments::{Bound, echo};
use crate::argv::Invocation;

/// The names that look-ups found; `None` where one failed.
pub type Lookups<'a> = BTreeMap<&'a str, Option<String>>;

/// Whether the placeholder `name` is in the template.
#[must_use]
pub fn mentions(template: &str, name: &str) -> bool {
    template::parse(template).iter().any(|(_, piece)| *piece == Piece::Placeholder(name))
}

/// Fills a tool's `confirm_message`: look-ups before args, `<none>` for an arg without a value.
#[must_use]
pub fn from_template(template: &str, bound: &Bound<'_>, lookups: &Lookups<'_>) -> String {
    let value = |name: &str| match lookups.get(name) {
        Some(Some(found)) => shown(found),
        Some(None) => format!("<unresolved:{name}>"),
        None => {
            let bound = bound.iter().find(|(arg, _)| arg.name() == name);
            bound.map_or_else(|| "<none>".to_owned(), |(_, value)| shown(&value.to_string()))
        }
    };
    template::parse(template)
        .into_iter()
        .map(|(range, piece)| match piece {
            Piece::Literal(text) => text.to_owned(),
            Piece::Placeholder(name) => value(name),
            Piece::Malformed(_) => template[range].to_owned(),
        })
        .collect()
}

/// Asks about a tool that has no `confirm_message`: shows what would run.
#[must_use]
pub fn about_command(tool: ResolvedTool<'_>, invocation: &Invocation) -> String {
    let words: Vec<String> = invocation.argv.iter().map(|word| quoted(word)).collect();
    let mut text = format!("Run {} ({})?\n\n{}", tool.name(), tool.risk().as_str(), words.join(" "));
    if let Some(dir) = &invocation.cwd {
        let _ = write!(text, "\n\nin {}", quoted(&dir.display().to_string()));
    }
    if let Some(stdin) = &invocation.stdin {
        let _ = write!(text, "\n\nwith {} bytes of input: {}", stdin.len(), quoted(stdin));
    }
    text
}

/// A word, in quotes unless it is plain.
fn quoted(word: &str) -> String {
    let is_plain = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_./=:@,+%".contains(c));
    if is_plain { shown(word) } else { format!("'{}'", shown(word).replace('\'', "'\\''")) }
}

/// A value with what cannot be seen, or turns the direction of the text, written out; cut if it is long.
fn shown(value: &str) -> String {
    let is_seen = |c: char| {
        !c.is_control()
            && !matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let visible = |c: char| if is_seen(c) { c.to_string() } else { c.escape_default().to_string() };
    echo(&value.chars().map(visible).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_cannot_pass_for_the_question() {
        assert_eq!(shown("a\nApprove?"), "a\\nApprove?");
        assert_eq!(shown("\u{202e}txt.exe\u{1b}[2J"), "\\u{202e}txt.exe\\u{1b}[2J");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
        assert!(shown(&"x".repeat(10_000)).len() < 1_000);
    }
}
