//! `climax_describe`: what tools do, and how they run.

use climax_catalog::policy::Executor;
use climax_catalog::{ArgView, Place, ResolvedTool, Risk};
use serde_json::{Map, Value, json};

use super::super::reader::ArgumentReader;
use super::failure::{Failure, parsed};
use crate::call::{Toolbox, suggest_tools};
use crate::exec;

/// The most tools that one request can describe.
const MAX_DESCRIBED_TOOLS: usize = 10;

/// Description of the tool that describes tools.
pub(in crate::mcp) const DESCRIBE_DESCRIPTION: &str = "Describe tools by name: what they do, their argument schema, and with detail=full their command line, risk, timeout and \
     whether the program is installed.";

/// The input schema of `climax_describe`.
pub(in crate::mcp) fn describe_schema() -> Value {
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
pub(in crate::mcp) fn describe(toolbox: &Toolbox, arguments: &Map<String, Value>) -> Result<String, Failure> {
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

fn description(toolbox: &Toolbox, tool: ResolvedTool<'_>, detail: &str) -> Value {
    let mut json = json!({
        "tool_name": tool.name(),
        "description": tool.description(),
        "cli_name": tool.cli().name(),
        "risk": tool.written_risk().map(Risk::as_str),
    });
    if detail != "summary" {
        json["input_schema"] = parsed(tool.input_schema());
    }
    if detail == "full" {
        json["timeout_seconds"] = json!(f64::from(tool.timeout_ms()) / 1000.0);
        json["needs_approval"] = json!(toolbox.policy.needs_approval(tool));
        if tool.is_native() {
            json["runs_in"] = json!("this server");
            return json;
        }
        json["argv"] = json!(argv_template(tool));
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

/// Returns whether the program of a tool is installed on this machine.
fn is_installed(tool: ResolvedTool<'_>) -> bool {
    let program = tool.cli().words().chain(tool.words()).next();
    program.is_some_and(|program| exec::locate(tool.cli(), program).is_some())
}

/// The command line of a tool, with `<NAME>` for values and brackets around optional words.
fn argv_template(tool: ResolvedTool<'_>) -> Vec<String> {
    let fixed = tool.cli().words().chain(tool.words()).map(str::to_owned);
    let placed = |arg: &ArgView<'_>| arg.place() == Place::Positional;
    let positionals = tool.args().filter(placed);
    let options = tool.args().filter(|arg| !placed(arg) && !matches!(arg.place(), Place::Stdin | Place::Cwd));
    let args = positionals.chain(options).map(|arg| {
        let value = format!("<{}>", arg.name());
        let words = match arg.place() {
            Place::Flag => format!("{} {value}", arg.flag()),
            Place::Joined => format!("{}{value}", arg.flag()),
            Place::Switch => arg.flag().to_owned(),
            Place::Positional | Place::Stdin | Place::Cwd => value,
        };
        if arg.required() || arg.default().is_some() { words } else { format!("[{words}]") }
    });
    let globals = tool.cli().global_args().map(|arg| format!("[{}]", arg.flag()));
    fixed.chain(args).chain(globals).collect()
}
