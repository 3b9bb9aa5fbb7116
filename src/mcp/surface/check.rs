//! `climax_check`: judges a line that another shell would run. Source: `docs/contract.md`, "The judge".

use serde_json::{Value, json};

use super::spec::{Effect, MetaRequest, MetaTool, Spec};
use super::work::{Failure, JudgeArguments, Work};
use crate::mcp::reader::ArgumentReader;

/// `climax_check`.
pub(super) const CHECK: MetaTool = MetaTool::new(&Spec {
    word: "check",
    name: "climax_check",
    title: "Check",
    effect: Effect::LooksUp,
    description: |_, _| DESCRIPTION.into(),
    schema: |_| schema(),
    work,
});

const DESCRIPTION: &str =
    "Judge a bash command line that another shell would run, without running it: allow, ask or deny, its risk and why.";

/// The names of the arguments.
const KEYS: [&str; 2] = ["command", "cwd"];

/// The input schema.
fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "command": { "type": "string" },
            "cwd": { "type": "string", "description": "Directory it would run in" }
        },
        "required": ["command"]
    })
}

fn work(request: MetaRequest<'_>) -> Result<Work, Failure> {
    let mut reader = ArgumentReader::new(request.arguments);
    reader.reject_misspelt(&KEYS);
    let read = JudgeArguments { command: reader.required_string(&["command"]), cwd: reader.filter("cwd") };
    reader.finish()?;
    Ok(Work::Judge(read))
}
