//! YAML scalars that every reader takes for the text that was meant.

use std::fmt::Write as _;

/// Words that some version of YAML takes for something else than a text.
const TAKEN: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];

/// A text as a scalar: plain where nothing can be misread, else in double quotes.
pub(super) fn text(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quoted(text) }
}

/// A list of texts in brackets.
pub(super) fn list(texts: &[String]) -> String {
    let items: Vec<String> = texts.iter().map(|item| text(item)).collect();
    format!("[{}]", items.join(", "))
}

/// Returns whether a text needs no quotes, also inside of brackets: letters first, or dashes and letters, then no
/// character with a meaning in YAML.
fn is_plain(text: &str) -> bool {
    let body = text.trim_start_matches('-');
    let dashes = text.len() - body.len();
    let is_inner = |c: char| c.is_ascii_alphanumeric() || " _./+-=()'".contains(c);
    dashes <= 2
        && body.starts_with(|c: char| c.is_ascii_alphabetic())
        && body.chars().all(is_inner)
        && !text.ends_with(' ')
        && !TAKEN.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// JSON's escapes are YAML's too; what JSON leaves unescaped and YAML does not print is escaped here.
///
/// Source: YAML 1.2.2 §5.1 (printable characters), §5.7 (escapes).
fn quoted(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        let is_printed = !character.is_control()
            && !matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}');
        if is_printed {
            out.push(character);
        } else {
            let _ = write!(out, "\\u{:04x}", u32::from(character));
        }
    }

    out
}
