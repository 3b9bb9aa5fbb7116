//! What each diagnostic code has: a severity, a phase and an explanation.

use strum::IntoStaticStr;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Severity {
    /// The config cannot be used.
    Error,
    /// The config can be used; something in it is likely a mistake.
    Warning,
}

impl Severity {
    /// Returns the word in messages and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The explanation of a code, for `climax validate --explain`.
#[derive(Clone, Copy, Debug)]
pub struct Explanation {
    /// The problem, as a sentence.
    pub meaning: &'static str,
    /// Why it matters.
    pub why: &'static str,
    /// A text with the problem.
    pub example: &'static str,
    /// The solution.
    pub remedy: &'static str,
}

/// The run in which a code is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Whenever a file is read.
    Check,
    /// Only with `--lint`: the file is valid and can be improved.
    Lint,
}
