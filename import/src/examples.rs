//! What the calls that a page shows say of options: those that stand twice.

use crate::command::{Flag, Several};

/// Gives each option several values that a call of the program repeats, one right behind the other: `mill -r a -r b`.
///
/// Where others stand between them, the place of each counts, which no list keeps.
pub(super) fn repeat(options: &mut [Flag], text: &str, program: &str) {
    let calls = text.lines().map(|line| line.trim().trim_start_matches("$ "));
    let calls = calls.filter(|line| line.split(' ').next() == Some(program) && !program.is_empty());
    for words in calls.map(|line| line.split_whitespace().collect::<Vec<_>>()) {
        for flag in options.iter_mut() {
            let Some(value) = flag.value.as_mut().filter(|value| value.several == Several::No && !value.optional)
            else {
                continue;
            };
            if flag.more.is_empty() && stands_twice(&flag.spellings, &words) {
                value.several = Several::Each;
            }
        }
    }
}

/// Whether one of the spellings stands twice in the words of a call, with a value each and nothing between.
fn stands_twice(spellings: &[String], words: &[&str]) -> bool {
    spellings.iter().any(|own| {
        let is_assigned = |word: &str| word.strip_prefix(own.as_str()).is_some_and(|rest| rest.starts_with('='));
        let is_value = |word: &str| !word.starts_with(['-', '[', '.']);
        words.windows(2).any(|pair| pair.iter().all(|word| is_assigned(word)))
            || words.windows(4).any(|four| four[0] == own && four[2] == own && is_value(four[1]) && is_value(four[3]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    #[test]
    fn calls_show_which_options_stand_twice() {
        let page = |call: &str| {
            format!(
                "Usage: mill [options]\n\nOptions:\n  -r, --rye=SACK  rye\n  --oat=SACK      oat\n\nExamples:\n  {call}\n"
            )
        };
        let several = |call: &str| {
            let command = read(&page(call), &[]).command;
            command.options.iter().map(|flag| flag.value.as_ref().map(|value| value.several)).collect::<Vec<_>>()
        };
        assert_eq!(several("mill -r a -r b"), [Some(Several::Each), Some(Several::No)]);
        assert_eq!(several("$ mill --oat=a --oat=b"), [Some(Several::No), Some(Several::Each)]);
        assert_eq!(several("mill --oat a -r b --oat c"), [Some(Several::No), Some(Several::No)]);
    }
}
