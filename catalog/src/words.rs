//! Splits command lines of configs into words. Quotes group, and nothing else has a meaning: no shell is involved.

use std::ops::Range;

/// A quote or backslash that cannot be read in one way only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnclearQuote {
    /// The word, in bytes of the text.
    pub(crate) range: Range<usize>,
    /// The words that may be meant, quoted.
    pub(crate) rewritings: [String; 2],
}

/// Splits a command line at white space. A word in single or double quotes may contain white space, and `\ ` is a space.
///
/// In double quotes `\"` and `\\` stand for a quote and a backslash. Quotes must enclose the whole word.
///
/// # Errors
/// Every word in which a quote or backslash has no clear meaning.
pub(crate) fn split(text: &str) -> Result<Vec<String>, Vec<UnclearQuote>> {
    let mut words = Vec::new();
    let mut unclear = Vec::new();
    let mut at = 0;
    while let Some(skipped) = text[at..].find(|c: char| !c.is_whitespace()) {
        let start = at + skipped;
        let (word, length) = match text[start..].chars().next() {
            Some(quote @ ('\'' | '"')) => quoted(&text[start..], quote),
            _ => plain(&text[start..]),
        };
        at = start + length;
        match word {
            Some(word) => words.push(word),
            None => unclear.push(UnclearQuote { range: start..at, rewritings: rewritings(&text[start..at]) }),
        }
    }

    if unclear.is_empty() { Ok(words) } else { Err(unclear) }
}

/// Reads a word that starts with a quote, and its length in bytes.
fn quoted(text: &str, quote: char) -> (Option<String>, usize) {
    let mut word = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        let rest = &text[at + c.len_utf8()..];
        match c {
            _ if c == quote => {
                let is_whole = rest.chars().next().is_none_or(char::is_whitespace);
                return if is_whole { (Some(word), at + 1) } else { (None, end_of_word(text)) };
            }
            '\\' if quote == '"' && rest.starts_with(['"', '\\']) => word.extend(chars.next().map(|(_, c)| c)),
            _ => word.push(c),
        }
    }

    (None, end_of_word(text))
}

/// Reads a word that starts with no quote, and its length in bytes.
fn plain(text: &str) -> (Option<String>, usize) {
    let mut word = String::new();
    let mut chars = text.char_indices();
    let mut is_clear = true;
    while let Some((at, c)) = chars.next() {
        match c {
            _ if c.is_whitespace() => return (is_clear.then_some(word), at),
            '\\' => match chars.next() {
                Some((_, next @ (' ' | '\\' | '\'' | '"'))) => word.push(next),
                _ => is_clear = false,
            },
            '\'' | '"' => is_clear = false,
            _ => word.push(c),
        }
    }

    (is_clear.then_some(word), text.len())
}

fn end_of_word(text: &str) -> usize {
    text.find(char::is_whitespace).unwrap_or(text.len())
}

/// The word with its quotes and backslashes as they stand, and the word without them.
fn rewritings(word: &str) -> [String; 2] {
    let bare: String = word.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
    [quote(word), quote(&bare)]
}

/// Splits words that were checked when the catalog was compiled; unclear ones give none.
#[must_use]
pub fn quoted_words(text: &str) -> Vec<String> {
    split(text).unwrap_or_default()
}

/// Writes a word as a command line of a config holds it, in quotes where it needs them.
#[must_use]
pub fn quote(word: &str) -> String {
    let is_plain = !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '\\'));
    match word {
        _ if is_plain => word.to_owned(),
        _ if !word.contains('\'') => format!("'{word}'"),
        _ => format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quotes_enclose_whole_words() {
        for (text, words) in [
            ("", vec![]),
            (" a  b\t", vec!["a", "b"]),
            ("'a b' \"c 'd\" ''", vec!["a b", "c 'd", ""]),
            (r#"a\ b "c\"d\\" 'e\f' \'g"#, vec!["a b", "c\"d\\", "e\\f", "'g"]),
        ] {
            assert_eq!(split(text).unwrap(), words, "{text}");
        }
    }

    #[test]
    fn other_quotes_are_errors_with_both_rewritings() {
        for (text, as_written, without) in [
            ("it's", "\"it's\"", "its"),
            ("--format='%h'", "\"--format='%h'\"", "--format=%h"),
            ("'open", "\"'open\"", "open"),
            ("'a'b", "\"'a'b\"", "ab"),
            (r"\d+", r"'\d+'", "d+"),
        ] {
            let unclear = split(text).unwrap_err();
            assert_eq!(unclear[0].rewritings, [as_written.to_owned(), without.to_owned()], "{text}");
        }
        assert_eq!(split("a it's 'b").unwrap_err().len(), 2);
    }

    proptest! {
        #[test]
        fn split_reads_every_quoted_word(words in proptest::collection::vec("[ -~é]*", 0..4)) {
            let line: Vec<String> = words.iter().map(|word| quote(word)).collect();
            prop_assert_eq!(split(&line.join(" ")).unwrap(), words);
        }
    }
}
