//! References in the arguments of a chain's steps to the results of earlier steps.
//!
//! Pure. Source: `docs/contract.md`, "Chains".

use climax_catalog::{Place, ResolvedTool};
use serde_json::{Map, Value};

/// The key of a reference: `{"$from": "/0/stdout"}`.
const FROM: &str = "$from";

/// Maximum steps of a chain.
pub(crate) const MAX_CHAIN_STEPS: usize = 32;

/// Maximum bytes of standard output of all steps of a chain that references can name.
pub(crate) const MAX_CHAIN_BYTES: usize = 16 << 20;

/// A step of a chain: a call whose arguments may hold references.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainStep {
    /// The name of the tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
}

/// The result of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepResult {
    /// The name of the tool.
    pub tool: String,
    /// The exit code.
    pub exit_code: i32,
    /// Standard output; `None` if the chain has printed more than it can hold.
    pub stdout: Option<String>,
    /// As much of standard output as a result shows.
    pub shown: String,
    /// Standard error, as much as a result shows.
    pub stderr: String,
    /// The bytes of standard output.
    pub stdout_bytes: u64,
}

/// Returns the problems of the references in the arguments of the step at `at`, before any step has run.
#[must_use]
pub fn misplaced_references(arguments: &Map<String, Value>, at: usize) -> Vec<String> {
    let mut problems = Vec::new();
    for value in arguments.values() {
        collect_misplaced(value, at, &mut problems);
    }
    problems
}

fn collect_misplaced(value: &Value, at: usize, problems: &mut Vec<String>) {
    match value {
        Value::Object(members) if members.contains_key(FROM) => {
            problems.extend(pointer(members).and_then(|pointer| earlier(pointer, at)).err());
        }
        Value::Object(members) => members.values().for_each(|member| collect_misplaced(member, at, problems)),
        Value::Array(items) => items.iter().for_each(|item| collect_misplaced(item, at, problems)),
        _ => {}
    }
}

/// Returns whether the arguments hold a reference.
#[must_use]
pub fn has_references(arguments: &Map<String, Value>) -> bool {
    fn in_value(value: &Value) -> bool {
        match value {
            Value::Object(members) => members.contains_key(FROM) || members.values().any(in_value),
            Value::Array(items) => items.iter().any(in_value),
            _ => false,
        }
    }
    arguments.values().any(in_value)
}

/// Replaces the references in arguments by the values that they name.
///
/// The line breaks at the end of an output are left out, as in `$( )` of a shell. A `stdin` arg gets all of it.
///
/// # Errors
/// The first reference that names nothing.
pub fn resolved(
    tool: Option<ResolvedTool<'_>>,
    arguments: &Map<String, Value>,
    done: &[StepResult],
) -> Result<Map<String, Value>, String> {
    let is_stdin =
        |name: &str| tool.is_some_and(|tool| tool.args().any(|arg| arg.name() == name && arg.place() == Place::Stdin));
    let resolve = |(name, value): (&String, &Value)| Ok((name.clone(), resolve(value, done, is_stdin(name))?));
    arguments.iter().map(resolve).collect()
}

fn resolve(value: &Value, done: &[StepResult], is_whole: bool) -> Result<Value, String> {
    match value {
        Value::Object(members) if members.contains_key(FROM) => {
            let (result, rest) = earlier(pointer(members)?, done.len())?;
            named(&done[result], rest, is_whole)
                .map_err(|problem| format!("`{}` names nothing: {problem}", members[FROM]))
        }
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| Ok((key.clone(), resolve(value, done, is_whole)?));
            members.iter().map(member).collect::<Result<Map<_, _>, String>>().map(Value::Object)
        }
        Value::Array(items) => {
            items.iter().map(|item| resolve(item, done, is_whole)).collect::<Result<_, _>>().map(Value::Array)
        }
        _ => Ok(value.clone()),
    }
}

/// Reads a reference.
fn pointer(members: &Map<String, Value>) -> Result<&str, String> {
    match members.get(FROM) {
        Some(Value::String(pointer)) if members.len() == 1 => Ok(pointer),
        _ => Err(format!("a reference is `{{\"{FROM}\": \"/0/stdout\"}}`, with no other key")),
    }
}

/// Splits a pointer into the number of a step before `at`, and the rest.
fn earlier(pointer: &str, at: usize) -> Result<(usize, &str), String> {
    let path = pointer.strip_prefix('/').unwrap_or_default();
    let end = path.find('/').unwrap_or(path.len());
    let (number, rest) = path.split_at(end);
    match number.parse::<usize>() {
        Ok(number) if number < at => Ok((number, rest)),
        Ok(number) => Err(format!("`{pointer}` names step {number}, which has not run before step {at}")),
        Err(_) => Err(format!("`{pointer}` does not start with the number of a step, as `/0/stdout` does")),
    }
}

/// Returns the part of a result that a pointer names.
fn named(result: &StepResult, pointer: &str, is_whole: bool) -> Result<Value, String> {
    let stdout = || {
        let bytes = result.stdout_bytes;
        result.stdout.as_deref().ok_or_else(|| format!("the output of {bytes} bytes is too long to be passed on"))
    };
    let trimmed = |text: &str| text.trim_end_matches(['\n', '\r']).to_owned();
    match pointer {
        "/stdout" if is_whole => Ok(stdout()?.into()),
        "/stdout" => Ok(trimmed(stdout()?).into()),
        "/lines" => Ok(stdout()?.lines().collect()),
        "/stderr" => Ok(trimmed(&result.stderr).into()),
        "/exit_code" => Ok(result.exit_code.into()),
        _ => {
            let json: Value = serde_json::from_str(stdout()?).map_err(|error| {
                format!("`{}` has `stdout`, `lines`, `stderr`, `exit_code` and no JSON ({error})", result.tool)
            })?;
            let path = pointer.strip_prefix("/json").filter(|rest| rest.is_empty() || rest.starts_with('/'));
            let found = json.pointer(path.unwrap_or(pointer)).cloned();
            found.ok_or_else(|| format!("the JSON of `{}` has no `{}`", result.tool, path.unwrap_or(pointer)))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn done(stdout: &str) -> Vec<StepResult> {
        let stdout_bytes = stdout.len() as u64;
        let stdout = Some(stdout.to_owned());
        let shown = String::new();
        vec![StepResult { tool: "a".into(), exit_code: 3, stdout, shown, stderr: "no\n".into(), stdout_bytes }]
    }

    fn value(stdout: &str, pointer: &str) -> Result<Value, String> {
        let arguments = Map::from_iter([("x".to_owned(), json!([{ "$from": pointer }]))]);
        resolved(None, &arguments, &done(stdout)).map(|mut arguments| arguments["x"][0].take())
    }

    #[test]
    fn references_name_parts_of_earlier_results() {
        let json_text = r#"{"json": 1, "items": [{"name": "b"}], "a/b": null}"#;
        for (stdout, pointer, expected) in [
            ("one\ntwo\n\n", "/0/stdout", json!("one\ntwo")),
            ("one\ntwo\n", "/0/lines", json!(["one", "two"])),
            ("", "/0/stderr", json!("no")),
            ("", "/0/exit_code", json!(3)),
            (json_text, "/0/json/items/0/name", json!("b")),
            (json_text, "/0/items/0", json!({ "name": "b" })),
            (json_text, "/0/json/a~1b", Value::Null),
            ("[1, 2]", "/0/json", json!([1, 2])),
        ] {
            assert_eq!(value(stdout, pointer), Ok(expected), "{pointer}");
        }
    }

    #[test]
    fn references_to_nothing_are_errors() {
        for pointer in ["", "/", "0/stdout", "/x/stdout", "/1/stdout", "/-1/stdout", "/0/json/items/7", "/0/name"] {
            assert!(value(r#"{"items": []}"#, pointer).is_err(), "{pointer}");
        }
        assert!(value("no JSON", "/0/json").is_err());
        let more = Map::from_iter([("x".to_owned(), json!({ "$from": "/0/stdout", "more": 1 }))]);
        assert!(resolved(None, &more, &done("")).is_err());
        assert_eq!(misplaced_references(&more, 1).len(), 1);
        let own = Map::from_iter([("x".to_owned(), json!({ "y": [{ "$from": "/1/stdout" }] }))]);
        assert_eq!(misplaced_references(&own, 1).len(), 1);
        assert_eq!(misplaced_references(&own, 2), Vec::<String>::new());
    }
}
