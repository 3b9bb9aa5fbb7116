//! Binds `steps`: the options of a call whose order counts.

use climax_catalog::{ArgView, MAX_SUGGESTIONS, ResolvedTool, STEPS, near_misses};
use serde_json::Value;

use super::coercion::BoundValue;
use super::value::{self, Absent, MAX_ITEMS, embedded};
use super::violation::{Problem, Violation, echo, type_problem};

/// Converts and checks the items of `steps`, in order.
///
/// A single object is a list of one, and text that holds a JSON array is that array.
///
/// # Errors
/// All violations. Each names its item, such as `steps[2].rotate`.
pub(super) fn bind<'a>(
    tool: ResolvedTool<'a>,
    given: &Value,
) -> Result<Vec<(ArgView<'a>, BoundValue)>, Vec<Violation>> {
    let parsed = embedded(given, Value::is_array);
    let items = items(parsed.as_ref().unwrap_or(given));
    if items.len() > MAX_ITEMS {
        let problem = Problem::TooManyItems { items: items.len(), most: MAX_ITEMS };
        return Err(vec![Violation { argument: STEPS.to_owned(), problem }]);
    }

    let mut values = Vec::with_capacity(items.len());
    let mut violations = Vec::new();
    for (at, item) in items.iter().enumerate() {
        match step(tool, at, item) {
            Ok(value) => values.extend(value),
            Err(found) => violations.extend(found),
        }
    }

    if violations.is_empty() { Ok(values) } else { Err(violations) }
}

/// Returns the places and names of the items of `steps`, such as `steps[2].rotate` and `rotate`.
pub(super) fn names(given: &Value) -> Vec<(String, String)> {
    let parsed = embedded(given, Value::is_array);
    let named = |(at, item): (usize, &Value)| {
        let (name, value) = item.as_object()?.iter().next()?;
        (!value.is_null()).then(|| (format!("{STEPS}[{at}].{name}"), name.clone()))
    };
    items(parsed.as_ref().unwrap_or(given)).iter().enumerate().filter_map(named).collect()
}

/// The items of `steps`: a single object is a list of one.
fn items(given: &Value) -> &[Value] {
    match given {
        Value::Null => &[],
        Value::Array(items) => items,
        single => std::slice::from_ref(single),
    }
}

/// Binds the item at `at`; `None` if its value is null.
fn step<'a>(
    tool: ResolvedTool<'a>,
    at: usize,
    item: &Value,
) -> Result<Option<(ArgView<'a>, BoundValue)>, Vec<Violation>> {
    let place = format!("{STEPS}[{at}]");
    let (name, value) = match item {
        Value::Object(members) if members.len() == 1 => members.iter().next().expect("it has one member"),
        _ => {
            let problem = type_problem(item, "an object with one key, the name of an option");
            return Err(vec![Violation { argument: place, problem }]);
        }
    };
    // The policy is checked after the rest, and refuses it by its name.
    if tool.withheld_args().any(|arg| arg.is_ordered() && arg.name() == name) {
        return Ok(None);
    }
    let mut ordered = tool.agent_args().filter(|arg| arg.is_ordered());
    let Some(arg) = ordered.clone().find(|arg| arg.name() == name) else {
        let near = near_misses(name, ordered.clone().map(ArgView::name), MAX_SUGGESTIONS);
        let allowed = if near.is_empty() { ordered.by_ref().map(ArgView::name).collect() } else { near };
        let problem = Problem::NotInEnum { allowed: allowed.into_iter().map(str::to_owned).collect() };
        return Err(vec![Violation { argument: format!("{place}.{}", echo(name)), problem }]);
    };
    let dash_allowed = arg.leading_dash() == Some(true);
    match value::bind(arg, Some(value), Absent::Omitted, dash_allowed) {
        Ok(value) => Ok(value.map(|value| (arg, value))),
        Err(violations) => Err(violations
            .into_iter()
            .map(|violation| Violation { argument: format!("{place}.{}", violation.argument), ..violation })
            .collect()),
    }
}
