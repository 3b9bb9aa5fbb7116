//! The forms of standard output, and checks of JSON against the schema of an `output`.

use serde_json::Value;

/// The form of a tool's standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputForm<'a> {
    /// Text.
    Text,
    /// Bytes of this media type.
    Media(&'a str),
    /// One JSON value.
    Json {
        /// The schema of the value, as JSON.
        schema: Option<&'a str>,
    },
    /// One JSON value per line.
    JsonLines {
        /// The schema of each value, as JSON.
        schema: Option<&'a str>,
    },
}

impl<'a> OutputForm<'a> {
    /// Returns the form that `output` of a config describes.
    ///
    /// Sources of the media types: RFC 8259, section 11; github.com/ndjson/ndjson-spec; jsonlines.org.
    pub(crate) fn new(mime: Option<&'a str>, schema: Option<&'a str>) -> Self {
        match mime {
            None => Self::Text,
            Some("application/json") => Self::Json { schema },
            Some("application/x-ndjson" | "application/jsonl") => Self::JsonLines { schema },
            Some(mime) => Self::Media(mime),
        }
    }

    /// Returns whether results have the parsed value.
    #[must_use]
    pub fn is_typed(self) -> bool {
        matches!(self, Self::Json { .. } | Self::JsonLines { .. })
    }
}

/// Checks a JSON value against the schema of an `output`.
///
/// # Errors
/// The first place that does not match, as a JSON pointer, with what was expected and found.
pub fn conforms(value: &Value, schema: &Value) -> Result<(), String> {
    conforms_at("", value, schema)
}

fn conforms_at(at: &str, value: &Value, schema: &Value) -> Result<(), String> {
    let place = if at.is_empty() { "/" } else { at };
    let types = match &schema["type"] {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        Value::String(name) => vec![name.as_str()],
        _ => Vec::new(),
    };

    if !types.is_empty() && !types.iter().any(|name| is_of_type(value, name)) {
        return Err(format!("{place}: expected {}, found {}", types.join(" or "), type_of(value)));
    }
    if let Some(values) = schema["enum"].as_array()
        && !values.contains(value)
    {
        return Err(format!("{place}: expected one of {}", schema["enum"]));
    }

    if let Some(members) = value.as_object() {
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        if let Some(missing) = required.into_iter().find(|name| !members.contains_key(*name)) {
            return Err(format!("{place}: expected a member `{missing}`"));
        }
        let properties = schema["properties"].as_object();
        for (name, member) in members {
            match properties.and_then(|properties| properties.get(name)) {
                Some(schema) => conforms_at(&format!("{at}/{name}"), member, schema)?,
                None if schema["additionalProperties"] == false => {
                    return Err(format!("{place}: found a member `{name}`, which the schema does not have"));
                }
                None => {}
            }
        }
    }

    let items = value.as_array().filter(|_| schema.get("items").is_some()).into_iter().flatten();
    for (number, item) in items.enumerate() {
        conforms_at(&format!("{at}/{number}"), item, &schema["items"])?;
    }

    Ok(())
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "number" => value.is_number(),
        // Source: JSON Schema 2020-12, Validation, section 6.1.1: 3.0 is an integer.
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => type_of(value) == name,
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_that_do_not_match_are_named_by_their_place() {
        let schema = json!({
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": { "name": { "type": ["string", "null"] }, "kind": { "enum": ["a", 1] } },
                "additionalProperties": false,
            },
        });
        for (value, expected) in [
            (json!([{ "name": "x", "kind": 1 }, { "name": null }]), None),
            (json!({}), Some("/: expected array, found object")),
            (json!([{}]), Some("/0: expected a member `name`")),
            (json!([{ "name": 1 }]), Some("/0/name: expected string or null, found number")),
            (json!([{ "name": "x", "kind": "b" }]), Some("/0/kind: expected one of [\"a\",1]")),
            (json!([{ "name": "x", "more": 1 }]), Some("/0: found a member `more`, which the schema does not have")),
        ] {
            assert_eq!(conforms(&value, &schema).err().as_deref(), expected);
        }
        assert_eq!(conforms(&json!(3.0), &json!({ "type": "integer" })), Ok(()));
        assert!(conforms(&json!(3.5), &json!({ "type": "integer" })).is_err());
    }
}
