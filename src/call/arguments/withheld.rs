//! Arguments that a policy keeps from a call or a line.

use climax_catalog::{ArgView, Place, ResolvedTool, STEPS};
use serde_json::{Map, Value};

use super::coercion::{BoundValue, coerce};
use super::steps;
use super::violation::{Problem, Violation};

/// Returns the violations of arguments that the tool has and a policy took away.
///
/// A boolean that is false counts as absent if it has no words.
#[must_use]
pub fn withheld(tool: ResolvedTool<'_>, arguments: &Map<String, Value>) -> Vec<Violation> {
    let is_given = |arg: ArgView<'_>, value: &Value| match coerce(value, arg.kind()) {
        _ if value.is_null() => false,
        Ok(BoundValue::Boolean(false)) => arg.off().is_some(),
        _ => true,
    };
    let violation = |argument: String| Violation { argument, problem: Problem::Withheld };
    let steps = arguments.get(STEPS).map(steps::names).unwrap_or_default();
    let of_arg = |arg: ArgView<'_>| {
        let own = arguments.get(arg.name()).filter(|value| is_given(arg, value)).map(|_| arg.name().to_owned());
        let in_steps = steps.iter().filter(move |(_, name)| name == arg.name());
        own.into_iter().chain(in_steps.map(|(place, _)| place.clone())).map(violation).collect::<Vec<_>>()
    };

    tool.withheld_args().flat_map(of_arg).collect()
}

/// Returns the violations of a line that leaves out options which have a default and a rule of the policy.
///
/// What the program takes instead is unknown, so the rule could not be checked.
#[must_use]
pub fn unstated_defaults(tool: ResolvedTool<'_>, arguments: &Map<String, Value>) -> Vec<Violation> {
    let is_unstated = |arg: &ArgView<'_>| {
        matches!(arg.place(), Place::Option | Place::Positional)
            && arg.default().is_some()
            && arg.fixed().is_none()
            && !arguments.contains_key(arg.name())
            && arg.rules().any(|rule| rule.is_from_policy() && rule.restricts())
    };
    let violation = |arg: ArgView<'_>| {
        let option = arg.flag_words().first().map_or(arg.name(), |_| arg.flag().trim_end_matches('=')).to_owned();
        Violation { argument: arg.name().to_owned(), problem: Problem::Unstated { option } }
    };
    tool.agent_args().filter(is_unstated).map(violation).collect()
}
