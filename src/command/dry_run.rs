//! Formats what `climax call --dry-run` found: how a call would run.

use climax_catalog::Cage;
use serde_json::{Map, Value, json};

use super::output::counted;
use super::shell_word::quoted;
use crate::call::DryRun;

/// Formats the call for a terminal: the command line, then the directory, the risk and the approval.
pub(super) fn text(call: &DryRun) -> String {
    let mut lines = vec![command_line(call)];
    if !call.env.is_empty() {
        lines.push(format!("environment: {}, which --json shows", counted(call.env.len(), "variable")));
    }

    lines.extend(call.stdin.as_ref().map(|text| format!("standard input: {} bytes", text.len())));
    lines.push(format!("directory: {}", quoted(&call.directory.display().to_string())));
    lines.extend(call.cage.map(|cage| format!("cage: {}", cage.as_str())));
    lines.push(format!("risk: {}", call.risk.as_str()));
    lines.push(format!("approval: {}", if call.needs_approval { "needed" } else { "not needed" }));
    lines.join("\n")
}

pub(super) fn json(call: &DryRun) -> Value {
    let env: Map<String, Value> = call.env.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
    json!({
        "argv": call.argv,
        "command_line": command_line(call),
        "env": env,
        "stdin": call.stdin,
        "directory": call.directory.display().to_string(),
        "cage": call.cage.map(Cage::as_str),
        "risk": call.risk.as_str(),
        "needs_approval": call.needs_approval,
    })
}

fn command_line(call: &DryRun) -> String {
    call.argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}
