//! Splits a word into the options that it holds.

use climax_shell::{Field, Origin};

/// Whether a word has options, or is the `--` behind them. A value is none, whatever its text is.
pub(super) fn is_option(word: &Field) -> bool {
    word.text.len() > 1 && word.text.starts_with('-') && word.origin == Origin::Literal
}

/// The options of a word: one long one, or letters up to one that takes the rest as its value.
pub(super) enum Cluster<'w> {
    /// One option, and the value behind its `=`.
    Long { name: Option<&'w str>, value: Option<&'w str> },
    /// The letters that are left.
    Letters(&'w str),
}

impl<'w> Cluster<'w> {
    /// Reads a word that starts with a dash.
    pub(super) fn of(word: &'w str) -> Self {
        if !word.starts_with("--") {
            return Self::Letters(word.trim_start_matches('-'));
        }
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        Self::Long { name: Some(name), value }
    }

    /// The next option, with its dashes.
    pub(super) fn next(&mut self) -> Option<String> {
        match self {
            Self::Long { name, .. } => name.take().map(str::to_owned),
            Self::Letters(letters) => {
                let letter = letters.chars().next()?;
                *letters = &letters[letter.len_utf8()..];
                Some(format!("-{letter}"))
            }
        }
    }

    /// Takes what stands behind the option in its word.
    pub(super) fn attached(&mut self) -> Option<String> {
        match self {
            Self::Long { value, .. } => value.take().map(str::to_owned),
            Self::Letters(letters) => Some(std::mem::take(letters)).filter(|rest| !rest.is_empty()).map(str::to_owned),
        }
    }
}
