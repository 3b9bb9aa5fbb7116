//! `climax call`: one call, on the path that an agent's call takes.

use std::process::ExitCode;

use climax_catalog::{Catalog, ToolIndex};
use serde_json::{Map, Value, json};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;

use crate::call::call;
use crate::cli::{CallArguments, FAILURE, Selection};
use crate::exec::Stop;
use crate::limits::Limits;
use crate::mcp::reply::{Reply, reply};
use crate::terminal;

/// Calls and prints the result; exit status 1 if it is an error.
pub(crate) fn run(catalog: &'static Catalog, arguments: &CallArguments) -> ExitCode {
    let values = match merged(arguments) {
        Ok(values) => values,
        Err(message) => return super::usage(&message),
    };
    let selection = Selection { configs: arguments.configs.clone(), ..Selection::default() };
    let index = match super::load(catalog, &selection) {
        Ok(index) => index,
        Err(code) => return code,
    };
    let limits = Limits { stream_bytes: arguments.max_output, ..Limits::default() };
    let reply =
        match super::runtime().and_then(|runtime| runtime.block_on(execute(&index, arguments, &values, &limits))) {
            Ok(reply) => reply,
            Err(error) => {
                terminal::error(&format!("climax: {error}"));
                return ExitCode::from(FAILURE);
            }
        };
    let code = if reply.error.is_some() { ExitCode::from(FAILURE) } else { ExitCode::SUCCESS };
    if arguments.json {
        return super::print(&json(&reply).to_string(), code);
    }
    let near = reply.error.as_ref().map(|error| error.suggestions.join("`, `")).filter(|near| !near.is_empty());
    if let Some(near) = near {
        terminal::error(&format!("climax: did you mean `{near}`?"));
    }
    super::print(&reply.text, code)
}

async fn execute(
    index: &ToolIndex,
    arguments: &CallArguments,
    values: &Map<String, Value>,
    limits: &Limits,
) -> std::io::Result<Reply> {
    let [mut terminate, mut interrupt, mut hangup] =
        [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?, signal(SignalKind::hangup())?];
    let stop = async {
        tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {}, _ = hangup.recv() => {} }
        Stop::Cancelled
    };
    Ok(reply(&arguments.tool, call(index, &arguments.tool, values, limits, &Semaphore::new(1), stop).await))
}

fn merged(arguments: &CallArguments) -> Result<Map<String, Value>, String> {
    let mut values = match arguments.args.as_deref().map(serde_json::from_str) {
        None => Map::new(),
        Some(Ok(Value::Object(object))) => object,
        Some(Ok(_)) => return Err("--args takes a JSON object, such as '{\"max_count\": 3}'".to_owned()),
        Some(Err(error)) => return Err(format!("--args is not JSON: {error}")),
    };
    values.extend(arguments.pairs.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str()))));
    Ok(values)
}

fn json(reply: &Reply) -> Value {
    let mut json = json!({ "text": reply.text, "is_error": reply.error.is_some() });
    if let (Some(error), Some(object)) = (&reply.error, json.as_object_mut()) {
        object.extend(error.to_json().as_object().cloned().unwrap_or_default());
    }
    json
}
