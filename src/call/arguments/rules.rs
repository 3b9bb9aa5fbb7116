//! Checks values against the rules of configs and policies.

use climax_catalog::policy::{ArgRule, RuleViolation};
use climax_catalog::{ArgView, RuleView};

use super::coercion::BoundValue;
use super::violation::{Problem, Violation, echo};

/// The file that sets a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RuleOrigin {
    /// The config of the tool.
    Config,
    /// A policy.
    Policy,
}

/// Returns the violations of the rules of one origin. Each value of a list or map is checked.
pub(super) fn violations(arg: ArgView<'_>, value: &BoundValue, origin: RuleOrigin) -> Vec<Violation> {
    let is_meant = |rule: &RuleView<'_>| rule.is_from_policy() == (origin == RuleOrigin::Policy);
    let rules: Vec<ArgRule> = arg.rules().filter(is_meant).map(RuleView::to_rule).collect();
    let problems = |word: &str| rules.iter().filter_map(|rule| problem(rule, word)).collect();
    of_values(arg.name(), value, problems)
}

/// Returns whether one of the values needs approval by the policy.
pub(super) fn need_approval(arg: ArgView<'_>, value: &BoundValue) -> bool {
    let mut rules = arg.rules().filter(|rule| rule.has_approval()).map(RuleView::to_rule);
    rules.any(|rule| match value {
        BoundValue::Map(pairs) => pairs.iter().any(|(_, word)| rule.needs_approval(word)),
        other => other.words().any(|word| rule.needs_approval(&word)),
    })
}

/// Returns the violations of all values: of a list or map the first of each item, of another value all.
pub(crate) fn of_values(name: &str, value: &BoundValue, problems: impl Fn(&str) -> Vec<Problem>) -> Vec<Violation> {
    let violation = |argument: String, word: &str| {
        let problem = problems(word).into_iter().next()?;
        Some(Violation { argument, problem })
    };
    match value {
        BoundValue::List(words) => {
            let places = words.iter().enumerate();
            places.filter_map(|(at, word)| violation(format!("{name}[{at}]"), word)).collect()
        }
        BoundValue::Map(pairs) => {
            pairs.iter().filter_map(|(key, word)| violation(format!("{name}.{key}"), word)).collect()
        }
        single => {
            let problems = problems(&single.to_string()).into_iter();
            problems.map(|problem| Violation { argument: name.to_owned(), problem }).collect()
        }
    }
}

/// Describes how a word violates a rule; `None` if it does not.
fn problem(rule: &ArgRule, word: &str) -> Option<Problem> {
    let value = echo(word);
    Some(match rule.check(word)? {
        RuleViolation::Pattern(pattern) => Problem::Pattern { value, pattern: pattern.to_owned() },
        RuleViolation::TooLong(pattern) => Problem::Uncheckable { bytes: word.len(), pattern: pattern.to_owned() },
        RuleViolation::NotANumber => Problem::NotANumber { value },
        RuleViolation::BelowMinimum(minimum) => Problem::BelowMinimum { value, minimum: minimum.to_string() },
        RuleViolation::NotOneOf(allowed) => Problem::NotPermitted { value, allowed: allowed.to_vec() },
        RuleViolation::Fixed => Problem::FixedByPolicy,
        RuleViolation::AboveMaximum(maximum) => Problem::AboveMaximum { value, maximum: maximum.to_string() },
    })
}
