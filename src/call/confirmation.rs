//! The text of the question that is asked before a call.
//!
//! Pure. Values come from a model that somebody may have tricked, and the text is read by the one who is to notice, so
//! no value can pass for a line of the question.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use climax_catalog::ResolvedTool;
use climax_catalog::template::{self, Piece};

use crate::call::arguments::Bound;
use crate::exec::Invocation;

/// Characters of a value that a question shows.
const MAX_SHOWN_CHARS: usize = 4_000;

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
        None => bound.get(name).map_or_else(|| "<none>".to_owned(), |value| shown(&value.to_string())),
    };
    template::filled(template, value)
}

/// The whole question: the tool's own words, if it has any, then everything that would run. A template may leave out
/// arguments, and those that matter most to whoever approves may be among them.
#[must_use]
pub fn question(tool: ResolvedTool<'_>, own_words: Option<&str>, invocation: &Invocation) -> String {
    let words: Vec<String> = invocation.argv.iter().map(|word| quoted(word)).collect();
    let mut text = match own_words {
        Some(own) => format!("{own}\n\n{} ({}) runs", tool.name(), tool.risk().as_str()),
        None => format!("Run {} ({})?\n", tool.name(), tool.risk().as_str()),
    };
    let _ = write!(text, "\n{}", words.join(" "));
    if let Some(dir) = &invocation.cwd {
        let _ = write!(text, "\n\nin {}", quoted(&dir.display().to_string()));
    }
    if let Some(stdin) = &invocation.stdin {
        let _ = write!(text, "\n\nwith {} bytes of input: {}", stdin.len(), quoted(stdin));
    }
    text
}

/// A call as the agent made it: the tool, and what it gives.
#[must_use]
pub fn call(tool: ResolvedTool<'_>, own: &Bound<'_>) -> String {
    let given = own.iter().map(|(arg, value)| format!(" {}={}", arg.name(), quoted(&value.to_string())));
    std::iter::once(tool.name().to_owned()).chain(given).collect()
}

/// A word, in quotes unless it is plain.
fn quoted(word: &str) -> String {
    let is_plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:@,+%".contains(c));
    if is_plain { shown(word) } else { format!("'{}'", shown(word).replace('\'', "'\\''")) }
}

/// A value with what cannot be seen, or turns the direction of the text, written out. Of a long one both ends are shown,
/// and how much is not: its end may be what matters.
fn shown(value: &str) -> String {
    let visible = |c: char| if is_seen(c) { c.to_string() } else { c.escape_default().to_string() };
    let visible = |text: &str| text.chars().map(visible).collect::<String>();
    let count = value.chars().count();
    if count <= MAX_SHOWN_CHARS {
        return visible(value);
    }
    let at = |index: usize| value.char_indices().nth(index).map_or(value.len(), |(at, _)| at);
    let (head, tail) = (&value[..at(MAX_SHOWN_CHARS / 2)], &value[at(count - MAX_SHOWN_CHARS / 2)..]);
    let hidden = count - MAX_SHOWN_CHARS / 2 * 2;
    format!("{}[… {hidden} characters not shown …]{}", visible(head), visible(tail))
}

/// Whether a character shows as itself.
///
/// Source: Unicode 16, `DerivedCoreProperties.txt`, `Default_Ignorable_Code_Point`; with controls, format characters, line
/// separators and the blank Braille pattern.
fn is_seen(c: char) -> bool {
    let hides = matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}');
    !c.is_control() && !hides
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
        assert_eq!(quoted("\u{3164}\u{61c}"), "'\\u{3164}\\u{61c}'");
        let long = shown(&format!("{}; evil", "x".repeat(10_000)));
        assert!(long.ends_with("; evil") && long.contains("[… 6006 characters not shown …]"), "{long}");
    }
}
