//! `climax_search`, `climax_call` and `climax_read`. Source: `docs/contract.md`, by their names.

use std::fmt::Write as _;

use climax_catalog::{CliSummary, Filter, ResolvedTool, Risk, Strategy, ToolIndex, ToolIndexEntry};
use serde_json::{Map, Value, json};

use super::lines;
use super::reader::ArgumentReader;
use super::surface::CallName;
use crate::call::arguments::Violation;

pub(super) const SEARCH_DESCRIPTION: &str = "Search for available CLI tools by keyword, category, or CLI name. \
    Call with no filters to get a summary of all available CLIs.";
pub(super) const CALL_DESCRIPTION: &str =
    "Execute a CLI tool by name. Use climax_search first to discover available tools and their argument schemas.";
pub(super) const READ_DESCRIPTION: &str = "Execute a CLI tool or command line of risk read only.";

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
pub(super) fn call_schema(name: CallName) -> Value {
    json!({
        "type": "object",
        "properties": {
            (name.as_str()): {
                "type": "string",
                "description": "The exact name of the tool to execute (as returned by climax_search)"
            },
            "args": {
                "type": "object",
                "description": "Arguments to pass to the tool (see tool's input_schema from climax_search)"
            }
        },
        "required": [name.as_str()]
    })
}

/// Whether the arguments of `climax_read` hold a command line instead of a tool's name.
pub(super) fn is_line(name: CallName, arguments: &Map<String, Value>) -> bool {
    let has = |key: &str| arguments.get(key).is_some_and(|value| !value.is_null());
    has("command") && !name.accepted().into_iter().any(has)
}

/// The input schema of `climax_read`: a tool's name, or a command line. It has no descriptions, for the sake of tokens.
pub(super) fn read_schema(name: CallName) -> Value {
    json!({
        "type": "object",
        "properties": { (name.as_str()): { "type": "string" }, "args": { "type": "object" }, "command": { "type": "string" } }
    })
}

/// Answers a search with the text of its result.
pub(super) fn search(
    index: &ToolIndex,
    strategy: Strategy,
    detail: EntryDetail,
    arguments: &Map<String, Value>,
) -> Result<String, Vec<Violation>> {
    let mut reader = ArgumentReader::new(arguments);
    let query = reader.string("query");
    let category = reader.filter("category");
    let cli = reader.filter("cli");
    let limit = reader.limit();
    let offset = reader.offset();
    reader.reject_misspelt(&SEARCH_KEYS);
    reader.finish()?;
    let limit = usize::try_from(limit).unwrap_or_default();
    let filter = Filter { query: query.as_deref(), category: category.as_deref(), cli: cli.as_deref() };
    let named = query.as_deref().filter(|_| category.is_none() && cli.is_none());
    let page = Page { offset, limit };
    match named.and_then(|line| lines::tool_of_line(index, line)) {
        Some(first) => {
            let found = first_of(first, index.search_by(strategy, filter, page.end()), page.end());
            Ok(search_json(page.of(&found), detail))
        }
        None => Ok(result_text(index, strategy, filter, page, detail)),
    }
}

/// A part of the results of a search.
#[derive(Clone, Copy)]
struct Page {
    /// The number of results before it.
    offset: usize,
    /// The number of results on it, at most.
    limit: usize,
}

impl Page {
    /// The number of results up to its end.
    fn end(self) -> usize {
        self.offset.saturating_add(self.limit)
    }

    fn of<T>(self, results: &[T]) -> &[T] {
        let end = self.end().min(results.len());
        &results[self.offset.min(end)..end]
    }
}

/// Puts a tool before the others of a search result.
fn first_of<'a>(first: ResolvedTool<'a>, found: Vec<ToolIndexEntry<'a>>, limit: usize) -> Vec<ToolIndexEntry<'a>> {
    let others = found.into_iter().filter(|entry| entry.tool_name() != first.name());
    std::iter::once(first.entry()).chain(others).take(limit).collect()
}

/// What the entries of a search result say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryDetail {
    /// What the index has.
    Indexed,
    /// The written risk too, which decides between `climax_read` and `climax_call`.
    WithRisk,
}

/// The text of a search result without risks.
pub(crate) fn search_text(index: &ToolIndex, strategy: Strategy, filter: Filter<'_>, limit: usize) -> String {
    result_text(index, strategy, filter, Page { offset: 0, limit }, EntryDetail::Indexed)
}

/// The text of a search result: the summary if the filter is empty, else the matches.
fn result_text(index: &ToolIndex, strategy: Strategy, filter: Filter<'_>, page: Page, detail: EntryDetail) -> String {
    match filter {
        Filter { query: None, category: None, cli: None } => summary_json(index, page),
        filter => search_json(page.of(&index.search_by(strategy, filter, page.end())), detail),
    }
}

/// Joins the rendered entries in `{"mode": "search", …}`.
fn search_json(found: &[ToolIndexEntry<'_>], detail: EntryDetail) -> String {
    let size: usize = found.iter().map(|entry| entry.as_json().len() + 24).sum();
    let mut json = String::with_capacity(size + 32);
    json.push_str(r#"{"mode":"search","results":["#);
    for (at, entry) in found.iter().enumerate() {
        if at > 0 {
            json.push(',');
        }
        match (detail, entry.as_json().strip_suffix('}')) {
            (EntryDetail::WithRisk, Some(members)) => {
                let risk = Value::from(entry.tool().written_risk().map(Risk::as_str));
                // Writing to memory does not fail.
                let _ = write!(json, r#"{members},"risk":{risk}}}"#);
            }
            _ => json.push_str(entry.as_json()),
        }
    }
    json.push_str("]}");
    json
}

/// `{"mode": "summary", …}` with a page of the CLIs.
fn summary_json(index: &ToolIndex, page: Page) -> String {
    let summary: Vec<Value> = index.summary().skip(page.offset).take(page.limit).map(cli_json).collect();
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

/// The names under which `climax_call` reads the tool's arguments.
const ARGS_NAMES: [&str; 2] = ["args", "arguments"];

/// The arguments of `climax_call` and `climax_read`.
pub(super) struct CallArguments {
    pub(super) tool_name: String,
    pub(super) arguments: Map<String, Value>,
}

/// Reads the arguments of `climax_call` and `climax_read`.
///
/// A parameter beside `args` is an error if it is an argument of the tool, or if `args` is absent. Any other is passed on as
/// an unknown argument of the tool.
pub(super) fn call_request(
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
    for (key, value) in others {
        if !reader.has(args) || (is_argument(key) && !given.contains_key(key)) {
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
