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
}

impl SyntaxError {
    pub(crate) fn at(range: Range<usize>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { range, problem: problem.into(), remedy: remedy.into() }
    }
}
