//! A part of a line that is not read.

use std::ops::Range;

use climax_shell::SyntaxError;

use crate::call::refusal::Refusal;

/// A part of a command line that is not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {problem}; {remedy}", self.place())]
pub struct LineError {
    /// The text at the place.
    pub found: String,
    /// Its place in the line, in bytes.
    pub range: Range<usize>,
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub remedy: String,
}

impl LineError {
    /// Makes an error about a part of `line`.
    #[must_use]
    pub fn at(line: &str, range: Range<usize>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        let found = line.get(range.clone()).unwrap_or_default().to_owned();
        Self { found, range, problem: problem.into(), remedy: remedy.into() }
    }

    /// Makes the error of a refusal of a part of `line`.
    pub(crate) fn refused(line: &str, range: Range<usize>, refusal: Refusal) -> Self {
        Self::at(line, range, refusal.problem, refusal.remedy)
    }

    /// Makes the error of a syntax error in `line`.
    #[must_use]
    pub fn of_syntax(line: &str, error: SyntaxError) -> Self {
        Self::at(line, error.range, error.problem, error.remedy)
    }

    /// Names the place in the line, with its text.
    fn place(&self) -> String {
        let found = crate::call::arguments::echo(&self.found);
        match found.trim() {
            "" => format!("At byte {}", self.range.start),
            found => format!("At byte {}, `{found}`", self.range.start),
        }
    }
}
