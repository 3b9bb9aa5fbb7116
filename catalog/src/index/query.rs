//! Requests: their sentences, the terms of each, and the weights of terms.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::foreign;
use super::sentence::{self, is_content};
use super::tokens::{is_inflected, scripts, stem, words};
use super::vocabulary::{MEANS, NUMBER_WORDS, SYNONYMS, WEAK_WORDS};

/// How much less each word counts than the one before it: requests start with what is wanted.
const DECAY: f64 = 0.125;
/// What stands in brackets is detail.
const BRACKETED: f64 = 0.35;
/// What leads up to a request is hardly part of it.
const LEADING: f64 = 0.3;
/// What says little, such as a number.
pub(super) const WEAK: f64 = 0.25;

/// Bytes of a request that are read at its start, and as many at its end; a paragraph has a thousand.
const MAX_HALF_BYTES: usize = 2 << 10;
/// Terms of a request that are looked up.
const MAX_TERMS: usize = 96;

/// A request, ready to be looked up. Its size is bounded, whatever the text's.
pub(super) struct Request {
    /// The sentences that say something.
    pub(super) sentences: Vec<QuerySentence>,
    /// Whether it is in another language than English: names of programs are most of what is known of it.
    pub(super) is_foreign: bool,
}

/// What a sentence of a request says.
pub(super) struct QuerySentence {
    /// How likely it is what is wanted, at most 1.
    pub(super) weight: f64,
    /// Terms that it says, each once.
    pub(super) terms: Vec<Term>,
    /// What adjacent words of it make together, none of it a term.
    pub(super) compounds: Vec<Compound>,
    /// Its words of content as written, for names of programs, and those of [`MEANS`].
    pub(super) words: Vec<String>,
    /// Whether it asks how things are, which commands nothing.
    pub(super) asks: bool,
}

/// A stem that is said.
pub(super) struct Term {
    pub(super) stem: String,
    /// The word as it is first said, lowercased.
    pub(super) said: String,
    /// How much it counts, at most 1.
    pub(super) weight: f64,
    /// Whether it is said in a form that commands nothing.
    pub(super) is_inflected: bool,
    /// Stems that stand for it and are not said, each with the first term of the sentence that it stands for.
    pub(super) synonyms: Vec<String>,
}

/// A word that a tool may have where the request says two: `logout` for `log out`.
pub(super) struct Compound {
    pub(super) stem: String,
    /// The two.
    pub(super) words: [String; 2],
}

impl Request {
    /// Reads a text. `is_known` says whether tools have a lowercased word.
    pub(super) fn new(text: &str, is_known: impl Fn(&str) -> bool) -> Self {
        let text = shortened(text);
        let english = foreign::english(&text, |word| !is_content(word), is_known);
        let is_foreign = english.is_some();
        let text = english.map_or(text, Cow::Owned);
        let mut left = MAX_TERMS;
        let sentences = sentence::sentences(&text).into_iter().map(|sentence| {
            let sentence = QuerySentence::new(&sentence, left);
            left -= sentence.terms.len();
            sentence
        });
        let sentences = sentences.filter(|sentence| !sentence.terms.is_empty()).collect();
        Self { sentences, is_foreign }
    }
}

/// The start and the end of a text: requests stand at either end of long ones.
fn shortened(text: &str) -> Cow<'_, str> {
    if text.len() <= 2 * MAX_HALF_BYTES {
        return text.into();
    }
    let start = &text[..text.floor_char_boundary(MAX_HALF_BYTES)];
    let end = &text[text.ceil_char_boundary(text.len() - MAX_HALF_BYTES)..];
    format!("{start}\n{end}").into()
}

impl QuerySentence {
    /// Reads a sentence, up to a number of terms.
    fn new(sentence: &sentence::Sentence<'_>, max: usize) -> Self {
        let (main, bracketed) = split_brackets(sentence.core);
        let content = |text| words(text).filter(|word| is_content(word));
        let mut terms = Terms { said: Vec::new(), max };
        let mut decay = 1.0;

        for word in content(&main) {
            let is_weak = WEAK_WORDS.contains(&word.as_str()) || is_number(&word);
            let weight = if is_weak { WEAK } else { 1.0 };
            terms.add(&word, weight / decay);
            decay += DECAY;
        }

        content(&bracketed).for_each(|word| terms.add(&word, BRACKETED));
        content(sentence.lead).for_each(|word| terms.add(&word, LEADING));
        let compounds = compounds(&main, &terms.said);
        add_synonyms(&mut terms.said);
        let written = sentence.core.split(|c: char| !c.is_alphanumeric() && !"_-+.".contains(c)).flat_map(scripts);

        // A full stop or dash at the end belongs to the sentence.
        let names = written.map(|word| word.trim_matches(['.', '-', '_'])).filter(|word| !word.is_empty());
        let is_said = |word: &&str| {
            let word = super::lowercase(word);
            is_content(&word) || MEANS.contains(&&*word)
        };
        let words = names.filter(is_said).map(str::to_owned).collect();
        Self { weight: sentence.weight, terms: terms.said, compounds, words, asks: sentence.asks }
    }
}

/// Whether a word is a number. Most are values: `show issue 42`, `the last five commits`.
fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit()) || NUMBER_WORDS.contains(&word)
}

/// The terms of a sentence, each with the weight of where it is first said.
struct Terms {
    said: Vec<Term>,
    max: usize,
}

impl Terms {
    fn add(&mut self, word: &str, weight: f64) {
        let stem = stem(word);
        if self.said.len() < self.max && self.said.iter().all(|term| term.stem != stem) {
            let is_inflected = is_inflected(word);
            let [stem, said] = [&*stem, word].map(str::to_owned);
            self.said.push(Term { stem, said, weight, is_inflected, synonyms: Vec::new() });
        }
    }
}

/// What adjacent words make together. A word without content can end such a word (`log in`), hardly start it (`am I`).
fn compounds(text: &str, terms: &[Term]) -> Vec<Compound> {
    let mut found: Vec<Compound> = Vec::new();
    let mut all = words(text).take(MAX_TERMS);
    let mut before = all.next().unwrap_or_default();
    for word in all {
        let joined = format!("{before}{word}");
        let joined = stem(&joined);
        let is_new = terms.iter().all(|term| term.stem != joined) && found.iter().all(|one| one.stem != joined);
        if is_new && is_content(&before) {
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
