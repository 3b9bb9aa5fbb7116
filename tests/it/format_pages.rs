//! Reference pages of the keys of configs and policies, made from the schemas that editors use.
//!
//! `UPDATE_GOLDEN=1 cargo test --test it _page` writes them again.

use std::fmt::Write as _;

use climax::catalog::{config_schema, policy};
use serde_json::{Map, Value};

use crate::support::assert_page;

/// A key, with the path of its parents, and its schema.
type Key<'s> = (String, &'s Value, bool);

/// The keys of an object, each followed by those of the objects in it.
fn keys<'s>(path: &str, object: &'s Value, found: &mut Vec<Key<'s>>) {
    let required: Vec<&str> = object["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, schema) in object["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}{name}");
        found.push((path.clone(), schema, required.contains(&name.as_str())));
        for (place, inner) in inner_objects(schema) {
            keys(&format!("{path}{place}."), inner, found);
        }
    }
}

/// The objects with keys of their own that a value can be, hold as items, or hold under any name.
fn inner_objects(schema: &Value) -> Vec<(&'static str, &Value)> {
    let choices = schema["anyOf"].as_array().into_iter().flatten();
    let mut found: Vec<(&str, &Value)> = choices.flat_map(inner_objects).collect();
    if schema["properties"].is_object() {
        found.push(("", schema));
    }
    for (place, key) in [("[]", "items"), (".NAME", "additionalProperties")] {
        let inner = schema[key].as_object().map_or_else(Vec::new, |_| inner_objects(&schema[key]));
        found.extend(inner.into_iter().filter(|(deeper, _)| deeper.is_empty()).map(|(_, object)| (place, object)));
    }
    found
}

/// What a value can be, in words.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return format!("[{name}](#{name})");
    }
    if let Some(values) = schema["enum"].as_array() {
        let many = values.len() > 12;
        let values: Vec<String> =
            values.iter().map(|value| format!("`{}`", value.to_string().replace('"', ""))).collect();
        return if many { "code".to_owned() } else { values.join(", ") };
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let choices: Vec<String> = choices.iter().map(kind).filter(|kind| !kind.is_empty()).collect();
        return choices.join(" or ");
    }
    let of = |key: &str| schema[key].as_object().map(|inner| kind(&Value::Object(inner.clone())));
    let one = |name: &str| match name {
        "array" => of("items").map_or_else(|| "list".to_owned(), |item| format!("list of {}", plural(&item))),
        "object" => {
            let values = of("additionalProperties").or_else(|| schema["patternProperties"].as_object().and_then(only));
            values.map_or_else(|| "map".to_owned(), |value| format!("map to {value}"))
        }
        "null" => String::new(),
        name => name.to_owned(),
    };
    let names: Vec<String> = match &schema["type"] {
        Value::String(name) => vec![one(name)],
        names => names.as_array().into_iter().flatten().filter_map(Value::as_str).map(one).collect(),
    };
    names.into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>().join(" or ")
}

/// Several of a kind.
fn plural(kind: &str) -> String {
    let several = |kind: &str| match kind.split_once(' ') {
        Some((first @ ("list" | "map"), rest)) => format!("{first}s {rest}"),
        _ if kind.ends_with(char::is_alphabetic) => format!("{kind}s"),
        _ => kind.to_owned(),
    };
    kind.split(" or ").map(several).collect::<Vec<_>>().join(" or ")
}

/// What the values under a pattern of names are, if they are described.
fn only(patterns: &Map<String, Value>) -> Option<String> {
    patterns.values().find(|schema| schema.is_object()).map(kind)
}

fn default(schema: &Value, required: bool) -> String {
    let empty = [Value::Null, Value::from(""), Value::Array(Vec::new())];
    match &schema["default"] {
        _ if required => ", required".to_owned(),
        value if empty.contains(value) => String::new(),
        value => format!(", default `{}`", value.to_string().replace('"', "")),
    }
}

fn row((path, schema, required): &Key<'_>) -> String {
    let means = schema["description"].as_str().unwrap_or_default();
    let choices = schema["anyOf"].as_array().into_iter().flatten();
    let means =
        if means.is_empty() { choices.filter_map(|one| one["description"].as_str()).collect() } else { vec![means] };
    assert!(!means.is_empty() || schema["$ref"].is_string(), "{path} has no description");
    let cells = [format!("`{path}`"), format!("{}{}", kind(schema), default(schema, *required)), means.join("; ")];
    format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "))
}

/// A page with a table for each definition of a schema, in this order.
fn page(title: &str, intro: &str, schema: &Value, order: &[&str]) -> String {
    let definitions = schema["$defs"].as_object().unwrap();
    let mut page = format!("# {title}\n\n{intro}\n");
    assert_eq!(definitions.len(), order.len(), "{:?}", definitions.keys());
    for name in order {
        let mut found = Vec::new();
        keys("", &definitions[*name], &mut found);
        let _ = write!(page, "\n## {name}\n\n| key | value | meaning |\n|---|---|---|\n");
        page.extend(found.iter().map(row));
    }
    page
}

#[test]
fn config_page_has_every_key() {
    let intro = "The keys of a config file. The page is made from `climax schema config`, by which editors\n\
        complete and check configs. `cargo test --test it config_page` compares both.\n\
        [The contract](../contract.md#config-files) has the rules. [A guide](../guides/configs.md) shows\n\
        examples. Keys that start with `x-` are ignored, except for `x-allow`.";
    let order = ["config", "tool", "arg", "question", "resolve", "output_schema", "prompt"];
    assert_page("docs/reference/config.md", &page("Keys of configs", intro, &config_schema(), &order));
}

#[test]
fn policy_page_has_every_key() {
    let intro = "The keys of a policy file. The page is made from `climax schema policy`, by which editors\n\
        complete and check policies. `cargo test --test it policy_page` compares both.\n\
        [The contract](../contract.md#policy) has the rules. [A guide](../guides/policies.md) shows\n\
        examples.";
    let order = ["policy", "selector", "tool", "arg", "approval", "executor", "limits"];
    assert_page("docs/reference/policy.md", &page("Keys of policies", intro, &policy::schema(), &order));
}
