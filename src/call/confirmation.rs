//! Writes the question that asks the user to approve a call.
//!
//! Pure. Values may come from a model under prompt injection, and the user is the one to notice it. So values are
//! escaped: none can look like a line of the question.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use climax_catalog::template::{self, Piece};
use climax_catalog::{ResolvedTool, Risk};

use crate::call::arguments::Bound;
use crate::call::visible::is_visible;
use crate::exec::Invocation;

/// Maximum characters of a value in a question.
const MAX_VALUE_CHARS: usize = 4_000;

/// The results of a tool's `resolve` commands by name; `None` for a failed one.
pub type Lookups<'a> = BTreeMap<&'a str, Option<String>>;

/// Whether the template contains the placeholder `name`.
#[must_use]
pub fn mentions(template: &str, name: &str) -> bool {
    template::parse(template).iter().any(|(_, piece)| *piece == Piece::Placeholder(name))
}

/// Fills in a tool's `confirm_message`. Look-ups take precedence over args. An arg without a value reads `<none>`.
#[must_use]
pub fn from_template(template: &str, bound: &Bound<'_>, lookups: &Lookups<'_>) -> String {
    let value = |name: &str| match lookups.get(name) {
        Some(Some(found)) => escaped(found),
        Some(None) => format!("<unresolved:{name}>"),
        None => bound.get(name).map_or_else(|| "<none>".to_owned(), |value| escaped(&value.to_string())),
    };
    template::filled(template, value)
}

/// Writes the question: the tool's message, if it has one, then the command line, the directory and the standard input.
///
/// The command line is always part of it, because a message may leave out arguments that matter.
#[must_use]
pub fn question(tool: ResolvedTool<'_>, risk: Risk, message: Option<&str>, invocation: &Invocation) -> String {
    let words: Vec<String> = invocation.argv.iter().map(|word| quoted(word)).collect();
    let mut text = match message {
        Some(message) => format!("{message}\n\n{} ({}) runs", tool.name(), risk.as_str()),
        None => format!("Run {} ({})?\n", tool.name(), risk.as_str()),
    };
    let _ = write!(text, "\n{}", words.join(" "));
    if let Some(dir) = &invocation.cwd {
        let _ = write!(text, "\n\nin {}", quoted(&dir.display().to_string()));
    }

    let is_argument = |name: &str| tool.args().any(|arg| arg.variable() == Some(name));
    for (name, value) in invocation.env.iter().filter(|(name, _)| is_argument(name)) {
        let _ = write!(text, "\n\nwith {name}={}", quoted(value));
    }
    if let Some(stdin) = &invocation.stdin {
        let _ = write!(text, "\n\nwith {} bytes of input: {}", stdin.len(), quoted(stdin));
    }

    text
}

/// Formats the agent's request: the tool and its values.
#[must_use]
pub fn call(tool: ResolvedTool<'_>, given: &Bound<'_>) -> String {
    let values = given.iter().map(|(arg, value)| format!(" {}={}", arg.name(), quoted(&value.to_string())));
    std::iter::once(tool.name().to_owned()).chain(values).collect()
}

/// Escapes a word, and quotes it unless it is plain.
fn quoted(word: &str) -> String {
    let is_plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:@,+%".contains(c));
    if is_plain { escaped(word) } else { format!("'{}'", escaped(word).replace('\'', "'\\''")) }
}

/// Escapes invisible characters and those that change the direction of the text, and shortens a long value.
///
/// A shortened value has its head, its tail and the number of omitted characters: the tail may matter most.
fn escaped(value: &str) -> String {
    let visible = |c: char| if is_visible(c) { c.to_string() } else { c.escape_default().to_string() };
    let visible = |text: &str| text.chars().map(visible).collect::<String>();
    let count = value.chars().count();
    if count <= MAX_VALUE_CHARS {
        return visible(value);
    }

    let at = |index: usize| value.char_indices().nth(index).map_or(value.len(), |(at, _)| at);
    let (head, tail) = (&value[..at(MAX_VALUE_CHARS / 2)], &value[at(count - MAX_VALUE_CHARS / 2)..]);
    let omitted = count - MAX_VALUE_CHARS / 2 * 2;
    format!("{}[… {omitted} characters not shown …]{}", visible(head), visible(tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_escaped_in_the_question() {
        assert_eq!(escaped("a\nApprove?"), "a\\nApprove?");
        assert_eq!(escaped("\u{202e}txt.exe\u{1b}[2J"), "\\u{202e}txt.exe\\u{1b}[2J");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("\u{3164}\u{61c}"), "'\\u{3164}\\u{61c}'");
        let long = escaped(&format!("{}; evil", "x".repeat(10_000)));
        assert!(long.ends_with("; evil") && long.contains("[… 6006 characters not shown …]"), "{long}");
    }
}
