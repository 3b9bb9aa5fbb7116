//! The extended surface: paged search, descriptions and examples, in the spirit of seed 004.

use climax_catalog::{Filter, Strategy, ToolIndex, ToolIndexEntry};
use rmcp::model::ErrorData;
use serde_json::{Map, Value, json};

use super::reader::Reader;
use crate::call::arguments::Violation;
use crate::mcp::extended::describe::MAX_DESCRIBED_TOOLS;
use crate::mcp::extended::examples::MAX_EXAMPLES;
use crate::mcp::reader::DEFAULT_SEARCH_RESULTS;
use cursor::{Cursor, Operation};

mod cursor;
mod describe;
mod examples;

pub(super) use describe::describe;
pub(super) use examples::{Examples, examples};

/// Name of the tool that describes tools.
pub(super) const DESCRIBE: &str = "climax_describe";
/// Name of the tool that shows example calls.
pub(super) const EXAMPLES: &str = "climax_examples";

pub(super) const DESCRIBE_DESCRIPTION: &str = "Describe tools by name: what they do, their argument schema, and with detail=full their command line, risk, timeout and \
     whether the program is installed.";
pub(super) const EXAMPLES_DESCRIPTION: &str =
    "Show example calls of a tool, in the form that climax_call takes. Use it when a schema alone leaves doubts.";

/// Why a request of this surface has no result.
pub(super) enum Failure {
    /// The model can mend its arguments.
    Arguments(Vec<Violation>),
    /// The client cannot go on from this cursor.
    Cursor(ErrorData),
}

impl From<Vec<Violation>> for Failure {
    fn from(violations: Vec<Violation>) -> Self {
        Self::Arguments(violations)
    }
}

/// The input schema of `climax_search` in this mode.
pub(super) fn search_schema() -> Value {
    let mut schema = super::meta::search_schema();
    schema["properties"]["cursor"] =
        json!({ "type": "string", "description": "next_cursor of the answer before, to go on with the same search" });
    schema["properties"]["detail"] = json!({
        "type": "string",
        "enum": ["brief", "full"],
        "default": "full",
        "description": "brief: name, first sentence and required arguments only"
    });
    schema
}

/// The input schema of `climax_describe`.
pub(super) fn describe_schema() -> Value {
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

/// The input schema of `climax_examples`.
pub(super) fn examples_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "tool_name": { "type": "string", "description": "The exact name of the tool" },
            "max": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_EXAMPLES,
                "default": 3,
                "description": "Maximum number of examples"
            }
        },
        "required": ["tool_name"]
    })
}

/// Answers a search page by page.
pub(super) fn search(
    index: &ToolIndex,
    strategy: Strategy,
    digest: &str,
    arguments: &Map<String, Value>,
) -> Result<String, Failure> {
    let mut reader = Reader::new(arguments);
    let [query, category, cli, cursor] = ["query", "category", "cli", "cursor"].map(|name| reader.string(name));
    let limit = reader.limit().unwrap_or(DEFAULT_SEARCH_RESULTS);
    let brief = reader.word("detail", &["full", "brief"]) == "brief";
    reader.finish()?;
    let filter = Filter { query: query.as_deref(), category: category.as_deref(), cli: cli.as_deref() };
    let is_summary = matches!(filter, Filter { query: None, category: None, cli: None });
    let operation = if is_summary { Operation::Summary } else { Operation::Search };
    let place = |offset| Cursor { operation, offset, request: cursor::request_hash(strategy, filter), digest };
    let offset = match cursor {
        None => 0,
        Some(text) => place(0).offset_of(&text).map_err(Failure::Cursor)?,
    };
    let limit = usize::try_from(limit).unwrap_or_default();
    let (mut answer, total, shown) = if is_summary {
        summary_page(index, offset, limit)
    } else {
        search_page(&index.search_by(strategy, filter, usize::MAX), offset, limit, brief)
    };
    let end = offset + shown;
    answer["total"] = json!(total);
    answer["next_cursor"] = if shown > 0 && end < total { json!(place(end).to_string()) } else { Value::Null };
    answer["unmatched_words"] = json!(query.map(|query| index.unmatched_words(&query)).unwrap_or_default());
    answer["catalog_digest"] = json!(digest);
    Ok(answer.to_string())
}

/// A page of CLIs, how many there are, and how many are on the page.
fn summary_page(index: &ToolIndex, offset: usize, limit: usize) -> (Value, usize, usize) {
    let all: Vec<Value> = index.summary().map(super::meta::cli_json).collect();
    let page: Vec<&Value> = all.iter().skip(offset).take(limit).collect();
    (json!({ "mode": "summary", "summary": page }), all.len(), page.len())
}

/// A page of tools, how many there are, and how many are on the page.
fn search_page(found: &[ToolIndexEntry<'_>], offset: usize, limit: usize, brief: bool) -> (Value, usize, usize) {
    let entry = |entry: &ToolIndexEntry<'_>| if brief { brief_json(*entry) } else { parsed(entry.as_json()) };
    let page: Vec<Value> = found.iter().skip(offset).take(limit).map(entry).collect();
    let shown = page.len();
    (json!({ "mode": "search", "results": page }), found.len(), shown)
}

fn brief_json(entry: ToolIndexEntry<'_>) -> Value {
    let required: Vec<&str> =
        entry.tool().agent_args().filter(|arg| arg.required()).map(climax_catalog::ArgView::name).collect();
    json!({ "tool_name": entry.tool_name(), "description": first_sentence(entry.description()), "required": required })
}

fn first_sentence(text: &str) -> &str {
    match text.find(". ") {
        Some(end) => &text[..=end],
        None => text,
    }
}

/// JSON that the catalog holds as text.
fn parsed(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_default()
}
