//! JSON texts of values.

use serde_json::Value;

use crate::model::Type;

/// Returns a text as a JSON string.
pub(crate) fn json_string(text: &str) -> String {
    Value::from(text).to_string()
}

/// Returns the JSON form of an enum value of type `kind`; `None` if the text is no value of that type.
pub(crate) fn enum_json(value: &str, kind: Type) -> Option<String> {
    let parsed: Option<Value> = serde_json::from_str(value).ok();
    match kind {
        Type::String => Some(json_string(value)),
        Type::Integer => value.parse::<i64>().ok().map(|number| number.to_string()).filter(|json| json == value),
        Type::Number => parsed.filter(Value::is_number).map(|_| value.to_owned()),
        Type::Boolean => matches!(value, "true" | "false").then(|| value.to_owned()),
    }
}
