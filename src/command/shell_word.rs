//! Quotes words for a shell.

use crate::call::visible::is_visible;

/// Quotes a word so that bash reads it as this one word, and so that every character of it can be seen.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@,+%=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else if word.chars().all(is_visible) {
        format!("'{}'", word.replace('\'', "'\\''"))
    } else {
        format!("$'{}'", word.chars().map(escaped).collect::<String>())
    }
}

/// Writes a character for bash's `$'…'`.
fn escaped(c: char) -> String {
    match c {
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        '\'' | '\\' => format!("\\{c}"),
        c if is_visible(c) => c.to_string(),
        c => format!("\\U{:08x}", u32::from(c)),
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_quoted_as_bash_reads_them() {
        for (word, expected) in [
            ("--max-count=3", "--max-count=3"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("$HOME", "'$HOME'"),
            ("a\nit's\\", "$'a\\nit\\'s\\\\'"),
            ("\u{202e}x", "$'\\U0000202ex'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
