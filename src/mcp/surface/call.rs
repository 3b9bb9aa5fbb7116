//! `climax_call`: calls a tool by its name.

use climax_catalog::{ResolvedTool, ToolIndex, near_misses};
use serde_json::{Map, Value, json};

use super::spec::{CallName, Effect, MetaRequest, MetaSurface, MetaTool, Spec};
use super::work::{CallArguments, Failure, Work};
use crate::call::Purpose;
use crate::call::arguments::{Problem, Violation};
use crate::mcp::reader::ArgumentReader;

/// `climax_call`.
pub(in crate::mcp) const CALL: MetaTool = MetaTool::new(&Spec {
    word: "call",
    name: "climax_call",
    title: "Call",
    effect: Effect::Calls,
    description: |_, _| DESCRIPTION.into(),
    schema,
    work,
});

const DESCRIPTION: &str =
    "Execute a CLI tool by name. Use climax_search first to discover available tools and their argument schemas.";

/// The input schema. Its text is fixed by the contract.
fn schema(surface: &MetaSurface) -> Value {
    let name = surface.call_name().as_str();
    json!({
        "type": "object",
        "properties": {
            (name): {
                "type": "string",
                "description": "The exact name of the tool to execute (as returned by climax_search)"
            },
            "args": {
                "type": "object",
                "description": "Arguments to pass to the tool (see tool's input_schema from climax_search)"
            }
        },
        "required": [name]
    })
}

fn work(request: MetaRequest<'_>) -> Result<Work, Failure> {
    let MetaRequest { surface, toolbox, arguments, .. } = request;
    let call = call_arguments(&toolbox.index, surface.call_name(), arguments)?;
    Ok(Work::Call(call, Purpose::Call))
}

/// The names under which `climax_call` reads the tool's arguments.
const ARGS_NAMES: [&str; 2] = ["args", "arguments"];

/// Reads the arguments of `climax_call` and `climax_read`.
///
/// A parameter beside `args` is an error if it is an argument of the tool, if `args` is absent, or if it nearly has the name
/// of the missing parameter for the tool. Any other is passed on as an unknown argument of the tool.
pub(super) fn call_arguments(
    index: &ToolIndex,
    name: CallName,
    arguments: &Map<String, Value>,
) -> Result<CallArguments, Vec<Violation>> {
    let mut reader = ArgumentReader::new(arguments);
    let names = name.accepted();
    let tool_name = reader.required_string(&names);
    let args = reader.first_given(&ARGS_NAMES);
    let mut given = reader.object(args);
    let tool = index.get(&tool_name);
    let is_argument = |key: &str| ARGS_NAMES.contains(&key) || tool.is_some_and(|tool| takes(tool, key));
    let others = reader.others(&[reader.first_given(&names), args]);

    let names_tool = |key: &str| near_misses(key, names, 1).first().copied();
    for (key, value) in others {
        if let Some(meant) = names_tool(key).filter(|_| tool_name.is_empty()) {
            reader.add_violation(key, Problem::Misspelt { meant: meant.to_owned() });
        } else if !reader.has(args) || (is_argument(key) && !given.contains_key(key)) {
            reader.reject_beside(args, key, value);
        } else {
            given.entry(key).or_insert_with(|| value.clone());
        }
    }

    reader.finish()?;
    Ok(CallArguments { tool_name, arguments: given })
}

/// Whether an agent gives this argument to the tool.
fn takes(tool: ResolvedTool<'_>, name: &str) -> bool {
    tool.agent_args().any(|arg| arg.name() == name)
}
