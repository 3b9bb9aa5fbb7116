//! `climax_search`: finds tools.

use std::borrow::Cow;
use std::fmt::Write as _;

use climax_catalog::{
    ArgView, Filter, GroupKind, GroupView, ResolvedTool, Risk, Strategy, ToolIndex, ToolIndexEntry, input_schema_with,
};
use serde_json::{Map, Value, json};

use super::compact;
use super::paged_search;
use super::read::READ;
use super::spec::{Answers, Effect, MetaRequest, MetaSurface, MetaTool, SearchForm, Spec};
use super::summary::cli_json;
use super::work::{Failure, Work};
use crate::call::WriteMode;
use crate::call::arguments::{Input, Violation};
use crate::call::line::{LineContext, read_line};
use crate::exec;
use crate::mcp::reader::ArgumentReader;

/// `climax_search`.
pub(in crate::mcp) const SEARCH: MetaTool = MetaTool::new(&Spec {
    word: "search",
    name: "climax_search",
    title: "Search",
    effect: Effect::LooksUp,
    description: |_, _| DESCRIPTION.into(),
    schema,
    work,
});

const DESCRIPTION: &str = "Search for available CLI tools by keyword, category, or CLI name. \
    Call with no filters to get a summary of all available CLIs.";

/// The arguments of plain search. The last one is accepted and not published.
const SEARCH_KEYS: [&str; 5] = ["query", "category", "cli", "limit", "offset"];

/// The input schema. The text of plain search is fixed by the contract.
fn schema(surface: &MetaSurface) -> Value {
    let mut schema = json!({
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
    });
    if surface.search() == SearchForm::Paged {
        paged_search::add_properties(&mut schema);
    }
    schema
}

fn work(request: MetaRequest<'_>) -> Result<Work, Failure> {
    let MetaRequest { surface, toolbox, strategy, arguments } = request;
    let detail = if surface.has(READ) { EntryDetail::WithRisk } else { EntryDetail::Indexed };
    let found = match surface.search() {
        SearchForm::Plain if surface.answers() == Answers::Compact => {
            compact_search(&toolbox.index, strategy, arguments)?
        }
        SearchForm::Plain => search(&toolbox.index, strategy, detail, arguments)?,
        SearchForm::Paged => paged_search::search(&toolbox.index, strategy, toolbox.digest(), arguments)?,
    };
    Ok(Work::Answer(found))
}

/// The arguments of plain search.
struct Asked {
    query: Option<String>,
    category: Option<String>,
    cli: Option<String>,
    page: Page,
}

impl Asked {
    /// Reads the arguments.
    fn read(arguments: &Map<String, Value>) -> Result<Self, Vec<Violation>> {
        let mut reader = ArgumentReader::new(arguments);
        let query = reader.string("query");
        let category = reader.filter("category");
        let cli = reader.filter("cli");
        let limit = reader.limit();
        let offset = reader.offset();
        reader.reject_misspelt(&SEARCH_KEYS);
        reader.finish()?;
        let limit = usize::try_from(limit).unwrap_or_default();
        Ok(Self { query, category, cli, page: Page { offset, limit } })
    }

    fn filter(&self) -> Filter<'_> {
        Filter { query: self.query.as_deref(), category: self.category.as_deref(), cli: self.cli.as_deref() }
    }

    /// The tool that takes the query, if that is a command line and there is no other filter.
    fn tool_of_line<'a>(&self, index: &'a ToolIndex) -> Option<ResolvedTool<'a>> {
        let named = self.query.as_deref().filter(|_| self.category.is_none() && self.cli.is_none());
        named.and_then(|line| tool_of_line(index, line))
    }
}

/// The results that a compact answer has by default.
const COMPACT_RESULTS: usize = 14;

/// Answers a search in lines.
fn compact_search(
    index: &ToolIndex,
    strategy: Strategy,
    arguments: &Map<String, Value>,
) -> Result<String, Vec<Violation>> {
    let asked = Asked::read(arguments)?;
    let Page { offset, limit } = asked.page;
    let is_given = arguments.get("limit").is_some_and(|limit| !limit.is_null() && limit.as_i64() != Some(0));
    let limit = if is_given { limit } else { COMPACT_RESULTS };
    let filter = asked.filter();
    if matches!(filter, Filter { query: None, category: None, cli: None }) {
        return Ok(summary_json(index, Page { offset, limit: asked.page.limit }));
    }
    Ok(compact::answer(index, strategy, filter, asked.tool_of_line(index), (offset, limit)))
}

/// The text of a compact answer.
#[cfg(feature = "budget")]
pub(crate) fn compact_text(index: &ToolIndex, strategy: Strategy, filter: Filter<'_>) -> String {
    compact::answer(index, strategy, filter, None, (0, COMPACT_RESULTS))
}

/// Answers a search with the text of its result.
pub(in crate::mcp) fn search(
    index: &ToolIndex,
    strategy: Strategy,
    detail: EntryDetail,
    arguments: &Map<String, Value>,
) -> Result<String, Vec<Violation>> {
    let asked = Asked::read(arguments)?;
    let (filter, page) = (asked.filter(), asked.page);

    match asked.tool_of_line(index) {
        Some(first) => {
            let found = first_of(first, index.search_by(strategy, filter, page.end()), page.end());
            Ok(search_json(&found, strategy, filter, page, detail))
        }
        None => Ok(result_text(index, strategy, filter, page, detail)),
    }
}

/// Returns the tool that takes a command line which a search has as its query.
///
/// The query must look like one: a sentence may start with a word that is a program too, such as `find`.
fn tool_of_line<'a>(index: &'a ToolIndex, query: &str) -> Option<ResolvedTool<'a>> {
    let context = LineContext {
        env: &exec::variable,
        names_program: &|first, word| first == word,
        unknown: &|_| None,
        glob: &|_, _, _| Ok(Vec::new()),
        write_mode: &|_, file_use| file_use.writes().then_some(WriteMode::Protected),
        input: Input::Nothing,
        explains: false,
    };
    let is_operand = |word: &str| word.starts_with(['-', '/', '.']) || word.contains(['*', '|', '=']);
    let read = read_line(index, query, None, context).ok()?;
    let tool = read.calls().next()?.1.tool;
    let has_subcommand = tool.cli().words().chain(tool.words()).filter(|word| !word.starts_with('-')).count() > 1;

    (has_subcommand || query.split_whitespace().skip(1).any(is_operand)).then_some(tool)
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
pub(in crate::mcp) enum EntryDetail {
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
        filter => search_json(&index.search_by(strategy, filter, page.end()), strategy, filter, page, detail),
    }
}

/// Joins the rendered entries of a page in `{"mode": "search", …}`.
fn search_json(
    found: &[ToolIndexEntry<'_>],
    strategy: Strategy,
    filter: Filter<'_>,
    page: Page,
    detail: EntryDetail,
) -> String {
    let exact = filter.query.map(str::trim).unwrap_or_default();
    let is_ranked =
        strategy == Strategy::Auto && matches!(filter, Filter { query: Some(_), category: None, cli: None });
    let entries = page.of(found);
    let size: usize = entries.iter().map(|entry| entry.as_json().len() + 24).sum();
    let mut json = String::with_capacity(size + 32);
    json.push_str(r#"{"mode":"search","results":["#);
    for (at, entry) in (page.offset..).zip(entries) {
        if at > page.offset {
            json.push(',');
        }
        let shown = match at {
            _ if entry.tool_name() == exact => ShownArgs::All,
            compact::WHOLE_TOOLS.. if is_ranked => ShownArgs::Required,
            _ => ShownArgs::Usual,
        };
        let entry_json = entry_json(*entry, shown);
        match (detail, entry_json.strip_suffix('}')) {
            (EntryDetail::WithRisk, Some(members)) => {
                let risk = Value::from(entry.tool().written_risk().map(Risk::as_str));
                // Writing to memory does not fail.
                let _ = write!(json, r#"{members},"risk":{risk}}}"#);
            }
            _ => json.push_str(&entry_json),
        }
    }
    json.push_str("]}");
    json
}

/// Which args the input schema of an entry has.
#[derive(Clone, Copy)]
enum ShownArgs {
    /// Those without which no call is valid.
    Required,
    /// Those that people use.
    Usual,
    All,
}

impl ShownArgs {
    fn has(self, tool: ResolvedTool<'_>, arg: ArgView<'_>) -> bool {
        let is_alternative =
            |group: GroupView<'_>| group.kind() == GroupKind::ExactlyOne && group.args().any(|name| name == arg.name());
        match self {
            Self::Required => arg.required() || arg.is_shown() && tool.groups().any(is_alternative),
            Self::Usual => arg.is_shown(),
            Self::All => true,
        }
    }
}

/// The start of an entry's input schema, which is its last member.
const SCHEMA_START: &str = r#""input_schema":{"type":"object","#;

/// An entry whose input schema has some of the args. It says how many it leaves out, and how to see them: by a search
/// for the tool's exact name.
fn entry_json(entry: ToolIndexEntry<'_>, shown: ShownArgs) -> Cow<'_, str> {
    let (json, tool) = (entry.as_json(), entry.tool());
    let is_shown = |arg: ArgView<'_>| shown.has(tool, arg);
    let is_as_stored = tool.agent_args().all(|arg| is_shown(arg) == arg.is_shown());
    let left_out = tool.agent_args().filter(|arg| !is_shown(*arg)).count();
    let Some((start, stored)) = json.split_once(SCHEMA_START).filter(|_| left_out > 0 || !is_as_stored) else {
        return json.into();
    };

    let other = (!is_as_stored).then(|| input_schema_with(tool, is_shown) + "}");
    let schema = other.as_deref().and_then(|other| other.strip_prefix(r#"{"type":"object","#)).unwrap_or(stored);
    let note = match left_out {
        0 => return format!("{start}{SCHEMA_START}{schema}").into(),
        1 => format!("1 more argument: search for {}.", tool.name()),
        count => format!("{count} more arguments: search for {}.", tool.name()),
    };
    match schema.strip_prefix(r#""description":""#) {
        Some(rest) => format!(r#"{start}{SCHEMA_START}"description":"{note} {rest}"#).into(),
        None => format!(r#"{start}{SCHEMA_START}"description":"{note}",{schema}"#).into(),
    }
}

/// `{"mode": "summary", …}` with a page of the CLIs.
fn summary_json(index: &ToolIndex, page: Page) -> String {
    let summary: Vec<Value> = index.summary().skip(page.offset).take(page.limit).map(cli_json).collect();
    json!({ "mode": "summary", "summary": summary }).to_string()
}
