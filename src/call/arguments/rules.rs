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
    let violation = |argument: String, word: &str| {
        let problem = rules.iter().find_map(|rule| problem(rule, word))?;
        Some(Violation { argument, problem })
    };
    let name = arg.name();
    match value {
        BoundValue::List(words) => {
            let places = words.iter().enumerate();
            places.filter_map(|(at, word)| violation(format!("{name}[{at}]"), word)).collect()
        }
        BoundValue::Map(pairs) => {
            pairs.iter().filter_map(|(key, word)| violation(format!("{name}.{key}"), word)).collect()
        }
        single => {
            let word = single.to_string();
            let problems = rules.iter().filter_map(|rule| problem(rule, &word));
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
        RuleViolation::AboveMaximum(maximum) => Problem::AboveMaximum { value, maximum: maximum.to_string() },
    })
}
