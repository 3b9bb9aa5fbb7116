//! The two meta-tools of the default mode. Source: `docs/contract.md`, `climax_search` and `climax_call`.

use climax_catalog::{CliSummary, Filter, Strategy, ToolIndex, ToolIndexEntry};
use serde_json::{Map, Value, json};

use super::reader::ArgumentReader;
use crate::call::arguments::Violation;

/// Name of the tool that finds tools.
pub(super) const SEARCH: &str = "climax_search";
/// Name of the tool that calls them.
pub(super) const CALL: &str = "climax_call";

pub(super) const SEARCH_DESCRIPTION: &str = "Search for available CLI tools by keyword, category, or CLI name. \
    Call with no filters to get a summary of all available CLIs.";
pub(super) const CALL_DESCRIPTION: &str =
    "Execute a CLI tool by name. Use climax_search first to discover available tools and their argument schemas.";

/// The arguments of `climax_search`. The last one is accepted and not published.
const SEARCH_KEYS: [&str; 5] = ["query", "category", "cli", "limit", "offset"];

/// The input schema of `climax_search`. Its text is fixed by the contract.
pub(super) fn search_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": "Search keyword (matched against tool name, description, CLI name, category, tags)"
            },
            "category": { "type": "string", "description": "Filter by CLI category (exact match, case-insensitive)" },
            "cli": { "type": "string", "description": "Filter by CLI name (exact match, case-insensitive)" },
            "limit": {
                "type": "integer",
                "description": "Maximum number of results to return (default: 10)",
                "default": 10
            }
        }
    })
}

/// The input schema of `climax_call`. Its text is fixed by the contract.
pub(super) fn call_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "tool_name": {
                "type": "string",
                "description": "The exact name of the tool to execute (as returned by climax_search)"
            },
            "args": {
                "type": "object",
                "description": "Arguments to pass to the tool (see tool's input_schema from climax_search)"
            }
        },
        "required": ["tool_name"]
    })
}

/// Answers a search with the text of its result.
pub(super) fn search(
    index: &ToolIndex,
    strategy: Strategy,
    arguments: &Map<String, Value>,
) -> Result<String, Vec<Violation>> {
    let mut reader = ArgumentReader::new(arguments);
    let query = reader.string("query");
    let category = reader.filter("category");
    let cli = reader.filter("cli");
    let limit = reader.limit();
    reader.offset();
    reader.reject_misspelt(&SEARCH_KEYS);
    reader.finish()?;
    let limit = usize::try_from(limit).unwrap_or_default();
    let filter = Filter { query: query.as_deref(), category: category.as_deref(), cli: cli.as_deref() };
    Ok(search_text(index, strategy, filter, limit))
}

/// The text of a search result: the summary if the filter is empty, else the matches.
pub(crate) fn search_text(index: &ToolIndex, strategy: Strategy, filter: Filter<'_>, limit: usize) -> String {
    match filter {
        Filter { query: None, category: None, cli: None } => summary_json(index, limit),
        filter => search_json(&index.search_by(strategy, filter, limit)),
    }
}

/// Joins the rendered entries in `{"mode": "search", …}`.
fn search_json(found: &[ToolIndexEntry<'_>]) -> String {
    let size: usize = found.iter().map(|entry| entry.as_json().len() + 1).sum();
    let mut json = String::with_capacity(size + 32);
    json.push_str(r#"{"mode":"search","results":["#);
    for (at, entry) in found.iter().enumerate() {
        if at > 0 {
            json.push(',');
        }
        json.push_str(entry.as_json());
    }
    json.push_str("]}");
    json
}

/// `{"mode": "summary", …}`, at most `limit` CLIs.
fn summary_json(index: &ToolIndex, limit: usize) -> String {
    let summary: Vec<Value> = index.summary().take(limit).map(cli_json).collect();
    json!({ "mode": "summary", "summary": summary }).to_string()
}

/// A CLI, in the form of a summary.
pub(super) fn cli_json(summary: CliSummary<'_>) -> Value {
    json!({
        "name": summary.cli.name(),
        "description": summary.cli.description(),
        "tool_count": summary.tool_count,
        "category": summary.cli.category(),
        "tags": summary.cli.tags().collect::<Vec<_>>(),
    })
}

/// The names under which `climax_call` reads the tool. Models mix the published one up with those of other protocols.
const TOOL_NAMES: [&str; 3] = ["tool_name", "tool", "name"];
/// The names under which `climax_call` reads the tool's arguments.
const ARGS_NAMES: [&str; 2] = ["args", "arguments"];

/// The arguments of `climax_call`.
pub(super) struct CallArguments {
    pub(super) tool_name: String,
    pub(super) arguments: Map<String, Value>,
}

/// Reads the arguments of `climax_call`.
pub(super) fn call_request(arguments: &Map<String, Value>) -> Result<CallArguments, Vec<Violation>> {
    let mut reader = ArgumentReader::new(arguments);
    let tool_name = reader.required_string(&TOOL_NAMES);
    let args = reader.first_given(&ARGS_NAMES);
    let arguments = reader.object(args);
    reader.reject_other_keys_without(args, &[reader.first_given(&TOOL_NAMES)]);
    reader.finish()?;
    Ok(CallArguments { tool_name, arguments })
}
