//! The part of an input schema that an error is about, so that a model need not read the whole schema again.
//!
//! Pure. Source: `docs/contract.md`, "Errors".

use climax_catalog::{ResolvedTool, arg_schema};
use serde_json::{Map, Value, json};

use crate::call::arguments::{Problem, Violation};

/// Returns the names that violations are about: of arguments, or of values in them, such as `path[0]`.
#[must_use]
pub fn names<'v>(violations: &'v [Violation], suggestions: &'v [String]) -> Vec<&'v str> {
    let mut names: Vec<&str> = Vec::new();
    for Violation { argument, problem } in violations {
        names.push(argument);
        match problem {
            Problem::Misspelt { meant } => names.push(meant),
            Problem::NeededBefore { next } => names.push(next),
            Problem::NotExactlyOne { names: group }
            | Problem::SeveralOfOne { names: group }
            | Problem::NotTogether { names: group } => names.extend(group.iter().map(String::as_str)),
            _ => {}
        }
    }

    names.extend(suggestions.iter().map(String::as_str));
    names
}

/// Returns the part of an input schema that has these names; `None` if there is none.
#[must_use]
pub fn schema(whole: &Value, names: &[&str]) -> Option<Value> {
    let is_concerned = |property: &str| names.iter().any(|name| is_part_of(name, property));
    let properties: Map<String, Value> = whole["properties"]
        .as_object()?
        .iter()
        .filter(|(name, _)| is_concerned(name))
        .map(|(name, property)| (name.clone(), property.clone()))
        .collect();
    if properties.is_empty() {
        return None;
    }

    let required = whole["required"].as_array().into_iter().flatten();
    let required: Vec<&Value> =
        required.filter(|name| name.as_str().is_some_and(|name| properties.contains_key(name))).collect();
    let mut part = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        part["required"] = json!(required);
    }
    Some(part)
}

/// Returns the part of a tool's input schema that violations are about, as JSON; empty if there is none.
pub(crate) fn schema_of(tool: ResolvedTool<'_>, violations: &[Violation], suggestions: &[String]) -> String {
    let names = names(violations, suggestions);
    let mut whole: Value = serde_json::from_str(tool.input_schema()).unwrap_or_default();
    // The published schema leaves these out.
    let unshown = tool.agent_args().filter(|arg| !arg.is_shown() && !arg.is_ordered());
    for arg in unshown.filter(|arg| names.iter().any(|name| is_part_of(name, arg.name()))) {
        whole["properties"][arg.name()] = serde_json::from_str(&arg_schema(arg)).unwrap_or_default();
    }
    schema(&whole, &names).map_or_else(String::new, |part| part.to_string())
}

/// Whether a name is that of a property, or of a value in it.
fn is_part_of(name: &str, property: &str) -> bool {
    name.strip_prefix(property).is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
}
