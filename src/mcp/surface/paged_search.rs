//! `climax_search` with pages and two levels of detail.

use climax_catalog::{Filter, Strategy, ToolIndex, ToolIndexEntry};
use serde_json::{Map, Value, json};

use super::cursor::{self, Cursor, Operation};
use super::summary::cli_json;
use super::work::Failure;
use crate::mcp::reader::ArgumentReader;

/// Adds the properties of pages and details to the schema of plain search.
pub(super) fn add_properties(schema: &mut Value) {
    schema["properties"]["cursor"] =
        json!({ "type": "string", "description": "next_cursor of the answer before, to go on with the same search" });
    schema["properties"]["detail"] = json!({
        "type": "string",
        "enum": ["brief", "full"],
        "default": "full",
        "description": "brief: name, first sentence and required arguments only"
    });
}

/// Answers a search with one page of its results.
pub(super) fn search(
    index: &ToolIndex,
    strategy: Strategy,
    digest: &str,
    arguments: &Map<String, Value>,
) -> Result<String, Failure> {
    let mut reader = ArgumentReader::new(arguments);
    let query = reader.string("query");
    let [category, cli] = ["category", "cli"].map(|name| reader.filter(name));
    let cursor = reader.string("cursor");
    let limit = reader.limit();
    let skipped = reader.offset();
    reader.reject_misspelt(&["query", "category", "cli", "limit", "offset", "cursor", "detail"]);
    let is_brief = reader.choice("detail", &["full", "brief"]) == "brief";
    reader.finish()?;
    let filter = Filter { query: query.as_deref(), category: category.as_deref(), cli: cli.as_deref() };
    let is_summary = matches!(filter, Filter { query: None, category: None, cli: None });
    let operation = if is_summary { Operation::Summary } else { Operation::Search };
    let cursor_at = |offset| Cursor { operation, offset, request: cursor::request_hash(strategy, filter), digest };
    let offset = match cursor {
        None => skipped,
        Some(text) => cursor_at(0).offset_of(&text).map_err(Failure::Cursor)?.saturating_add(skipped),
    };
    let limit = usize::try_from(limit).unwrap_or_default();
    let (mut page, total, count) = if is_summary {
        summary_page(index, offset, limit)
    } else {
        search_page(&index.search_by(strategy, filter, usize::MAX), offset, limit, is_brief)
    };
    let end = offset.saturating_add(count);
    page["total"] = json!(total);
    page["next_cursor"] = if count > 0 && end < total { json!(cursor_at(end).to_string()) } else { Value::Null };
    page["unmatched_words"] = json!(query.map(|query| index.unmatched_words(&query)).unwrap_or_default());
    page["catalog_digest"] = json!(digest);
    Ok(page.to_string())
}

/// A page of CLIs, the number of all CLIs, and the number on the page.
fn summary_page(index: &ToolIndex, offset: usize, limit: usize) -> (Value, usize, usize) {
    let all: Vec<Value> = index.summary().map(cli_json).collect();
    let page: Vec<&Value> = all.iter().skip(offset).take(limit).collect();
    (json!({ "mode": "summary", "summary": page }), all.len(), page.len())
}

/// A page of tools, the number of all tools that were found, and the number on the page.
fn search_page(found: &[ToolIndexEntry<'_>], offset: usize, limit: usize, is_brief: bool) -> (Value, usize, usize) {
    let entry = |entry: &ToolIndexEntry<'_>| {
        if is_brief { brief_json(*entry) } else { serde_json::from_str(entry.as_json()).unwrap_or_default() }
    };
    let page: Vec<Value> = found.iter().skip(offset).take(limit).map(entry).collect();
    let count = page.len();
    (json!({ "mode": "search", "results": page }), found.len(), count)
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
