//! `climax_describe`: what tools do, and how they run.

use climax_catalog::policy::Executor;
use climax_catalog::{ArgView, CommandPart, Needs, Place, ResolvedTool, Risk, Shape};
use serde_json::{Map, Value, json};

use super::spec::{Effect, MetaRequest, MetaTool, Spec};
use super::work::{Failure, Work};
use crate::call::{Toolbox, suggest_tools};
use crate::exec;
use crate::mcp::reader::ArgumentReader;
use crate::mcp::typed;

/// The most tools that one request can describe.
const MAX_DESCRIBED_TOOLS: usize = 10;

/// `climax_describe`.
pub(super) const DESCRIBE: MetaTool = MetaTool::new(&Spec {
    word: "describe",
    name: "climax_describe",
    title: "Describe",
    effect: Effect::LooksUp,
    description: |_, _| DESCRIPTION.into(),
    schema: |_| schema(),
    work: |MetaRequest { toolbox, arguments, .. }| Ok(Work::Answer(describe(toolbox, arguments)?)),
});

const DESCRIPTION: &str = "Describe tools by name: what they do, their argument schema, and with detail=full their command line, risk, timeout and \
     whether the program is installed.";

/// The input schema.
fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "tools": {
                "type": "array",
                "items": { "type": "string" },
                "minItems": 1,
                "maxItems": MAX_DESCRIBED_TOOLS,
                "description": "Names of tools (as returned by climax_search)"
            },
            "detail": {
                "type": "string",
                "enum": ["summary", "schema", "full"],
                "default": "schema",
                "description": "How much to say about each"
            }
        },
        "required": ["tools"]
    })
}

/// Describes tools. An unknown name has an error in its place, and the other tools are described.
fn describe(toolbox: &Toolbox, arguments: &Map<String, Value>) -> Result<String, Failure> {
    let mut reader = ArgumentReader::new(arguments);
    let names = reader.names("tools", MAX_DESCRIBED_TOOLS);
    let detail = reader.choice("detail", &["schema", "summary", "full"]);
    reader.finish()?;
    let tools: Vec<Value> = names
        .iter()
        .map(|name| match toolbox.index.get(name) {
            Some(tool) => description(toolbox, tool, detail),
            None => json!({
                "tool_name": name,
                "error": {
                    "code": "unknown_tool",
                    "message": format!("Unknown tool: {name}"),
                    "suggestions": suggest_tools(&toolbox.index, name),
                },
            }),
        })
        .collect();
    Ok(json!({ "tools": tools }).to_string())
}

/// Describes a tool in full.
pub(crate) fn described(toolbox: &Toolbox, tool: ResolvedTool<'_>) -> Value {
    description(toolbox, tool, "full")
}

fn description(toolbox: &Toolbox, tool: ResolvedTool<'_>, detail: &str) -> Value {
    let mut json = json!({
        "tool_name": tool.name(),
        "description": tool.description(),
        "cli_name": tool.cli().name(),
        "risk": tool.written_risk().map(Risk::as_str),
    });
    if detail != "summary" {
        json["input_schema"] = serde_json::from_str::<Value>(tool.input_schema()).unwrap_or_default();
        if let Some(schema) = typed::output_schema(tool) {
            json["output_schema"] = schema;
        }
    }
    if detail == "full" {
        json["timeout_seconds"] = json!(f64::from(tool.timeout_ms()) / 1000.0);
        let hidden: Vec<Value> = tool.agent_args().filter(|arg| !arg.is_shown()).map(hidden_arg).collect();
        if !hidden.is_empty() {
            json["more_args"] = hidden.into();
        }
        json["needs_approval"] = json!(toolbox.policy.needs_approval(tool));
        let exit_codes = tool.exit_codes().map(|(code, meaning)| (code.to_string(), meaning.into()));
        let exit_codes: Map<String, Value> = exit_codes.collect();
        if !exit_codes.is_empty() {
            json["exit_codes"] = exit_codes.into();
        }
        if tool.is_native() {
            json["runs_in"] = json!("this server");
            return json;
        }
        json["argv"] = json!(argv_template(tool));
        if let Some(needs) = tool.needs() {
            json["needs"] = needs_json(&needs);
        }
        match toolbox.runner.executor() {
            Executor::Local => json["installed"] = json!(is_installed(tool)),
            Executor::Sandbox(_) => {
                json["installed"] = json!(is_installed(tool));
                json["runs_in"] = json!("a sandbox");
            }
            Executor::Container(container) => json["runs_in"] = json!(format!("the image {}", container.image)),
        }
    }
    json
}

/// What a program needs; of a cage only if it has one.
fn needs_json(needs: &Needs) -> Value {
    let mut json = json!({ "network": needs.network, "write": needs.write, "env": needs.env });
    if let Some(cage) = needs.cage {
        json["cage"] = json!(cage.as_str());
        json["read"] = json!(needs.read);
    }
    json
}

/// An arg that the schema does not show.
fn hidden_arg(arg: ArgView<'_>) -> Value {
    let mut json = json!({ "name": arg.name(), "type": arg.kind().as_str(), "description": arg.description() });
    if arg.shape() != Shape::Single {
        json["shape"] = arg.shape().as_str().into();
    }
    if arg.values().len() > 0 {
        json["enum"] = arg.values().collect();
    }
    if let Some(risk) = arg.risk().highest() {
        json["risk"] = risk.as_str().into();
    }

    json
}

/// Returns whether the program of a tool is installed on this machine.
fn is_installed(tool: ResolvedTool<'_>) -> bool {
    let program = tool.cli().words().chain(tool.words()).next();
    program.is_some_and(|program| exec::locate(tool.cli(), program).is_some())
}

/// The command line of a tool, with `<NAME>` for values and brackets around optional words.
fn argv_template(tool: ResolvedTool<'_>) -> Vec<String> {
    let parts: Vec<CommandPart<'_>> =
        tool.cli().parts().chain(tool.cli().always().map(CommandPart::Word)).chain(tool.parts()).collect();
    let is_placed = |arg: &ArgView<'_>| parts.contains(&CommandPart::Arg(arg.name()));
    // Nobody learns of a value that the policy sets.
    let args = || tool.args().filter(|arg| arg.fixed().is_none());
    let unplaced = |place: Place| args().filter(move |arg| arg.place() == place).filter(move |arg| !is_placed(arg));
    let globals = tool.cli().global_args().map(|arg| format!("[{}]", arg.flag()));
    let options =
        || tool.always().map(str::to_owned).chain(unplaced(Place::Option).map(arg_words)).chain(globals.clone());
    let mut words: Vec<String> = Vec::new();

    for part in &parts {
        match part {
            CommandPart::Word(word) => words.push((*word).to_owned()),
            CommandPart::Arg(name) => words.extend(args().find(|arg| arg.name() == *name).map(arg_words)),
            CommandPart::Options => words.extend(options()),
        }
    }

    let has_place = parts.contains(&CommandPart::Options);
    let has_rest = tool.args().any(|arg| matches!(arg.shape(), Shape::Rest(_)));
    words.extend(options().filter(|_| !has_place && has_rest));
    words.extend(unplaced(Place::Positional).map(arg_words));
    words.extend(options().filter(|_| !has_place && !has_rest));

    words
}

/// The words of an arg, with dots if it can have several values.
fn arg_words(arg: ArgView<'_>) -> String {
    let words = match arg.place() {
        Place::Option if arg.is_bare() => arg.flag().to_owned(),
        Place::Option => arg.template().described(arg.name()),
        _ if matches!(arg.shape(), Shape::Map(_)) => "<KEY>=<VALUE>".to_owned(),
        _ => format!("<{}>", arg.name()),
    };
    let words = if matches!(arg.shape(), Shape::Single) { words } else { format!("{words}…") };
    if arg.required() || arg.default().is_some() { words } else { format!("[{words}]") }
}
