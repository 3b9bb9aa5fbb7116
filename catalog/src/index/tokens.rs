//! Text → tokens: the same for what is indexed and for what is asked.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use snowball_stemmers_rs::{Algorithm, Stemmer};

use super::script::is_unspaced;
use super::vocabulary::{EQUAL_WORDS, STOP_WORDS};

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
        .flat_map(scripts)
        .flat_map(camel_parts)
}

/// Splits a word where a script without spaces starts or ends.
pub(super) fn scripts(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let unspaced = is_unspaced(rest.chars().next()?);
        let (part, tail) = rest.split_at(rest.find(|c| is_unspaced(c) != unspaced).unwrap_or(rest.len()));
        rest = tail;
        Some(part)
    })
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
pub(super) const MAX_STEMMED_BYTES: usize = 64;

/// The stem of a lowercased word (Snowball's English stemmer), or that of the word for which it is another.
pub(super) fn stem(word: &str) -> Cow<'_, str> {
    if word.len() > MAX_STEMMED_BYTES {
        return word.into();
    }
    let stem = STEMMER.stem(word);
    match EQUIVALENTS.get(&*stem) {
        Some(full) => Cow::Borrowed(full),
        None => stem,
    }
}

/// The stems of words that are others for one word, each with the stem of that word.
static EQUIVALENTS: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let stem = |word: &str| STEMMER.stem(word).into_owned();
    let pairs = EQUAL_WORDS.iter().flat_map(|(word, others)| others.iter().map(|other| (stem(other), stem(word))));
    pairs.filter(|(other, word)| other != word).collect()
});

/// Whether a lowercased word is a plural, a participle or a gerund: a word that commands nothing.
pub(super) fn is_inflected(word: &str) -> bool {
    let is_plural = word.ends_with('s') && !word.ends_with("ss");
    (is_plural || word.ends_with("ed") || word.ends_with("ing")) && stem(word) != word
}

/// Whether a word says nothing about what is wanted.
pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// The stems of a text, stop words left out.
pub(crate) fn stems(text: &str) -> impl Iterator<Item = String> {
    words(text).filter(|word| !is_stop_word(word)).map(|word| stem(&word).into_owned())
}
