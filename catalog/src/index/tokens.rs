//! Text → tokens: the same for what is indexed and for what is asked.

use std::borrow::Cow;
use std::sync::LazyLock;

use snowball_stemmers_rs::{Algorithm, Stemmer};

use super::vocabulary::STOP_WORDS;

static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));

/// Splits a text into lowercased words.
pub(crate) fn words(text: &str) -> impl Iterator<Item = String> {
    parts(text).map(super::lowercase)
}

/// Splits a text into words as written: at everything that is no letter or digit, and in camelCase.
pub(super) fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'')
        // An apostrophe starts an ending: `user's`.
        .filter_map(|word| word.split('\'').find(|part| !part.is_empty()))
        .flat_map(camel_parts)
}

/// Splits `camelCase` and `HTTPServer` into their parts.
fn camel_parts(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (part, tail) = rest.split_at(camel_end(rest));
        rest = tail;
        Some(part)
    })
}

fn camel_end(word: &str) -> usize {
    // The plural of an abbreviation is one word: `URLs`.
    if word.strip_suffix('s').is_some_and(|singular| singular.len() > 1 && singular.chars().all(char::is_uppercase)) {
        return word.len();
    }

    let mut before: Option<char> = None;
    let mut chars = word.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next_is_lower = chars.peek().is_some_and(|(_, next)| next.is_lowercase());
        let starts_part = match before {
            Some(before) if c.is_uppercase() => !before.is_uppercase() || next_is_lower,
            _ => false,
        };
        if starts_part {
            return at;
        }
        before = Some(c);
    }

    word.len()
}

/// Longer words are no English, and the stemmer takes quadratic time for them.
const MAX_STEMMED_BYTES: usize = 64;

/// The stem of a lowercased word (Snowball's English stemmer).
pub(super) fn stem(word: &str) -> Cow<'_, str> {
    if word.len() > MAX_STEMMED_BYTES { word.into() } else { STEMMER.stem(word) }
}

/// Whether a word says nothing about what is wanted.
pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// The stems of a text, stop words left out.
pub(crate) fn stems(text: &str) -> impl Iterator<Item = String> {
    words(text).filter(|word| !is_stop_word(word)).map(|word| stem(&word).into_owned())
}
