//! Typed results: the JSON that a program prints, as `structuredContent`.
//!
//! Source: `docs/contract.md`, "Typed results".

use climax_catalog::{OutputForm, ResolvedTool, conforms};
use serde_json::{Map, Value, json};

use crate::call::visible::TextForm;
use crate::exec::{Captured, MAX_WHOLE_OUTPUT_BYTES};

/// Parses standard output of a tool whose output is JSON; `None` if it printed nothing but white space.
///
/// # Errors
/// A sentence with the reason why there is no value, for the model.
pub(super) fn value(stdout: &Captured, output: OutputForm<'_>, form: TextForm) -> Result<Option<Value>, String> {
    let (schema, is_lines) = match output {
        OutputForm::Json { schema } => (schema, false),
        OutputForm::JsonLines { schema } => (schema, true),
        OutputForm::Text | OutputForm::Media(_) => return Ok(None),
    };
    let Some(bytes) = stdout.bytes() else {
        let (bytes, most) = (stdout.total_bytes(), MAX_WHOLE_OUTPUT_BYTES >> 20);
        return Err(format!("standard output has {bytes} bytes; JSON is parsed up to {most} MiB"));
    };
    let value = if is_lines { lines(&bytes)? } else { whole(&bytes)? };
    if let (Some(value), Some(schema)) = (&value, schema) {
        check(value, schema, is_lines)
            .map_err(|found| format!("standard output does not match its schema: {found}"))?;
    }
    Ok(value.map(|value| form.apply_to_json(value)))
}

fn whole(bytes: &[u8]) -> Result<Option<Value>, String> {
    if bytes.trim_ascii().is_empty() {
        return Ok(None);
    }
    serde_json::from_slice(bytes).map(Some).map_err(|error| format!("standard output is not JSON: {error}"))
}

/// Parses a value per line; empty lines count for nothing.
fn lines(bytes: &[u8]) -> Result<Option<Value>, String> {
    let lines = (1..).zip(bytes.split(|byte| *byte == b'\n')).filter(|(_, line)| !line.trim_ascii().is_empty());
    let parsed = lines.map(|(number, line)| {
        let value: Result<Value, _> = serde_json::from_slice(line);
        value.map_err(|error| format!("line {number} of standard output is not JSON: {error}"))
    });
    Ok(Some(Value::Array(parsed.collect::<Result<_, _>>()?)))
}

fn check(value: &Value, schema: &str, is_lines: bool) -> Result<(), String> {
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    conforms(value, &if is_lines { of_lines(&schema) } else { schema })
}

/// The schema of the list that JSON lines become.
fn of_lines(schema: &Value) -> Value {
    json!({ "type": "array", "items": schema })
}

/// Makes the structured content of a successful call. `output` is the text of a standard output that has no value.
pub(super) fn content(value: Option<Value>, exit_code: i32, stderr: &str, output: Option<&str>) -> Value {
    let mut content = Map::new();
    content.extend(value.map(|value| ("json".to_owned(), value)));
    content.insert("exit_code".to_owned(), exit_code.into());
    for (key, text) in [("stderr", Some(stderr)), ("output", output)] {
        content.extend(text.filter(|text| !text.is_empty()).map(|text| (key.to_owned(), text.into())));
    }
    content.into()
}

/// Returns the schema of the structured content of a tool; `None` if its config has no schema.
///
/// No member is required, since the content of a failed call is an error object, and clients check that too.
pub(super) fn output_schema(tool: ResolvedTool<'_>) -> Option<Value> {
    let schema: Value = serde_json::from_str(tool.output_schema()?).ok()?;
    let json = match tool.output_form() {
        OutputForm::JsonLines { .. } => of_lines(&schema),
        OutputForm::Text | OutputForm::Media(_) | OutputForm::Json { .. } => schema,
    };
    Some(json!({
        "type": "object",
        "properties": {
            "json": json,
            "exit_code": { "type": "integer" },
            "stderr": { "type": "string" },
            "output": { "type": "string", "description": "Standard output, if it is not the JSON that was expected" },
        },
    }))
}
