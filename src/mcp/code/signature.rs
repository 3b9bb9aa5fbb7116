//! The signature of a tool in TypeScript, which takes fewer tokens than its schema.
//!
//! Pure.

use climax_catalog::{ResolvedTool, Risk};
use serde_json::{Map, Value};

/// Returns the signature of a tool, with its description and those of its arguments as comments.
pub(in crate::mcp) fn signature(tool: ResolvedTool<'_>) -> String {
    let schema: Value = serde_json::from_str(tool.input_schema()).unwrap_or_default();
    let name = tool.name();
    let access = if is_identifier(name) { format!("tools.{name}") } else { format!("tools[{}]", Value::from(name)) };
    let risk = tool.written_risk().map(Risk::as_str).map_or_else(String::new, |risk| format!(" (risk: {risk})"));
    let members = members(&schema, 1);
    let arguments = if members.is_empty() { String::new() } else { format!("args: {{\n{members}}}") };
    let json = if tool.output_form().is_typed() { ", json" } else { "" };

    format!(
        "{}{access}({arguments}) // → {{exit_code, stdout, stderr{json}}}",
        comment(&format!("{}{risk}", tool.description()), 0)
    )
}

/// The members of an object, one per line.
fn members(schema: &Value, depth: usize) -> String {
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|known| known == name));
    let empty = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&empty);
    let member = |(name, property): (&String, &Value)| {
        let mark = if is_required(name) { "" } else { "?" };
        let key = if is_identifier(name) { name.clone() } else { Value::from(name.as_str()).to_string() };
        let about = property["description"].as_str().map_or_else(String::new, |text| comment(text, depth));
        format!("{about}{}{key}{mark}: {},\n", "  ".repeat(depth), type_of(property, depth))
    };

    properties.iter().map(member).collect()
}

/// The type of values that match a schema.
fn type_of(schema: &Value, depth: usize) -> String {
    let union = |types: Vec<String>| types.join(" | ");
    if let Some(values) = schema["enum"].as_array() {
        return union(values.iter().map(Value::to_string).collect());
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }

    for keyword in ["oneOf", "anyOf"] {
        if let Some(schemas) = schema[keyword].as_array() {
            return union(schemas.iter().map(|schema| type_of(schema, depth)).collect());
        }
    }

    match &schema["type"] {
        Value::Array(names) => union(names.iter().map(|name| named_type(schema, name.as_str(), depth)).collect()),
        name => named_type(schema, name.as_str(), depth),
    }
}

fn named_type(schema: &Value, name: Option<&str>, depth: usize) -> String {
    match name {
        Some("integer" | "number") => "number".to_owned(),
        Some("array") => {
            let items = type_of(&schema["items"], depth);
            if items.contains(" | ") { format!("({items})[]") } else { format!("{items}[]") }
        }
        Some("object") if schema["properties"].is_object() => {
            format!("{{\n{}{}}}", members(schema, depth + 1), "  ".repeat(depth))
        }
        Some("object") => "Record<string, unknown>".to_owned(),
        Some(name @ ("string" | "boolean" | "null")) => name.to_owned(),
        _ => "unknown".to_owned(),
    }
}

/// A comment of one line. What could end it is left out.
fn comment(text: &str, depth: usize) -> String {
    let text = text.replace("*/", "* /").split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{}/** {text} */\n", "  ".repeat(depth))
}

fn is_identifier(name: &str) -> bool {
    let is_start = |character: char| character.is_ascii_alphabetic() || matches!(character, '_' | '$');
    name.starts_with(is_start) && name.chars().all(|character| is_start(character) || character.is_ascii_digit())
}
