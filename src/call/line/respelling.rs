//! Other spellings of programs: `python3 -m pip` for `pip`, `egrep` for `grep -E`.

use climax_catalog::{CliView, ToolIndex, quoted_words};

use super::command_words::NamesProgram;

/// A command whose first words were replaced by those that they stand for.
pub(super) struct Respelled<'w> {
    /// The words that were replaced.
    replaced: Vec<String>,
    /// The words that replace them.
    first: Vec<String>,
    /// The words behind them.
    rest: &'w [&'w str],
}

impl<'w> Respelled<'w> {
    /// Replaces the words of the longest spelling that a command starts with; `None` if it starts with none.
    pub(super) fn of(index: &ToolIndex, words: &'w [&'w str], names_program: NamesProgram<'_>) -> Option<Self> {
        let spellings = spellings(index).map(|(_, (spelling, meaning))| (quoted_words(spelling), meaning));
        let (spelling, meaning) = spellings
            .filter(|(spelling, _)| starts_with(words, spelling, names_program))
            .max_by_key(|(spelling, _)| spelling.len())?;
        let rest = &words[spelling.len()..];
        Some(Self { replaced: spelling, first: quoted_words(meaning), rest })
    }

    /// All words, with the new ones in front.
    pub(super) fn words(&self) -> Vec<&str> {
        self.first.iter().map(String::as_str).chain(self.rest.iter().copied()).collect()
    }

    /// Returns the words that were replaced, if they stand for a program and nothing else: `pip3`, but not `egrep`.
    pub(super) fn of_program(&self) -> Option<Vec<String>> {
        (self.first.len() == 1).then(|| self.replaced.clone())
    }

    /// Whether the spelling is more than the name of a program, so that it names no other: `python3 -m pip`.
    pub(super) fn has_several_words(&self) -> bool {
        self.replaced.len() > 1
    }

    /// Returns the place that a word had before.
    pub(super) fn place(&self, word: usize) -> usize {
        word.checked_sub(self.first.len()).map_or(0, |behind| behind + self.replaced.len())
    }
}

/// The other spellings of programs that have tools, each with the words that it stands for.
pub(super) fn spellings(index: &ToolIndex) -> impl Iterator<Item = (CliView<'_>, (&str, &str))> {
    let served = index.groups().filter_map(|(cli, mut tools)| tools.next().map(|_| cli));
    served.flat_map(|cli| cli.programs().map(move |program| (cli, program)))
}

fn starts_with(words: &[&str], spelling: &[String], names_program: NamesProgram<'_>) -> bool {
    let Some((program, further)) = spelling.split_first() else { return false };
    let mut words = words.iter();
    words.next().is_some_and(|first| names_program(first, program))
        && further.iter().all(|word| words.next() == Some(&word.as_str()))
}
