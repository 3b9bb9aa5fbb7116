//! The JSON texts of a tool: input schema and index entry.
//!
//! The order of keys is part of the contract (`docs/contract.md`, "Tool index"), so no serializer writes these texts.

use std::fmt::Write as _;

use crate::policy::ArgRule;
use crate::read::check::arg::{enum_json, json_string};
use crate::read::checked::{CheckedArg, CheckedCli, CheckedTool};

/// The tool's input schema (JSON Schema 2020-12).
pub(crate) fn input_schema(args: &[CheckedArg]) -> String {
    let mut json = String::from(r#"{"type":"object","properties":{"#);
    // The user or the server gives the other args.
    let given = || args.iter().filter(|arg| !arg.asked && arg.output.is_none());
    for (at, arg) in given().enumerate() {
        if at > 0 {
            json.push(',');
        }
        property(&mut json, arg);
    }
    json.push('}');
    let required: Vec<String> = given().filter(|arg| arg.required).map(|arg| json_string(&arg.name)).collect();
    if !required.is_empty() {
        let _ = write!(json, r#","required":[{}]"#, required.join(","));
    }
    json.push('}');
    json
}

fn property(json: &mut String, arg: &CheckedArg) {
    let _ = write!(json, r#"{}:{{"type":"{}""#, json_string(&arg.name), arg.kind.as_str());
    if !arg.description.is_empty() {
        let _ = write!(json, r#","description":{}"#, json_string(&arg.description));
    }
    if let Some(default) = &arg.default {
        let _ = write!(json, r#","default":{}"#, default.json);
    }
    if !arg.values.is_empty() {
        let values: Vec<String> =
            arg.values.iter().map(|value| enum_json(value, arg.kind).unwrap_or_else(|| json_string(value))).collect();
        let _ = write!(json, r#","enum":[{}]"#, values.join(","));
    }
    constraints(json, &arg.rules);
    json.push('}');
}

/// Writes the rules of policies. JSON Schema ignores keywords that do not apply to the type; models still read them.
fn constraints(json: &mut String, rules: &[ArgRule]) {
    let patterns: Vec<String> =
        rules.iter().filter_map(|rule| Some(json_string(&rule.pattern.as_ref()?.json_schema()))).collect();
    match patterns.as_slice() {
        [] => {}
        [one] => drop(write!(json, r#","pattern":{one}"#)),
        all => {
            let all: Vec<String> = all.iter().map(|pattern| format!(r#"{{"pattern":{pattern}}}"#)).collect();
            let _ = write!(json, r#","allOf":[{}]"#, all.join(","));
        }
    }
    let min = rules.iter().filter_map(|rule| rule.min).reduce(f64::max);
    let max = rules.iter().filter_map(|rule| rule.max).reduce(f64::min);
    for (keyword, bound) in [("minimum", min), ("maximum", max)] {
        if let Some(bound) = bound {
            let _ = write!(json, r#","{keyword}":{bound}"#);
        }
    }
}

/// Builds the tool's `ToolIndexEntry`; `schema` is its last member.
pub(crate) fn index_entry(cli: &CheckedCli, tool: &CheckedTool, schema: &str) -> String {
    format!(
        r#"{{"tool_name":{},"description":{},"cli_name":{},"category":{},"tags":{},"input_schema":{schema}}}"#,
        json_string(&tool.name),
        json_string(&tool.description),
        json_string(&cli.name),
        cli.category.as_deref().map_or_else(|| "null".to_owned(), json_string),
        serde_json::Value::from(cli.tags.clone()),
    )
}
