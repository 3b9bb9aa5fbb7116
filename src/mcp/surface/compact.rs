//! `climax_search` with compact answers: the best tools whole, as signatures, and the next ones by name.
//!
//! Source: `docs/contract.md`, `climax_search`, "Compact answers".

use std::fmt::Write as _;

use climax_catalog::{ArgView, Filter, ResolvedTool, Risk, Shape, Strategy, ToolIndex, ToolIndexEntry};

/// Tools of an answer that show the args which people use; later ones are less likely to be what is meant.
pub(super) const WHOLE_TOOLS: usize = 2;
/// Values of an arg that a signature lists.
const LISTED_VALUES: usize = 12;
/// Bytes of a sentence about a tool that is only named.
const SENTENCE_BYTES: usize = 90;
/// Tools that are counted beyond those of the answer.
const COUNTED_TOOLS: usize = 100;
/// Words that nothing knows, of which an empty answer names so many.
const NAMED_WORDS: usize = 5;

/// The text of an answer: `offset` tools are skipped, `limit` are shown or named.
pub(super) fn answer(
    index: &ToolIndex,
    strategy: Strategy,
    filter: Filter<'_>,
    first: Option<ResolvedTool<'_>>,
    (offset, limit): (usize, usize),
) -> String {
    if let Some(tool) = filter.query.and_then(|query| index.get(query.trim())).filter(|_| offset == 0 && limit > 0) {
        return whole(tool, Args::All);
    }

    let mut found = index.search_deep(strategy, filter, COUNTED_TOOLS.max(offset.saturating_add(limit)));
    if let Some(first) = first {
        found.retain(|entry| entry.tool_name() != first.name());
        found.insert(0, first.entry());
    }
    if found.is_empty() {
        return nothing(index, filter);
    }

    let page: Vec<ToolIndexEntry<'_>> = found.iter().skip(offset).take(limit).copied().collect();
    let whole_count = if offset == 0 { WHOLE_TOOLS.min(page.len()) } else { 0 };
    let mut lines: Vec<String> = page[..whole_count].iter().map(|entry| whole(entry.tool(), Args::Shown)).collect();
    lines.extend(page[whole_count..].iter().map(|entry| named(*entry)));
    let left = found.len().saturating_sub(offset.saturating_add(page.len()));
    if page.len() > whole_count || left > 0 {
        let more = if left > 0 { format!("{left} more with offset {}. ", offset + page.len()) } else { String::new() };
        lines.push(format!("{more}Search for a tool's exact name to see its arguments."));
    }

    lines.join("\n")
}

/// Which args a signature has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Args {
    /// Those that people use.
    Shown,
    All,
}

/// A tool as one line: its signature, risk and description.
fn whole(tool: ResolvedTool<'_>, args: Args) -> String {
    let all = || tool.agent_args().filter(|arg| arg.fixed().is_none());
    let listed: Vec<String> = all().filter(|arg| args == Args::All || arg.is_shown()).map(parameter).collect();
    let hidden = all().count() - listed.len();
    let mut line = format!("{}({})", tool.name(), listed.join(", "));
    if let Some(risk) = tool.written_risk().filter(|risk| *risk != Risk::Read) {
        let _ = write!(line, " [{}]", risk.as_str());
    }
    let _ = write!(line, ": {}", tool.description().trim());
    if hidden > 0 {
        let _ = write!(line, " ({hidden} more arguments: search for {})", tool.name());
    }

    line
}

/// An arg as `name?: type = default /* description */`.
fn parameter(arg: ArgView<'_>) -> String {
    let mut text = arg.name().to_owned();
    if !arg.required() {
        text.push('?');
    }

    let values: Vec<&str> = arg.values().collect();
    let kind = match arg.kind().as_str() {
        _ if (1..=LISTED_VALUES).contains(&values.len()) => values.join("|"),
        kind => kind.to_owned(),
    };
    let _ = match arg.shape() {
        Shape::Single | Shape::Count => write!(text, ": {kind}"),
        Shape::List(_) | Shape::Rest(_) => write!(text, ": [{kind}]"),
        Shape::Map(_) => write!(text, ": {{string: {kind}}}"),
    };
    if let Some(default) = arg.default() {
        let _ = write!(text, " = {default}");
    }

    let values = match values.len() {
        count if count > LISTED_VALUES => format!("one of {count}, such as {}. ", values[..3].join(", ")),
        _ => String::new(),
    };
    let about = format!("{values}{}", arg.description().trim()).replace("*/", "* /");
    if !about.is_empty() {
        let _ = write!(text, " /* {about} */");
    }
    text
}

/// A tool by its name, with the first sentence of its description.
fn named(entry: ToolIndexEntry<'_>) -> String {
    let text = entry.description().trim();
    let sentence = text.find(". ").map_or(text, |end| &text[..end]).trim_end_matches('.');
    if sentence.len() <= SENTENCE_BYTES {
        return format!("{}: {sentence}", entry.tool_name());
    }
    let cut = &sentence[..sentence.floor_char_boundary(SENTENCE_BYTES)];
    let cut = cut.rfind(' ').map_or(cut, |end| &cut[..end]);
    format!("{}: {cut} …", entry.tool_name())
}

/// What an empty answer says: which words nothing knows, and what to try.
fn nothing(index: &ToolIndex, filter: Filter<'_>) -> String {
    let mut text = String::from("No tool was found.");
    let unknown = filter.query.map(|query| index.unmatched_words(query)).unwrap_or_default();
    if !unknown.is_empty() {
        let words: Vec<String> = unknown.iter().take(NAMED_WORDS).map(|word| format!("`{word}`")).collect();
        let _ = write!(text, " No tool knows {}.", words.join(", "));
    }
    if let Some(cli) = filter.cli.filter(|cli| index.summary().all(|one| !one.cli.name().eq_ignore_ascii_case(cli))) {
        let _ = write!(text, " There is no CLI `{cli}`.");
    }
    text.push_str(
        " Say in other words what is to be done, or name a program; without arguments the search lists the CLIs: ",
    );
    let names: Vec<&str> = index.summary().map(|summary| summary.cli.name()).take(COUNTED_TOOLS / 2).collect();
    text.push_str(&names.join(", "));
    text.push('.');
    text
}
