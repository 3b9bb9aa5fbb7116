//! Typed results: the JSON that a program prints, as `structuredContent`.
//!
//! Source: `docs/contract.md`, "Typed results".

use climax_catalog::{OutputForm, ResolvedTool, conforms};
use serde_json::{Map, Value, json};

use crate::call::arguments::echo;
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
    let Some(value) = (if is_lines { lines(&bytes)? } else { whole(&bytes)? }) else { return Ok(None) };
    let is_valid = |value: &Value| schema.map_or(Ok(()), |schema| check(value, schema, is_lines));
    is_valid(&value).map_err(|found| format!("standard output does not match its schema: {found}"))?;

    let mut value = form.apply_to_json(value);
    let mut unsafe_integer = None;
    spell_out(&mut value, &mut unsafe_integer);
    if let Some(integer) = unsafe_integer {
        is_valid(&value).map_err(|_| {
            format!("there is no JSON value here, since clients would round {integer}, an integer beyond 2^53")
        })?;
    }

    within_limit(&value, stdout.limit())?;
    Ok(Some(value))
}

/// The largest integer up to which all are numbers in JavaScript. Source: ECMA-262, `Number.MAX_SAFE_INTEGER`.
const LAST_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// Replaces integers that clients in JavaScript would round by their digits as strings. `first` becomes the first of them.
fn spell_out(value: &mut Value, first: &mut Option<String>) {
    match value {
        Value::Number(number) => {
            let digits = number.as_str();
            let magnitude = digits.strip_prefix('-').unwrap_or(digits);
            let is_integer = magnitude.bytes().all(|byte| byte.is_ascii_digit());
            if is_integer && magnitude.parse::<u64>().map_or(true, |magnitude| magnitude > LAST_SAFE_INTEGER) {
                first.get_or_insert_with(|| echo(digits));
                *value = digits.into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| spell_out(item, first)),
        Value::Object(members) => members.values_mut().for_each(|member| spell_out(member, first)),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Checks that a value takes no more bytes than a result shows of its text. An output that is shown whole is short enough.
fn within_limit(value: &Value, limit: Option<usize>) -> Result<(), String> {
    let Some(limit) = limit else { return Ok(()) };
    let bytes = value.to_string().len();
    if bytes <= limit {
        return Ok(());
    }
    Err(format!(
        "the JSON has {bytes} bytes and a result shows {limit}, so there is no JSON value here: ask for less, or read the \
         stored output"
    ))
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

/// Makes the structured content of a successful call. `texts` are its other members, of which it has those with a text.
pub(super) fn content(value: Option<Value>, exit_code: i32, texts: &[(&str, &str)]) -> Value {
    let mut content = Map::new();
    content.extend(value.map(|value| ("json".to_owned(), value)));
    content.insert("exit_code".to_owned(), exit_code.into());
    let texts = texts.iter().filter(|(_, text)| !text.is_empty());
    content.extend(texts.map(|(key, text)| ((*key).to_owned(), Value::from(*text))));
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
            "answer": { "type": "string", "description": "The meaning of the exit code" },
            "stderr": { "type": "string" },
            "ignored": { "type": "array", "items": { "type": "string" } },
            "output": { "type": "string", "description": "Standard output, if it is not the JSON that was expected" },
            "reason": { "type": "string" },
        },
    }))
}
