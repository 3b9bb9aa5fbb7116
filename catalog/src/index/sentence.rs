//! Sentences of a request: which of them ask for something, and where in them that starts.

use super::tokens::{is_stop_word, words};
use super::vocabulary::{
    ASKING, ASKING_WORDS, AUXILIARIES, FRAME_WORDS, QUESTION_STARTS, RELATIVE_WORDS, STATEMENT_STARTS,
};

/// Sentences of a text that are read, the likeliest.
const MAX_SENTENCES: usize = 32;
/// How likely a sentence is the request that neither asks nor states anything: most are commands.
const COMMAND: f64 = 0.7;
/// How likely a sentence is the request that states something.
const STATEMENT: f64 = 0.3;
/// How much less likely a sentence is the request that is neither the first nor the last of a long text.
const MIDDLE: f64 = 0.3;
/// Sentences of a text that is no long one.
const FEW: usize = 4;
/// Words of content before a colon that announces a request (`my task for you:`), at most.
const MAX_ANNOUNCING: usize = 2;

/// A sentence as written.
pub(super) struct Sentence<'a> {
    /// The words that lead up to a request (`could you please`).
    pub(super) lead: &'a str,
    /// The rest.
    pub(super) core: &'a str,
    /// How likely it is the request, at most 1.
    pub(super) weight: f64,
    /// Whether it asks how things are: `is it running`, `which are open`.
    pub(super) asks: bool,
}

/// Whether a word says something about what is wanted.
pub(super) fn is_content(word: &str) -> bool {
    !is_stop_word(word) && FRAME_WORDS.binary_search(&word).is_err()
}

/// The sentences of a text that say something: the likeliest first, and of equal ones those near either end.
pub(super) fn sentences(text: &str) -> Vec<Sentence<'_>> {
    let mut rest = text;
    let parts = std::iter::from_fn(|| {
        let (part, tail) = rest.split_at(end_of_sentence(rest));
        rest = tail;
        (!part.is_empty()).then_some(part)
    });
    let said = parts.filter(|part| words(part).any(|word| is_content(&word)));
    let mut found: Vec<_> = said.map(sentence).collect();
    let last = found.len().saturating_sub(1);

    if let [alone] = found.as_mut_slice() {
        alone.weight = 1.0;
    }

    if found.len() > FEW {
        let inner = found[1..last].iter_mut().filter(|sentence| sentence.weight < 1.0);
        inner.for_each(|sentence| sentence.weight *= MIDDLE);
    }

    let mut ranked: Vec<_> = found.into_iter().enumerate().collect();
    ranked.sort_by(|(a, one), (b, other)| {
        let from_end = |at: &usize| (*at).min(last - at);
        other.weight.total_cmp(&one.weight).then(from_end(a).cmp(&from_end(b)))
    });

    ranked.into_iter().take(MAX_SENTENCES).map(|(_, sentence)| sentence).collect()
}

/// Where the first sentence of a text ends, in bytes. Brackets hold no end, and no full stop before a small letter is one.
fn end_of_sentence(text: &str) -> usize {
    let mut brackets = 0_usize;
    for (at, c) in text.char_indices() {
        let after = &text[at + c.len_utf8()..];
        let is_apart = after.is_empty() || after.starts_with(char::is_whitespace);
        let ends = match c {
            '(' => {
                brackets += 1;
                false
            }
            ')' => {
                brackets = brackets.saturating_sub(1);
                false
            }
            '\n' => true,
            '!' | '?' | ';' => brackets == 0 && is_apart,
            '.' => brackets == 0 && is_apart && !after.trim_start().starts_with(char::is_lowercase),
            _ => false,
        };
        if ends {
            return at + c.len_utf8();
        }
    }

    text.len()
}

fn sentence(text: &str) -> Sentence<'_> {
    let start = core_start(text);
    let (lead, core) = text.split_at(start.unwrap_or_default());
    let weight = if start.is_some() || text.trim_end().ends_with('?') {
        1.0
    } else if is_statement(text) {
        STATEMENT
    } else {
        COMMAND
    };

    Sentence { lead, core, weight, asks: asks(lead, core) }
}

/// Whether a sentence asks how things are. One that asks for something to be done has a lead: `can you stop it`.
fn asks(lead: &str, core: &str) -> bool {
    let starts = |text: &str| words(text).next().is_some_and(|first| QUESTION_STARTS.contains(&first.as_str()));
    starts(core) || starts(lead) && lead.trim_end().ends_with("me") || lead.is_empty() && core.trim_end().ends_with('?')
}

/// Where the words start that follow the last way of asking, if there is one.
fn core_start(text: &str) -> Option<usize> {
    let words = words_with_ends(text);
    let last = words.iter().rposition(|(_, word)| is_content(word))?;
    let asks = |at: &usize| {
        let (end, word) = &words[*at];
        let before = at.checked_sub(1).map_or("", |before| &words[before].1);
        ASKING_WORDS.contains(&word.as_str())
            || ASKING.iter().any(|(first, second)| first.contains(&before) && second.contains(&word.as_str()))
            || text[*end..].starts_with(": ") && is_announcing(&words[..=*at])
    };

    (0..last).rev().find(asks).map(|at| words[at].0)
}

/// Whether words before a colon only say that a request follows.
fn is_announcing(words: &[(usize, String)]) -> bool {
    words.len() > 1 && words.iter().filter(|(_, word)| is_content(word)).count() <= MAX_ANNOUNCING
}

/// Whether a sentence starts as statements do, or has a finite verb where commands have none.
fn is_statement(text: &str) -> bool {
    let mut words = words(text);
    let starts = words.next().is_some_and(|first| STATEMENT_STARTS.contains(&first.as_str()));
    let mut clause = words.take_while(|word| !RELATIVE_WORDS.contains(&word.as_str()));
    starts || clause.any(|word| AUXILIARIES.contains(&word.as_str()))
}

/// The words of a text, lowercased, each with where it ends.
fn words_with_ends(text: &str) -> Vec<(usize, String)> {
    let mut end = 0;
    let pieces = text.split_inclusive(|c: char| !c.is_alphanumeric());
    let words = pieces.filter_map(|piece| {
        let word = piece.trim_end_matches(|c: char| !c.is_alphanumeric());
        let word_end = end + word.len();
        end += piece.len();
        (!word.is_empty()).then(|| (word_end, super::lowercase(word)))
    });

    words.collect()
}
