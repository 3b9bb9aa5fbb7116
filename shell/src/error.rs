//! The error of a text that is not read.

use std::ops::Range;

/// A part of a text that is not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at byte {}: {problem}; {remedy}", range.start)]
pub struct SyntaxError {
    /// Its place, in bytes.
    pub range: Range<usize>,
    /// What is wrong.
    pub problem: String,
    /// What to write instead.
    pub remedy: String,
    /// Whether it is a construct of shells, which a shell would read.
    pub is_of_shell: bool,
    /// Whether more text behind the end could mend it.
    pub is_unfinished: bool,
}

impl SyntaxError {
    /// Moves its place to whole characters of a text.
    pub(crate) fn within(mut self, text: &str) -> Self {
        let floor = |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let end = floor(self.range.end);
        self.range = floor(self.range.start).min(end)..end;
        self
    }

    pub(crate) fn at(range: Range<usize>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { range, problem: problem.into(), remedy: remedy.into(), is_of_shell: false, is_unfinished: false }
    }

    /// Says whether more text behind the end could mend it.
    pub(crate) fn unfinished_if(self, is_unfinished: bool) -> Self {
        Self { is_unfinished, ..self }
    }

    /// Makes the error of a construct that a shell would read.
    pub(crate) fn unread(range: Range<usize>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { is_of_shell: true, ..Self::at(range, problem, remedy) }
    }
}
