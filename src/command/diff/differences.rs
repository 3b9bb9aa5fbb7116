//! Describes the differences between two exported catalogs.
//!
//! Pure. Meant for reviews of what an agent is newly permitted to do.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The JSON of `climax export`: the lists `tools` and `prompts`, and common settings.
#[derive(Clone, Debug)]
pub(super) struct ExportedCatalog(Value);

impl ExportedCatalog {
    /// Checks that JSON has the members of an export that the comparison uses.
    ///
    /// # Errors
    /// A message with the expected and the found value.
    pub(super) fn new(json: Value) -> Result<Self, String> {
        let Value::Object(members) = &json else {
            return Err(format!("expected an object, found {}", kind(&json)));
        };
        for key in ["catalog_digest", "headless", "executor", "tools", "prompts"] {
            if !members.contains_key(key) {
                return Err(format!("expected an object with `{key}`, found none"));
            }
        }
        check_named(&json, "tools")?;
        check_named(&json, "prompts")?;
        Ok(Self(json))
    }
}

/// Checks that a list has only objects with a name, and their lists of args as well.
fn check_named(json: &Value, key: &str) -> Result<(), String> {
    let Value::Array(list) = &json[key] else {
        return Err(format!("expected a list in `{key}`, found {}", kind(&json[key])));
    };
    for one in list {
        if !one["name"].is_string() {
            let found = if one.is_object() { "one without" } else { kind(one) };
            return Err(format!("expected objects with a `name` in `{key}`, found {found}"));
        }
        for args in ["args", "global_args"] {
            if !one[args].is_null() {
                check_named(one, args).map_err(|error| format!("in `{key}`: {error}"))?;
            }
        }
    }
    Ok(())
}

fn kind(json: &Value) -> &'static str {
    match json {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Returns a line for each addition, removal and change from `old` to `new`.
#[must_use]
pub(super) fn differences(
    ExportedCatalog(old): &ExportedCatalog,
    ExportedCatalog(new): &ExportedCatalog,
) -> Vec<String> {
    let mut lines = Vec::new();
    for key in ["executor", "headless"] {
        changes(key, &old[key], &new[key], &mut lines);
    }
    let (before, after) = (by_name(&old["tools"]), by_name(&new["tools"]));
    for (name, tool) in &after {
        match before.get(name) {
            None => lines.push(format!("added tool {name}: {}", summary(tool))),
            Some(earlier) => changes(&format!("tool {name}"), earlier, tool, &mut lines),
        }
    }
    for (name, tool) in before.iter().filter(|(name, _)| !after.contains_key(*name)) {
        lines.push(format!("removed tool {name}: {}", summary(tool)));
    }
    let (before, after) = (by_name(&old["prompts"]), by_name(&new["prompts"]));
    for (name, prompt) in &after {
        match before.get(name) {
            None => lines.push(format!("added prompt {name}")),
            Some(earlier) => changes(&format!("prompt {name}"), earlier, prompt, &mut lines),
        }
    }
    lines.extend(before.keys().filter(|name| !after.contains_key(*name)).map(|name| format!("removed prompt {name}")));
    lines
}

/// The keys whose values are read by people and models alone.
const TEXTS: [&str; 6] = ["description", "title", "phrases", "category", "tags", "confirm_message"];

/// Returns whether a line of [`differences`] can mean that more is permitted. Removals and texts cannot.
#[must_use]
pub(super) fn permits_more(line: &str) -> bool {
    let is_removal = line.starts_with("removed ") || line.contains(": removed argument ");
    let is_text = TEXTS.iter().any(|key| line.contains(&format!(": {key}: ")));
    let is_stricter = line.ends_with(": needs_approval: false → true");
    !is_removal && !is_text && !is_stricter && !line.contains(": the order of its arguments: ")
}

/// Returns the objects of a list by their `name`.
fn by_name(list: &Value) -> BTreeMap<&str, &Value> {
    let all = list.as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().filter_map(|one| Some((one["name"].as_str()?, one))).collect()
}

/// Formats a tool as `git push (destructive, asks first)`.
fn summary(tool: &Value) -> String {
    let words: Vec<&str> = tool["command"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let asks = if tool["needs_approval"] == true { ", asks first" } else { "" };
    format!("{} ({}{asks})", words.join(" "), tool["risk"].as_str().unwrap_or("no risk stated"))
}

/// Adds a line for each change below `what`: objects are compared by key, args by name, other values as a whole.
fn changes(what: &str, old: &Value, new: &Value, lines: &mut Vec<String>) {
    match (old, new) {
        _ if old == new => {}
        (Value::Object(before), Value::Object(after)) => {
            for key in keys(before, after) {
                let null = &Value::Null;
                let (before, after) = (before.get(key).unwrap_or(null), after.get(key).unwrap_or(null));
                match key.as_str() {
                    "args" | "global_args" if before.is_array() || after.is_array() => args(what, before, after, lines),
                    _ => changes(&format!("{what}: {key}"), before, after, lines),
                }
            }
        }
        _ => lines.push(format!("{what}: {} → {}", value_text(old), value_text(new))),
    }
}

fn keys<'a>(before: &'a Map<String, Value>, after: &'a Map<String, Value>) -> Vec<&'a String> {
    let added = after.keys().filter(|key| !before.contains_key(*key));
    before.keys().chain(added).collect()
}

/// Adds a line for each change of a list of args.
fn args(what: &str, old: &Value, new: &Value, lines: &mut Vec<String>) {
    let (before, after) = (by_name(old), by_name(new));
    for (name, arg) in &after {
        match before.get(name) {
            None => lines.push(format!("{what}: added argument {name} ({})", arg["type"].as_str().unwrap_or_default())),
            Some(earlier) => changes(&format!("{what}: argument {name}"), earlier, arg, lines),
        }
    }
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        lines.push(format!("{what}: removed argument {name}"));
    }
    let order = |list: &Value| -> Vec<String> {
        list.as_array().into_iter().flatten().map(|arg| arg["name"].to_string()).collect()
    };
    if before.keys().eq(after.keys()) && order(old) != order(new) {
        lines.push(format!(
            "{what}: the order of its arguments: {} → {}",
            order(old).join(", "),
            order(new).join(", ")
        ));
    }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        other => other.to_string(),
    }
}
