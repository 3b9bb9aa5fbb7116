//! What differs between two exported catalogs, in words.
//!
//! Pure. Made for reviews: the question is what an agent can newly do.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The JSON of `climax export`: two lists of named objects, `tools` and `prompts`, and what holds for all of them.
#[derive(Clone, Debug)]
pub(super) struct Export(Value);

impl Export {
    /// Takes JSON that has the shape of an export: everything that the comparison relies on is where it looks for it.
    ///
    /// # Errors
    /// What was expected, and what was found.
    pub(super) fn new(json: Value) -> Result<Self, String> {
        let Value::Object(members) = &json else {
            return Err(format!("expected an object, found {}", kind(&json)));
        };
        for key in ["catalog_digest", "headless", "executor", "tools", "prompts"] {
            if !members.contains_key(key) {
                return Err(format!("expected an object with `{key}`, found none"));
            }
        }
        named(&json, "tools")?;
        named(&json, "prompts")?;
        Ok(Self(json))
    }
}

/// Whether a list holds objects alone, each with a name, and with args of which the same holds.
fn named(json: &Value, key: &str) -> Result<(), String> {
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
                named(one, args).map_err(|error| format!("in `{key}`: {error}"))?;
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

/// Lines that say what was added, removed and changed from `old` to `new`; none if both serve the same.
#[must_use]
pub(super) fn differences(Export(old): &Export, Export(new): &Export) -> Vec<String> {
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

/// Objects of a list, by their `name`.
fn by_name(list: &Value) -> BTreeMap<&str, &Value> {
    let all = list.as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().filter_map(|one| Some((one["name"].as_str()?, one))).collect()
}

/// `git push, destructive, asks first`.
fn summary(tool: &Value) -> String {
    let words: Vec<&str> = tool["command"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let asks = if tool["needs_approval"] == true { ", asks first" } else { "" };
    format!("{} ({}{asks})", words.join(" "), tool["risk"].as_str().unwrap_or_default())
}

/// Lists the changes below `what`: members of objects by their keys, args by their names, the rest as a whole.
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
        _ => lines.push(format!("{what}: {} → {}", shown(old), shown(new))),
    }
}

fn keys<'a>(before: &'a Map<String, Value>, after: &'a Map<String, Value>) -> Vec<&'a String> {
    let added = after.keys().filter(|key| !before.contains_key(*key));
    before.keys().chain(added).collect()
}

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

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        other => other.to_string(),
    }
}
