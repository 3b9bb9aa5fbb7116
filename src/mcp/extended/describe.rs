//! `climax_describe`.

use climax_catalog::policy::Executor;
use climax_catalog::{ArgView, Place, ResolvedTool};
use serde_json::{Map, Value, json};

use super::super::reader::Reader;
use super::{Failure, parsed};
use crate::call::{Toolbox, suggest_tools};
use crate::exec;

/// Tools that one request may have described.
pub(crate) const MAX_DESCRIBED_TOOLS: usize = 10;

/// Describes the tools that are named; a name that is not served does not spoil the others.
pub(crate) fn describe(toolbox: &Toolbox, arguments: &Map<String, Value>) -> Result<String, Failure> {
    let mut reader = Reader::new(arguments);
    let names = reader.names("tools", MAX_DESCRIBED_TOOLS);
    let detail = reader.word("detail", &["schema", "summary", "full"]);
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
        "risk": tool.risk().as_str(),
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

/// Whether the program that the tool starts is there.
fn is_installed(tool: ResolvedTool<'_>) -> bool {
    let program = tool.cli().words().chain(tool.words()).next();
    program.is_some_and(|program| exec::locate(tool.cli(), program).is_some())
}

/// The command line with `<NAME>` for values, and brackets around what may be absent.
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
