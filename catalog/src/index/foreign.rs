//! Requests in other languages than English, read as English by lists of words.
//!
//! A list has the words of one language that requests are made of. A line is `english: word word …`; the words of the line `-` say
//! nothing about what is wanted.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use snowball_stemmers_rs::{Algorithm, Stemmer};

use super::lowercase;
use super::script::{is_kana, is_unspaced};
use super::tokens::{MAX_STEMMED_BYTES, stem};

/// The words of a language with spaces between them.
struct Language {
    stemmer: Stemmer,
    /// Whether words are made of others without a space.
    has_compounds: bool,
    /// By their stems.
    english: HashMap<String, &'static str>,
    empty: HashSet<String>,
}

static LANGUAGES: LazyLock<[Language; 3]> = LazyLock::new(|| {
    [
        Language::new(Algorithm::German, true, include_str!("foreign/german.txt")),
        Language::new(Algorithm::Spanish, false, include_str!("foreign/spanish.txt")),
        Language::new(Algorithm::French, false, include_str!("foreign/french.txt")),
    ]
});

/// The words of Chinese and Japanese, which are written without spaces. `None` for those that say nothing.
static UNSPACED: LazyLock<HashMap<&'static str, Option<&'static str>>> = LazyLock::new(|| {
    let texts = [include_str!("foreign/chinese.txt"), include_str!("foreign/japanese.txt")];
    texts
        .into_iter()
        .flat_map(entries)
        .map(|(english, word)| (word, Some(english).filter(|_| english != EMPTY)))
        .collect()
});

/// What stands for English in the line of the words that say nothing.
const EMPTY: &str = "-";
/// Characters of the longest word of [`UNSPACED`].
const UNSPACED_CHARS: usize = 6;
/// Bytes of the shortest part of a compound.
const PART_BYTES: usize = 4;
/// Letters that German puts between the parts of compounds.
const JOINTS: [&str; 4] = ["", "s", "n", "es"];

/// Reads a request as English, if it is in another language that a list has. `is_empty` says whether a lowercased word says
/// nothing in English, `is_known` whether it is a word of the tools. Names and words that the list does not have stay as they are.
pub(super) fn english(text: &str, is_empty: impl Fn(&str) -> bool, is_known: impl Fn(&str) -> bool) -> Option<String> {
    if text.chars().any(is_unspaced) {
        return Some(without_spaces(text));
    }

    let words = pieces(text).filter(|(_, is_word)| *is_word).map(|(word, _)| lowercase(word));
    let words: Vec<RequestWord> = words
        .map(|text| RequestWord { is_empty: is_empty(&text), is_known: is_empty(&text) || is_known(&text), text })
        .collect();
    if words.iter().all(|word| word.is_known) {
        return None;
    }

    let of = |language: &Language| words.iter().filter(|word| language.has(word)).count();
    let counted = LANGUAGES.iter().map(|language| (of(language), language));
    let (count, language) = counted.rev().max_by_key(|(count, _)| *count)?;
    let known = words.iter().filter(|word| word.is_known && !language.joins(word)).count();
    (count > 0 && 2 * count > known).then(|| language.translated(text))
}

/// A word of a request.
struct RequestWord {
    /// Lowercased.
    text: String,
    /// Whether it says nothing in English.
    is_empty: bool,
    /// Whether it is English, or a word of the tools.
    is_known: bool,
}

impl Language {
    fn new(algorithm: Algorithm, has_compounds: bool, list: &'static str) -> Self {
        let stemmer = Stemmer::create(algorithm);
        let mut language = Self { stemmer, has_compounds, english: HashMap::new(), empty: HashSet::new() };
        for (english, word) in entries(list) {
            if english == EMPTY {
                language.empty.insert(word.to_owned());
            } else {
                let stem = language.stem(word);
                language.english.entry(stem).or_insert(english);
            }
        }
        language
    }

    /// Whether a word of a request is of the language. One that reads the same in English says nothing about that.
    fn has(&self, word: &RequestWord) -> bool {
        let is_other = |english: String| english.split(' ').all(|one| stem(one) != stem(&word.text));
        self.joins(word) || !word.is_known && self.read(&word.text).is_some_and(is_other)
    }

    /// Whether a word says nothing in the language alone. Then it is of it, though a tool may have such a word too: `el` is a
    /// capability of terminals.
    fn joins(&self, word: &RequestWord) -> bool {
        self.empty.contains(&word.text) && !word.is_empty
    }

    /// The stem of a lowercased word, without accents.
    fn stem(&self, word: &str) -> String {
        let stem = if word.len() > MAX_STEMMED_BYTES { word.into() } else { self.stemmer.stem(word) };
        stem.chars().map(without_accent).collect()
    }

    /// What a lowercased word is in English, if the list has it: nothing for a word that says nothing.
    fn read(&self, word: &str) -> Option<String> {
        if self.empty.contains(word) {
            return Some(String::new());
        }
        let whole = self.english.get(&self.stem(word)).map(|english| (*english).to_owned());
        whole.or_else(|| self.has_compounds.then(|| self.parts(word)).flatten())
    }

    /// What a compound is in English: its last part, which the list must have, after the rest.
    fn parts(&self, word: &str) -> Option<String> {
        let ends = (PART_BYTES..word.len().checked_sub(PART_BYTES)?).filter(|at| word.is_char_boundary(*at));
        ends.take(MAX_STEMMED_BYTES).find_map(|at| {
            let (start, end) = word.split_at(at);
            let last = self.english.get(&self.stem(end))?;
            let bare = JOINTS.iter().filter_map(|joint| start.strip_suffix(joint));
            let first = bare.into_iter().find_map(|start| self.english.get(&self.stem(start)).copied());
            Some(format!("{} {last}", first.unwrap_or(start)))
        })
    }

    fn translated(&self, text: &str) -> String {
        let translate = |(piece, is_word): (&str, bool)| {
            is_word.then(|| self.read(&lowercase(piece))).flatten().unwrap_or_else(|| piece.to_owned())
        };
        pieces(text).map(translate).collect()
    }
}

/// Each word of a list after its English.
fn entries(list: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = list.lines().filter_map(|line| line.split_once(": "));
    lines.flat_map(|(english, words)| words.split(' ').filter(|word| !word.is_empty()).map(move |word| (english, word)))
}

/// The words of a text and what is between them, each with whether it is a word.
fn pieces(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let is_word = rest.chars().next()?.is_alphanumeric();
        let end = rest.find(|c: char| c.is_alphanumeric() != is_word).unwrap_or(rest.len());
        let (piece, tail) = rest.split_at(end);
        rest = tail;
        Some((piece, is_word))
    })
}

/// Reads Chinese and Japanese: the longest known word at each place. Other words in the text are kept.
fn without_spaces(text: &str) -> String {
    let mut english = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if !is_unspaced(c) {
            english.push(if matches!(c, '。' | '！' | '？') { '\n' } else { c });
            rest = &rest[c.len_utf8()..];
            continue;
        }

        let ends = rest.char_indices().take(UNSPACED_CHARS).map(|(at, c)| at + c.len_utf8());
        let ends: Vec<usize> = ends.collect();
        let found = ends.iter().rev().find_map(|end| Some((*end, *UNSPACED.get(&rest[..*end])?)));
        english.push(' ');
        english.push_str(found.and_then(|(_, english)| english).unwrap_or_default());
        // Kana between the words are endings and particles.
        if found.is_none() && !is_kana(c) {
            english.push(c);
        }
        english.push(' ');
        rest = &rest[found.map_or(c.len_utf8(), |(end, _)| end)..];
    }
    english
}

fn without_accent(c: char) -> char {
    match c {
        'à'..='å' => 'a',
        'ç' => 'c',
        'è'..='ë' => 'e',
        'ì'..='ï' => 'i',
        'ñ' => 'n',
        'ò'..='ö' => 'o',
        'ù'..='ü' => 'u',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::english;

    #[test]
    fn requests_are_read_as_english() {
        let is_empty = |word: &str| word == "in";
        let is_known = |word: &str| {
            ["git", "docker", "commits", "npm", "list", "images", "pod", "container", "el"].contains(&word)
        };
        for (text, read) in [
            ("zeige die letzten Commits", "show  last Commits"),
            ("Container anhalten", "container stop"),
            ("npm-Pakete", "npm-package"),
            ("Umgebungsvariablen löschen", "environment variable delete"),
            ("borrar imágenes", "delete image"),
            ("borrar el pod", "delete pod"),
            ("supprime l'image", "delete 'image"),
            ("用docker列出容器", "docker list container"),
            ("gitのコミットを表示", "git commit show"),
        ] {
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(english(text, is_empty, is_known).map(|text| words(&text)), Some(words(read)), "{text}");
        }
        for text in ["list docker images", "list qqqq images", "qqqq", ""] {
            assert_eq!(english(text, is_empty, is_known), None, "{text}");
        }
    }
}
