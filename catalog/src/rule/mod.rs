//! Rules for the values of an arg, and checks of values against them.

mod decimal;
mod pattern;
mod portable;

use decimal::Decimal;
pub use pattern::Pattern;

/// A rule for the values of an arg. Values are compared as they stand on the command line.
#[derive(Clone, Debug, Default)]
pub struct ArgRule {
    /// The pattern that the whole value must match.
    pub pattern: Option<Pattern>,
    /// The smallest permitted number.
    pub min: Option<f64>,
    /// The largest permitted number.
    pub max: Option<f64>,
    /// The permitted values; empty for any.
    pub values: Vec<String>,
    /// The value that every call has. An agent does not give it.
    pub fixed: Option<String>,
    /// The directories that the path must be in; empty for any. Resolving a path needs its machine, so [`Self::check`]
    /// leaves them out.
    pub within: Vec<String>,
    /// The values that need approval.
    pub approval: Option<Pattern>,
}

/// The way in which a value violates a rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RuleViolation<'a> {
    /// It does not match this pattern.
    Pattern(&'a str),
    /// It is too long to be matched against this pattern.
    TooLong(&'a str),
    /// It is not a number, and the rule has a range.
    NotANumber,
    /// It is less than this.
    BelowMinimum(f64),
    /// It is more than this.
    AboveMaximum(f64),
    /// It is none of these.
    NotOneOf(&'a [String]),
    /// It is not the value that every call has.
    Fixed,
}

impl ArgRule {
    /// Returns whether the rule permits everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { pattern, min, max, values, fixed, within, approval } = self;
        let is_open = values.is_empty() && fixed.is_none() && within.is_empty() && approval.is_none();
        is_open && pattern.is_none() && min.is_none() && max.is_none()
    }

    /// Checks a value, as it stands on the command line; `None` if the rule permits it.
    #[must_use]
    pub fn check(&self, value: &str) -> Option<RuleViolation<'_>> {
        if self.fixed.as_deref().is_some_and(|fixed| fixed != value) {
            return Some(RuleViolation::Fixed);
        }
        if !self.values.is_empty() && self.values.iter().all(|known| known != value) {
            return Some(RuleViolation::NotOneOf(&self.values));
        }

        if let Some(pattern) = &self.pattern {
            match pattern.matches(value) {
                Some(true) => {}
                Some(false) => return Some(RuleViolation::Pattern(pattern.as_str())),
                None => return Some(RuleViolation::TooLong(pattern.as_str())),
            }
        }

        if self.min.is_none() && self.max.is_none() {
            return None;
        }
        let Some(number) = Decimal::parse(value) else { return Some(RuleViolation::NotANumber) };
        let below = self.min.filter(|min| number < Decimal::of_bound(*min)).map(RuleViolation::BelowMinimum);
        let above = || self.max.filter(|max| number > Decimal::of_bound(*max)).map(RuleViolation::AboveMaximum);

        below.or_else(above)
    }

    /// Returns whether a call with this value needs approval. A value that is too long to be matched does.
    #[must_use]
    pub fn needs_approval(&self, value: &str) -> bool {
        self.approval.as_ref().is_some_and(|pattern| pattern.matches(value) != Some(false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_round_to_a_bound_are_beyond_it() {
        let rule = ArgRule { min: Some(0.0), max: Some(0.1), ..ArgRule::default() };
        assert_eq!(rule.check("-1e-400"), Some(RuleViolation::BelowMinimum(0.0)));
        assert_eq!(rule.check("0.10000000000000000000001"), Some(RuleViolation::AboveMaximum(0.1)));
        assert_eq!([rule.check("0.1"), rule.check("-0"), rule.check("1e-400")], [None; 3]);
    }

    #[test]
    fn integers_are_compared_without_rounding() {
        let rule = ArgRule { max: Some(9_007_199_254_740_992.0), ..ArgRule::default() };
        assert_eq!(rule.check("9007199254740992"), None);
        assert!(matches!(rule.check("9007199254740993"), Some(RuleViolation::AboveMaximum(_))));
    }

    #[test]
    fn ranges_reject_texts_that_are_no_numbers() {
        let rule = ArgRule { min: Some(0.5), max: Some(2.0), ..ArgRule::default() };
        for (value, breach) in [
            ("0.5", None),
            ("2", None),
            ("0", Some(RuleViolation::BelowMinimum(0.5))),
            ("2.5", Some(RuleViolation::AboveMaximum(2.0))),
            ("nan", Some(RuleViolation::NotANumber)),
            ("inf", Some(RuleViolation::NotANumber)),
            ("", Some(RuleViolation::NotANumber)),
            (" 1", Some(RuleViolation::NotANumber)),
            ("one", Some(RuleViolation::NotANumber)),
        ] {
            assert_eq!(rule.check(value), breach, "{value}");
        }
    }
}
