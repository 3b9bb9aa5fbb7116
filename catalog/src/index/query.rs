//! What a request says: its terms, and how much each counts.

use std::sync::LazyLock;

use super::tokens::{is_stop_word, stem, words};
use super::vocabulary::{SYNONYMS, WEAK_WORDS};

/// How much less each word counts than the one before it: requests start with what is wanted.
const DECAY: f64 = 0.08;
/// What stands in brackets is detail.
const BRACKETED: f64 = 0.3;
const WEAK: f64 = 0.3;
/// How much a synonym of a word counts.
pub(super) const SYNONYM: f64 = 0.15;

/// Bytes of a request that are read; a sentence has a few hundred.
const MAX_REQUEST_BYTES: usize = 4 << 10;
/// Terms of a request that are looked up.
const MAX_TERMS: usize = 64;

/// A request, ready to be looked up. Its size is bounded, whatever the text's.
pub(super) struct Request {
    /// Terms that it says, each once.
    pub(super) terms: Vec<Term>,
    /// What adjacent words of it make together, none of it a term.
    pub(super) compounds: Vec<Compound>,
    /// Its words as written, lowercased, for names of programs.
    pub(super) words: Vec<String>,
}

/// A stem that is said.
pub(super) struct Term {
    pub(super) stem: String,
    /// How much it counts, at most 1.
    pub(super) weight: f64,
    /// Stems that stand for it and are not said, each with the first term of the request that it stands for.
    pub(super) synonyms: Vec<String>,
}

/// A word that a tool may have where the request says two: `logout` for `log out`.
pub(super) struct Compound {
    pub(super) stem: String,
    /// The two.
    pub(super) words: [String; 2],
}

impl Request {
    pub(super) fn new(text: &str) -> Self {
        let text = &text[..text.floor_char_boundary(MAX_REQUEST_BYTES)];
        let mut said: Vec<Term> = Vec::new();
        let mut position = 0.0;
        let (main, bracketed) = split_brackets(text);
        for word in words(&main).filter(|word| !is_stop_word(word)) {
            let weak = if WEAK_WORDS.contains(&word.as_str()) { WEAK } else { 1.0 };
            add(&mut said, &word, weak / (1.0 + DECAY * position));
            position += 1.0;
        }
        for word in words(&bracketed).filter(|word| !is_stop_word(word)) {
            add(&mut said, &word, BRACKETED);
        }
        let compounds = compounds(&main, &said);
        add_synonyms(&mut said);
        let written = text.split(|c: char| !c.is_alphanumeric() && !"_-+.".contains(c));
        // A full stop or dash at the end belongs to the sentence.
        let names = written.map(|word| word.trim_matches(['.', '-', '_'])).filter(|word| !word.is_empty());
        let words = names.map(super::lowercase).collect();
        Self { terms: said, compounds, words }
    }
}

fn add(terms: &mut Vec<Term>, word: &str, weight: f64) {
    let stem = stem(word);
    if terms.len() < MAX_TERMS && terms.iter().all(|term| term.stem != stem) {
        terms.push(Term { stem: stem.into_owned(), weight, synonyms: Vec::new() });
    }
}

/// What adjacent words make together. A stop word can end such a word (`log in`), hardly start it.
fn compounds(text: &str, terms: &[Term]) -> Vec<Compound> {
    let mut found: Vec<Compound> = Vec::new();
    let mut all = words(text).take(MAX_TERMS);
    let mut before = all.next().unwrap_or_default();
    for word in all {
        let joined = format!("{before}{word}");
        let joined = stem(&joined);
        let is_new = terms.iter().all(|term| term.stem != joined) && found.iter().all(|one| one.stem != joined);
        if is_new && !is_stop_word(&before) {
            found.push(Compound { stem: joined.into_owned(), words: [before, word.clone()] });
        }
        before = word;
    }
    found
}

/// The stems of each group of synonyms.
static SYNONYM_STEMS: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| {
    let stems = |group: &&[&str]| group.iter().map(|word| stem(word).into_owned()).collect();
    SYNONYMS.iter().map(stems).collect()
});

fn add_synonyms(terms: &mut [Term]) {
    let mut used: Vec<String> = terms.iter().map(|term| term.stem.clone()).collect();
    for term in terms {
        let groups = SYNONYM_STEMS.iter().filter(|group| group.contains(&term.stem));
        for synonym in groups.flatten() {
            if !used.contains(synonym) {
                used.push(synonym.clone());
                term.synonyms.push(synonym.clone());
            }
        }
    }
}

/// The text without its bracketed parts, and those parts.
fn split_brackets(text: &str) -> (String, String) {
    let (mut main, mut bracketed) = (String::new(), String::new());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('(') {
        main.push_str(before);
        main.push(' ');
        let (inside, tail) = after.split_once(')').unwrap_or((after, ""));
        bracketed.push_str(inside);
        bracketed.push(' ');
        rest = tail;
    }
    main.push_str(rest);
    (main, bracketed)
}
