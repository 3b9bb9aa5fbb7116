//! Other spellings of programs: `python3 -m pip` for `pip`, `egrep` for `grep -E`.

use climax_catalog::{ToolIndex, quoted_words};

use super::reading::CommandWords;

/// A command whose first words were replaced by those that they stand for.
pub(super) struct Respelled<'w> {
    /// The number of words that were replaced.
    replaced: usize,
    /// The words that replace them.
    first: Vec<String>,
    /// The words behind them.
    rest: &'w [&'w str],
}

impl<'w> Respelled<'w> {
    /// Replaces the words of the longest spelling that a command starts with; `None` if it starts with none.
    pub(super) fn of(index: &ToolIndex, command: CommandWords<'w>) -> Option<Self> {
        let spellings = index.groups().flat_map(|(cli, _)| cli.programs());
        let spellings = spellings.map(|(spelling, words)| (quoted_words(spelling), words));
        let (spelling, words) = spellings
            .filter(|(spelling, _)| starts_with(command, spelling))
            .max_by_key(|(spelling, _)| spelling.len())?;
        Some(Self { replaced: spelling.len(), first: quoted_words(words), rest: &command.words[spelling.len()..] })
    }

    /// All words, with the new ones in front.
    pub(super) fn words(&self) -> Vec<&str> {
        self.first.iter().map(String::as_str).chain(self.rest.iter().copied()).collect()
    }

    /// Returns the place that a word had before.
    pub(super) fn place(&self, word: usize) -> usize {
        word.checked_sub(self.first.len()).map_or(0, |behind| behind + self.replaced)
    }
}

fn starts_with(command: CommandWords<'_>, spelling: &[String]) -> bool {
    let Some((program, further)) = spelling.split_first() else { return false };
    let mut words = command.words.iter();
    words.next().is_some_and(|first| (command.names_program)(first, program))
        && further.iter().all(|word| words.next() == Some(&word.as_str()))
}
