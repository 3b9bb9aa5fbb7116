//! What the groups of a usage line stand for, such as `[--]`, `[DIR ...]` and `-f | --force`.

use super::grammar::UsageItem;
use super::placeholder::is_rest;
use super::refine;

/// Words of sentences, which are no names of operands.
const VERBS: [&str; 6] = ["can", "may", "is", "are", "must", "be"];

/// Returns whether items start with an option, also in brackets.
pub(super) fn starts_with_flag(items: &[UsageItem]) -> bool {
    match items.first() {
        Some(UsageItem::Flag(_)) => true,
        Some(UsageItem::Group { alternatives, .. }) => {
            alternatives.first().is_some_and(|items| starts_with_flag(items))
        }
        _ => false,
    }
}

pub(super) fn only_flags(alternatives: &[Vec<UsageItem>]) -> bool {
    alternatives.iter().all(|items| matches!(items.as_slice(), [UsageItem::Flag(_)]))
}

/// Whether a group is `[--]`.
pub(super) fn is_dashes(alternatives: &[Vec<UsageItem>]) -> bool {
    matches!(alternatives, [items] if matches!(items.as_slice(), [UsageItem::Word(word)] if word == "--"))
}

/// A long option with two values alone: `--swap OLD NEW`.
pub(super) fn option_with_words(items: &[UsageItem]) -> Option<String> {
    let [UsageItem::Flag(option), UsageItem::Word(first), UsageItem::Word(second)] = items else { return None };
    let is_value = |word: &str| {
        !refine::is_program(word)
            && !is_rest(word)
            && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    };
    let is_option = option.starts_with("--") && !option.contains(['=', '[']);
    (is_option && is_value(first) && is_value(second)).then(|| format!("{option} {first} {second}"))
}

/// Whether a group repeats the word before it: `DIR [DIR ...]`.
pub(super) fn is_more_of(word: &UsageItem, alternatives: &[Vec<UsageItem>]) -> bool {
    matches!(alternatives, [items] if matches!(items.as_slice(), [more, UsageItem::Dots] if more == word))
}

/// The value in brackets behind an option, such as `[JOBS]`.
pub(super) fn value_of(alternatives: &[Vec<UsageItem>]) -> Option<String> {
    match alternatives {
        [items] => match items.as_slice() {
            [UsageItem::Word(name) | UsageItem::Angle(name)] => Some(format!("[{name}]")),
            [UsageItem::Word(name) | UsageItem::Angle(name), UsageItem::Dots] => Some(format!("[{name} ...]")),
            _ => None,
        },
        _ => None,
    }
}

/// Whether brackets hold a sentence: `[more options, see below]`.
pub(super) fn is_prose(alternatives: &[Vec<UsageItem>]) -> bool {
    let is_plain =
        |item: &UsageItem| matches!(item, UsageItem::Word(word) if word.starts_with(|c: char| c.is_ascii_lowercase()));
    let is_named = |item: &UsageItem| is_plain(item) || matches!(item, UsageItem::Angle(_));
    // `(<key> can also be given by a file)`
    let is_verb = |item: &UsageItem| matches!(item, UsageItem::Word(word) if VERBS.contains(&word.as_str()));
    let is_sentence = |items: &[UsageItem]| items.iter().any(is_verb) && items.iter().all(is_named);
    matches!(alternatives, [items] if items.len() > 2 && (items.iter().all(is_plain) || is_sentence(items)))
}

/// The name of operands in two words: `[entry points]`.
pub(super) fn noun_phrase(alternatives: &[Vec<UsageItem>]) -> Option<String> {
    let [items] = alternatives else { return None };
    let [UsageItem::Word(first), UsageItem::Word(noun)] = items.as_slice() else { return None };
    let is_word = |word: &str| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_program = refine::is_program(first) || matches!(noun.as_str(), "args" | "arguments" | "params");
    let is_noun = is_word(first) && is_word(noun) && noun.ends_with('s') && !is_rest(noun) && !is_program;
    is_noun.then(|| format!("{first}-{noun}"))
}

/// `-f | --force` as one option, `-a | -b` and `--all | --none` as `None`.
pub(super) fn two_spellings(first: &[UsageItem], second: &[UsageItem]) -> Option<String> {
    let ([UsageItem::Flag(short)], [UsageItem::Flag(long)]) = (first, second) else { return None };
    let letter = short.strip_prefix('-').filter(|letter| letter.len() == 1)?;
    let name = long.strip_prefix("--")?;
    name.to_ascii_lowercase().starts_with(&letter.to_ascii_lowercase()).then(|| format!("{short}, {long}"))
}
