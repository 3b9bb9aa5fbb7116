//! `climax_read`: calls tools and runs lines that change nothing.

use serde_json::{Map, Value, json};

use super::call::{CALL, call_arguments};
use super::spec::{CallName, Effect, MetaRequest, MetaSurface, MetaTool, Spec};
use super::work::{Failure, RunArguments, Work};
use crate::call::Purpose;

/// `climax_read`.
pub(in crate::mcp) const READ: MetaTool = MetaTool::new(&Spec {
    word: "read",
    name: "climax_read",
    title: "Read",
    effect: Effect::Reads,
    description: |_, _| DESCRIPTION.into(),
    schema,
    work,
});

const DESCRIPTION: &str = "Execute a CLI tool or command line of risk read only.";

/// The input schema: a tool's name, or a command line. It has no descriptions, for the sake of tokens.
fn schema(surface: &MetaSurface) -> Value {
    let name = surface.call_name().as_str();
    json!({
        "type": "object",
        "properties": { (name): { "type": "string" }, "args": { "type": "object" }, "command": { "type": "string" } }
    })
}

fn work(request: MetaRequest<'_>) -> Result<Work, Failure> {
    let MetaRequest { surface, toolbox, arguments, .. } = request;
    let name = surface.call_name();
    let caller = surface.has(CALL).then(|| CALL.name());
    let purpose = Purpose::Read { call_name: name.as_str(), caller };

    if is_line(name, arguments) {
        return Ok(Work::Line(RunArguments::read(arguments)?, purpose));
    }
    Ok(Work::Call(call_arguments(&toolbox.index, name, arguments)?, purpose))
}

/// Whether the arguments hold a command line instead of a tool's name.
fn is_line(name: CallName, arguments: &Map<String, Value>) -> bool {
    let has = |key: &str| arguments.get(key).is_some_and(|value| !value.is_null());
    has("command") && !name.accepted().into_iter().any(has)
}
