//! `climax_output`, by which a model reads the rest of an output that a result shows in part.
//!
//! It is no tool of the catalog: the meta-tools that call tools by name know it.

use climax_catalog::{Type, near_misses};
use serde_json::{Map, Value, json};

use super::output_store::{OUTPUT_URI_PREFIX, OutputReader, OutputStore};
use super::surface::CallName;
use crate::call::arguments::{BoundValue, coerce, echo};
use crate::call::visible::TextForm;

/// The name of the tool.
pub(super) const OUTPUT_TOOL: &str = "climax_output";

/// The arguments of the tool.
const KEYS: [&str; 3] = ["id", "offset", "length"];

/// Says at the end of a result how to read an output on, after `shown` bytes of its start.
pub(super) fn hint(caller: &str, name: CallName, uri: &str, shown: usize, total: usize) -> String {
    let id = uri.strip_prefix(OUTPUT_URI_PREFIX).unwrap_or(uri);
    let call = json!({ (name.as_str()): OUTPUT_TOOL, "args": { "id": id, "offset": shown } });
    format!("[the output has {total} bytes; read on with {caller} {call}]")
}

/// Answers a call: a part of a stored output, at most `most` bytes, and how to go on.
///
/// # Errors
/// A sentence that says what is wrong with the arguments, or that there is no such output.
pub(super) fn answer(
    outputs: &OutputStore,
    reader: &OutputReader,
    arguments: &Map<String, Value>,
    most: usize,
    form: TextForm,
) -> Result<String, String> {
    if let Some(unknown) = arguments.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let near =
            near_misses(unknown, KEYS, 1).first().map(|near| format!(", did you mean `{near}`?")).unwrap_or_default();
        return Err(format!("{OUTPUT_TOOL} has no argument `{}`{near}; it takes id, offset and length", echo(unknown)));
    }

    let id =
        arguments.get("id").and_then(Value::as_str).ok_or("Argument 'id': the id that the result gave is required")?;
    let offset = number(arguments, "offset")?.unwrap_or_default();
    let length = number(arguments, "length")?.unwrap_or(most).min(most).max(1);
    let id = id.strip_prefix(OUTPUT_URI_PREFIX).unwrap_or(id);
    let part = outputs.read(reader, &format!("{OUTPUT_URI_PREFIX}{id}"), |bytes, _| part(bytes, offset, length, form));
    part.ok_or_else(|| {
        format!("no output has the id {}: outputs are kept for ten minutes, for the caller alone", echo(id))
    })
}

/// A number of bytes.
fn number(arguments: &Map<String, Value>, name: &str) -> Result<Option<usize>, String> {
    let Some(value) = arguments.get(name).filter(|value| !value.is_null()) else { return Ok(None) };
    match coerce(value, Type::Integer) {
        Ok(BoundValue::Integer(number)) if number >= 0 => Ok(usize::try_from(number).ok()),
        _ => Err(format!("Argument '{name}': expected a number of bytes, 0 or more")),
    }
}

/// A part of an output, which splits no character.
fn part(bytes: &[u8], offset: usize, length: usize, form: TextForm) -> String {
    let is_start = |at: &usize| bytes.get(*at).is_none_or(|byte| byte & 0b1100_0000 != 0b1000_0000);
    let start = (offset.saturating_sub(3)..=offset).rev().find(is_start).unwrap_or(offset).min(bytes.len());
    let end = start.saturating_add(length).min(bytes.len());
    let end = (end.saturating_sub(3)..=end).rev().find(|at| *at > start && is_start(at)).unwrap_or(end);
    let text = form.apply(&String::from_utf8_lossy(&bytes[start..end])).into_owned();
    let total = bytes.len();
    let next = if end < total { format!("; the next offset is {end}") } else { "; this is its end".to_owned() };
    format!("{}\n[bytes {start} to {end} of {total}{next}]", text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_one_another_and_split_no_character() {
        let text = "aäöz".as_bytes();
        assert_eq!(part(text, 0, 2, TextForm::Raw), "a\n[bytes 0 to 1 of 6; the next offset is 1]");
        assert_eq!(part(text, 1, 99, TextForm::Raw), "äöz\n[bytes 1 to 6 of 6; this is its end]");
        assert_eq!(part(text, 99, 99, TextForm::Raw), "\n[bytes 6 to 6 of 6; this is its end]");
    }
}
