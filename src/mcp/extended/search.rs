//! `climax_search` with pages and two levels of detail.

use climax_catalog::{Filter, Strategy, ToolIndex, ToolIndexEntry};
use serde_json::{Map, Value, json};

use super::cursor::{self, Cursor, Operation};
use super::failure::{Failure, parsed};
use crate::mcp::meta;
use crate::mcp::reader::{DEFAULT_SEARCH_RESULTS, Reader};

/// The input schema of `climax_search` in this mode.
pub(in crate::mcp) fn search_schema() -> Value {
    let mut schema = meta::search_schema();
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

/// Answers a search page by page.
pub(in crate::mcp) fn search(
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
    let all: Vec<Value> = index.summary().map(meta::cli_json).collect();
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
