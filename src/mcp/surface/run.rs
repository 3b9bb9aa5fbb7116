//! `climax_run`: runs a command line.

use std::borrow::Cow;

use climax_catalog::ToolIndex;
use climax_catalog::policy::AskedCage;
use serde_json::{Value, json};

use super::search::SEARCH;
use super::spec::{Effect, MetaSurface, MetaTool, Spec};
use super::work::{RunArguments, Work};
use crate::call::Purpose;

/// `climax_run`.
pub(in crate::mcp) const RUN: MetaTool = MetaTool::new(&Spec {
    word: "run",
    name: "climax_run",
    title: "Run",
    effect: Effect::Calls,
    description,
    schema,
    work: |request| Ok(Work::Line(RunArguments::read(request.arguments)?, Purpose::Call)),
});

/// Programs that the description names at most.
const MAX_NAMED_PROGRAMS: usize = 40;

/// The programs that agents type most, in public transcripts of their sessions.
const MOST_TYPED: [&str; 24] = [
    "git", "grep", "head", "tail", "npm", "cargo", "find", "ls", "sed", "cat", "curl", "docker", "gh", "jq", "kubectl",
    "pip", "rm", "sort", "wc", "python3", "make", "go", "awk", "rg",
];

/// Returns the description, with the programs that are served.
fn description(surface: &MetaSurface, index: &ToolIndex) -> Cow<'static, str> {
    let programs = programs(index);
    let named = programs.iter().take(MAX_NAMED_PROGRAMS).copied().collect::<Vec<_>>().join(" ");
    let more = match programs.len().saturating_sub(MAX_NAMED_PROGRAMS) {
        0 => String::new(),
        more if surface.has(SEARCH) => format!(" and {more} more that climax_search finds"),
        more => format!(" and {more} more"),
    };
    let text = format!(
        "Run a bash command line of these programs: {named}{more}. No functions or arrays. Set variables before use."
    );
    text.into()
}

/// The names of the programs that are served: those that agents type most, then in the order of their configs. Programs
/// with a config of their own come before those that share one, of which there are many small ones.
fn programs(index: &ToolIndex) -> Vec<&str> {
    let (mut own, mut shared): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for tool in index.tools().filter(|tool| !tool.is_native()) {
        let word = tool.cli().words().chain(tool.words()).next().unwrap_or_default();
        let name = word.rsplit('/').next().unwrap_or(word);
        let names = if tool.cli().words().next().is_some() { &mut own } else { &mut shared };
        if !names.contains(&name) {
            names.push(name);
        }
    }

    shared.retain(|name| !own.contains(name));
    own.append(&mut shared);
    own.sort_by_key(|name| MOST_TYPED.iter().position(|typed| typed == name).unwrap_or(MOST_TYPED.len()));

    own
}

/// The input schema.
fn schema(surface: &MetaSurface) -> Value {
    let widest = surface.widest_cage();
    let cage = match widest {
        AskedCage::Read => "Other programs read the project",
        AskedCage::Workspace => "Other programs read the project, in workspace they write it",
        AskedCage::None => {
            "Other programs read the project, in workspace they write it; in none nothing holds them, and the user is asked"
        }
    };

    json!({
        "type": "object",
        "properties": {
            "command": { "type": "string" },
            "cwd": { "type": "string", "description": "Directory to run in" },
            "stdin": { "type": "string", "description": "Input of the first command" },
            "cage": { "enum": widest.names_up_to(), "description": cage },
            "timeout": { "type": "integer", "description": "Seconds" }
        },
        "required": ["command"]
    })
}
