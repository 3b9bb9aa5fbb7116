//! The `schema` of an `output`: the keywords of JSON Schema that configs may use, as JSON.
//!
//! The list is short, so that [`crate::output`] can check results against every keyword of it.

use serde_json::{Map, Value, json};

use crate::diagnostic::Code;
use crate::read::walk::{Fields, Walker};
use crate::read::yaml::{Node, NodeKind};

pub(crate) const SCHEMA_KEYS: &[&str] =
    &["type", "title", "description", "properties", "required", "additionalProperties", "items", "enum"];

/// The type names of JSON Schema.
///
/// Source: JSON Schema 2020-12, Validation, section 6.1.1.
pub(crate) const SCHEMA_TYPES: &[&str] = &["null", "boolean", "object", "array", "number", "integer", "string"];

/// Reads a schema. Each keyword that configs do not support is reported.
pub(super) fn schema(walker: &mut Walker<'_>, node: &Node) -> Option<Value> {
    let mut fields = walker.mapping(node, "an output schema", SCHEMA_KEYS)?;
    let mut json = Map::new();
    let mut set = |key: &str, value: Option<Value>| json.extend(value.map(|value| (key.to_owned(), value)));
    set("type", fields.optional("type").and_then(|node| type_names(walker, node)));

    for key in ["title", "description"] {
        set(key, fields.optional_string(walker, key).map(|text| text.value.into()));
    }

    set("properties", properties(walker, &mut fields));
    set("required", fields.optional("required").map(|node| required(walker, node)));
    set("additionalProperties", fields.boolean(walker, "additionalProperties").map(|allowed| allowed.value.into()));
    set("items", fields.optional("items").and_then(|node| schema(walker, node)));
    set("enum", fields.optional("enum").map(|node| values(walker, node)));

    Some(json.into())
}

fn properties(walker: &mut Walker<'_>, fields: &mut Fields<'_>) -> Option<Value> {
    if !fields.has("properties") {
        return None;
    }
    let entries = fields.entries(walker, "properties", |walker, name, node| Some((name.value, schema(walker, node)?)));
    Some(entries.into_iter().collect::<Map<_, _>>().into())
}

fn required(walker: &mut Walker<'_>, node: &Node) -> Value {
    let names = walker.list(node, "required", |walker, node| walker.string(node, "an item of `required`"));
    names.into_iter().map(|name| Value::from(name.value)).collect()
}

/// One type name, or a list of them.
fn type_names(walker: &mut Walker<'_>, node: &Node) -> Option<Value> {
    match node.kind {
        NodeKind::Sequence(_) => Some(walker.list(node, "type", type_name).into()),
        NodeKind::Scalar(_) | NodeKind::Mapping(_) => type_name(walker, node),
    }
}

fn type_name(walker: &mut Walker<'_>, node: &Node) -> Option<Value> {
    // `null` without quotes is the type of that name, too.
    if node.is_null() {
        return Some(json!("null"));
    }

    let name = walker.string(node, "type")?;
    if !SCHEMA_TYPES.contains(&name.value.as_str()) {
        let message = format!("unknown type `{}` in an output schema", name.value);
        let help = format!("write one of {}", SCHEMA_TYPES.join(", "));
        walker.report(Code::UnknownValue, name.span, message, &help);
        return None;
    }

    Some(name.value.into())
}

fn values(walker: &mut Walker<'_>, node: &Node) -> Value {
    walker
        .list(node, "enum", |walker, node| match &node.kind {
            NodeKind::Scalar(scalar) => Some(scalar.to_json()),
            NodeKind::Sequence(_) | NodeKind::Mapping(_) => {
                walker.wrong_type(node, "an item of `enum`", "a string, number, boolean or null", "write plain values");
                None
            }
        })
        .into()
}
