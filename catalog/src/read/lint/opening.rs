//! The first word of a description: a verb, certainly not a verb, or unknown.

use std::ops::Range;

use super::words::{
    CLOSED_CLASS, MARKS, NO_ADVERBS, NOUNS, NOUNS_BEFORE_FOR, READS, VERBS_BEFORE_OF, VERBS_LIKE_NOUNS, WRITES,
};

/// Returns the word in the place of the verb, if it is certainly not a verb.
///
/// `programs` are lowercased names of the program, with which descriptions often start: `Git shows …`.
pub(super) fn no_verb(description: &str, programs: &[String]) -> Option<Range<usize>> {
    let mut words = words(description);
    let first = words.next()?;
    let next = words.next().map(|range| description[range].to_lowercase());
    let is_before = |word: &str| next.as_deref() == Some(word);
    let word = leading_part(&description[first.clone()]);
    let is_noun = CLOSED_CLASS.contains(&word.as_str())
        || NOUNS.contains(&word.as_str())
        || is_before("of") && !VERBS_BEFORE_OF.contains(&base(&word).as_str())
        || is_before("for") && NOUNS_BEFORE_FOR.contains(&word.as_str())
        || ["tion", "ness"].iter().any(|ending| word.ends_with(ending)) && !VERBS_LIKE_NOUNS.contains(&word.as_str())
        || programs.contains(&word) && !is_verb(&base(&word));
    is_noun.then_some(first)
}

/// Returns the word in the place of the verb, lowercased and without the ending of the third person.
pub(super) fn verb(description: &str) -> Option<String> {
    let first = words(description).next()?;
    Some(base(&leading_part(&description[first])))
}

/// The words of a description from its verb on, without bracketed text, marks such as `Deprecated:` and adverbs.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut is_inside = false;
    text.split_whitespace().filter_map(move |written| {
        let opens = written.starts_with(['(', '[', '{', '<']);
        let closes = written.trim_end_matches(['.', ':', ',']).ends_with([')', ']', '}', '>']);
        let was_inside = is_inside;
        // `(un)set` is a word.
        is_inside = (is_inside || opens && !written.contains([')', ']', '}', '>'])) && !closes;
        let word = written.trim_matches(|c: char| !c.is_alphanumeric() && c != '(' && c != ')');
        let lower = word.to_lowercase();
        let is_mark = written.ends_with(':') || MARKS.contains(&lower.as_str());
        let is_adverb = lower.len() > 4 && lower.ends_with("ly") && !NO_ADVERBS.contains(&lower.as_str());
        let is_left_out = was_inside || opens && closes || is_inside || word.is_empty() || is_mark || is_adverb;
        let start = word.as_ptr().addr() - text.as_ptr().addr();
        (!is_left_out).then(|| start..start + word.len())
    })
}

/// `Enable/disable` → `enable`.
fn leading_part(word: &str) -> String {
    word.split(['/', ',']).next().unwrap_or_default().to_lowercase()
}

fn is_verb(word: &str) -> bool {
    WRITES.contains(&word) || READS.contains(&word)
}

/// `deletes` → `delete`, `copies` → `copy`, `pushes` → `push`, if the result is a known verb.
fn base(word: &str) -> String {
    let without = |ending: &str, instead: &str| word.strip_suffix(ending).map(|stem| format!("{stem}{instead}"));
    let forms = [Some(word.to_owned()), without("s", ""), without("es", ""), without("ies", "y")];
    forms.into_iter().flatten().find(|form| is_verb(form)).unwrap_or_else(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(description: &str) -> Option<&str> {
        no_verb(description, &["git".to_owned(), "find".to_owned()]).map(|range| &description[range])
    }

    #[test]
    fn finds_first_words_that_are_certainly_no_verbs() {
        for (description, word) in [
            ("The history of a repository", "The"),
            ("A tool that deletes", "A"),
            ("List of branches", "List"),
            ("Version of the program", "Version"),
            ("Information on a branch", "Information"),
            ("Configuration commands", "Configuration"),
            ("Alias for `git log`", "Alias"),
            ("Git shows the history", "Git"),
            ("(Deprecated) This command does it", "This"),
            ("Experimental: the same, but faster", "the"),
            ("\"Management\" of users", "Management"),
        ] {
            assert_eq!(found(description), Some(word), "{description}");
        }
    }

    #[test]
    fn accepts_first_words_that_may_be_verbs() {
        for description in [
            "Show the history",
            "Shows the history",
            "Recursively remove a directory",
            "Apply a patch",
            "[beta] (un)set a value",
            "(in a container, say) Run it",
            "Enable/disable the thing",
            "Partition a disk",
            "Mention somebody",
            "Dispose of what is left",
            "Search for text",
            "Find files",
            "Frobnicate everything",
            "Deprecated.",
            "",
            "Zeigt die Historie",
            "履歴を表示する",
        ] {
            assert_eq!(found(description), None, "{description}");
        }
    }

    #[test]
    fn verbs_lose_the_ending_of_the_third_person() {
        for (description, expected) in
            [("Deletes it", "delete"), ("Copies it", "copy"), ("Pushes it", "push"), ("Frobs it", "frobs")]
        {
            assert_eq!(verb(description).as_deref(), Some(expected));
        }
    }
}
