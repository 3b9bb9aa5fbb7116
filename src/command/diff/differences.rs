//! Describes the differences between two exported catalogs.
//!
//! Pure. Meant for reviews of what an agent is newly permitted to do.

use std::collections::BTreeMap;
use std::fmt;

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

/// A difference between two catalogs.
#[derive(Clone, Debug)]
pub(super) enum Difference {
    /// A tool or prompt that only the new one has, and what there is to say about it.
    Added(Step, Option<String>),
    /// A tool or prompt that only the old one has, and what there is to say about it.
    Removed(Step, Option<String>),
    /// An arg of this type that only the new one has.
    AddedArgument(Place, String, String),
    /// An arg that only the old one has.
    RemovedArgument(Place, String),
    /// The same args in another order.
    Reordered(Place, [String; 2]),
    /// Another value.
    Changed(Place, [Value; 2]),
}

/// Where a value stands: the way to it from the top.
type Place = Vec<Step>;

/// A part of the way to a value.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// The tool of this name.
    Tool(String),
    /// The prompt of this name.
    Prompt(String),
    /// The arg of this name.
    Argument(String),
    /// The value of this key.
    Key(String),
}

/// The keys of tools, args and prompts whose values are read by people and models alone.
const TEXTS: [&str; 6] = ["description", "title", "phrases", "category", "tags", "confirm_message"];

impl Difference {
    /// Returns whether more may be permitted by it. Removals, texts and new questions to the user permit nothing more.
    pub(super) fn permits_more(&self) -> bool {
        match self {
            Self::Added(..) | Self::AddedArgument(..) => true,
            Self::Removed(..) | Self::RemovedArgument(..) | Self::Reordered(..) => false,
            Self::Changed(place, values) => match place.as_slice() {
                [Step::Tool(_), Step::Key(key)] if key == "needs_approval" => {
                    *values != [Value::Bool(false), Value::Bool(true)]
                }
                [.., Step::Tool(_) | Step::Prompt(_) | Step::Argument(_), Step::Key(key)] => {
                    !TEXTS.contains(&key.as_str())
                }
                _ => true,
            },
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let about = |said: &Option<String>| said.as_ref().map_or_else(String::new, |said| format!(": {said}"));
        match self {
            Self::Added(what, said) => write!(f, "added {what}{}", about(said)),
            Self::Removed(what, said) => write!(f, "removed {what}{}", about(said)),
            Self::AddedArgument(place, name, kind) => write!(f, "{}: added argument {name} ({kind})", path(place)),
            Self::RemovedArgument(place, name) => write!(f, "{}: removed argument {name}", path(place)),
            Self::Reordered(place, [old, new]) => {
                write!(f, "{}: the order of its arguments: {old} → {new}", path(place))
            }
            Self::Changed(place, [old, new]) => {
                let is_rules = matches!(place.last(), Some(Step::Key(key)) if key == "rules");
                let text = if is_rules { rules_text } else { value_text };
                write!(f, "{}: {} → {}", path(place), text(old), text(new))
            }
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(name) => write!(f, "tool {name}"),
            Self::Prompt(name) => write!(f, "prompt {name}"),
            Self::Argument(name) => write!(f, "argument {name}"),
            Self::Key(key) => f.write_str(key),
        }
    }
}

fn path(place: &[Step]) -> String {
    place.iter().map(Step::to_string).collect::<Vec<_>>().join(": ")
}

/// Returns each addition, removal and change from `old` to `new`.
#[must_use]
pub(super) fn differences(
    ExportedCatalog(old): &ExportedCatalog,
    ExportedCatalog(new): &ExportedCatalog,
) -> Vec<Difference> {
    let mut found = Vec::new();
    for key in ["executor", "headless"] {
        changes(&[Step::Key(key.to_owned())], &old[key], &new[key], &mut found);
    }

    let none = |_: &Value| None;
    named(Step::Tool, |tool| Some(summary(tool)), [&old["tools"], &new["tools"]], &mut found);
    named(Step::Prompt, none, [&old["prompts"], &new["prompts"]], &mut found);
    found
}

/// Adds the differences between two lists of tools or prompts. `about` is what is said of one that only one list has.
fn named(
    step: fn(String) -> Step,
    about: impl Fn(&Value) -> Option<String>,
    [old, new]: [&Value; 2],
    found: &mut Vec<Difference>,
) {
    let (before, after) = (by_name(old), by_name(new));
    for (name, one) in &after {
        let what = step((*name).to_owned());
        match before.get(name) {
            None => found.push(Difference::Added(what, about(one))),
            Some(earlier) => changes(&[what], earlier, one, found),
        }
    }

    for (name, one) in before.iter().filter(|(name, _)| !after.contains_key(*name)) {
        found.push(Difference::Removed(step((*name).to_owned()), about(one)));
    }
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

/// Adds each change at `place`: objects are compared by key, args by name, other values as a whole.
fn changes(place: &[Step], old: &Value, new: &Value, found: &mut Vec<Difference>) {
    match (old, new) {
        _ if old == new => {}
        (Value::Object(before), Value::Object(after)) => {
            for key in keys(before, after) {
                let null = &Value::Null;
                let (before, after) = (before.get(key).unwrap_or(null), after.get(key).unwrap_or(null));
                match key.as_str() {
                    "args" | "global_args" if before.is_array() || after.is_array() => {
                        args(place, before, after, found);
                    }
                    _ => changes(&below(place, Step::Key(key.clone())), before, after, found),
                }
            }
        }
        _ => found.push(Difference::Changed(place.to_vec(), [old.clone(), new.clone()])),
    }
}

fn below(place: &[Step], step: Step) -> Place {
    place.iter().cloned().chain([step]).collect()
}

fn keys<'a>(before: &'a Map<String, Value>, after: &'a Map<String, Value>) -> Vec<&'a String> {
    let added = after.keys().filter(|key| !before.contains_key(*key));
    before.keys().chain(added).collect()
}

/// Adds each change of a list of args.
fn args(place: &[Step], old: &Value, new: &Value, found: &mut Vec<Difference>) {
    let (before, after) = (by_name(old), by_name(new));
    for (name, arg) in &after {
        match before.get(name) {
            None => {
                let kind = arg["type"].as_str().unwrap_or_default().to_owned();
                found.push(Difference::AddedArgument(place.to_vec(), (*name).to_owned(), kind));
            }
            Some(earlier) => changes(&below(place, Step::Argument((*name).to_owned())), earlier, arg, found),
        }
    }
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        found.push(Difference::RemovedArgument(place.to_vec(), (*name).to_owned()));
    }

    let order = |list: &Value| -> String {
        let names = list.as_array().into_iter().flatten().map(|arg| arg["name"].to_string());
        names.collect::<Vec<_>>().join(", ")
    };
    if before.keys().eq(after.keys()) && order(old) != order(new) {
        found.push(Difference::Reordered(place.to_vec(), [order(old), order(new)]));
    }
}

/// Formats the rules of an arg as `1 to 9, matches '[a-z]+' (policy)`. The values must obey all of them.
fn rules_text(rules: &Value) -> String {
    let rules = rules.as_array().map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<String> = rules.iter().map(rule_text).filter(|text| !text.is_empty()).collect();
    if texts.is_empty() { "none".to_owned() } else { texts.join("; ") }
}

fn rule_text(rule: &Value) -> String {
    let text = |key: &str| rule[key].as_str();
    let list = |key: &str, word: &str| {
        let values: Vec<&str> = rule[key].as_array()?.iter().filter_map(Value::as_str).collect();
        Some(values.join(word))
    };
    let range = match (rule["min"].as_f64(), rule["max"].as_f64()) {
        (None, None) => None,
        (Some(min), None) => Some(format!("at least {min}")),
        (None, Some(max)) => Some(format!("at most {max}")),
        (Some(min), Some(max)) => Some(format!("{min} to {max}")),
    };
    let parts = [
        range,
        text("pattern").map(|pattern| format!("matches '{pattern}'")),
        list("enum", ", ").map(|values| format!("one of {values}")),
        text("value").map(|value| format!("always '{value}'")),
        list("within", " or ").map(|directories| format!("within {directories}")),
        text("require_approval").map(|pattern| format!("asks first for '{pattern}'")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();

    match (parts.is_empty(), text("from")) {
        (true, _) => String::new(),
        (false, Some("policy")) => format!("{} (policy)", parts.join(", ")),
        (false, _) => parts.join(", "),
    }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        other => other.to_string(),
    }
}
