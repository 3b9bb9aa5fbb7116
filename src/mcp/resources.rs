//! Resources: CLIs, outputs of tools with a `resource`, and stored outputs of calls.
//!
//! Source: MCP 2025-11-25, server/resources; `docs/contract.md`, "Modes", "Resources".

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use climax_catalog::uri::encoded;
use climax_catalog::{CliSummary, Filter, ResolvedTool, Strategy, ToolIndex};
use rmcp::model::{ErrorData, Resource, ResourceContents, ResourceTemplate};

use serde_json::{Map, Value};

use super::output_store::{OUTPUT_URI_PREFIX, OutputReader, OutputStore};
use super::surface::search_text;
use crate::call::arguments::echo;
use crate::call::visible::TextForm;

/// The most bytes of an output that one request can read.
const MAX_RANGE_BYTES: usize = 256 << 10;

/// The longest URI of a resource, in bytes.
pub(crate) const MAX_URI_BYTES: usize = 8 << 10;

/// The start of the URIs of CLIs.
const CLI_URI_PREFIX: &str = "climax://cli/";
/// The template of the URIs of stored outputs.
pub(super) const OUTPUT_TEMPLATE: &str = "climax://output/{id}{?offset,length}";
/// The most items on a page of resources, resource templates or prompts.
const MAX_PAGE_ITEMS: usize = 100;
const JSON: &str = "application/json";
pub(super) const TEXT: &str = "text/plain";

/// A page of the resources: the CLIs, then the tools whose `resource` has no variables.
pub(super) fn list(index: &ToolIndex, cursor: Option<&str>) -> Result<ListPage<Resource>, ErrorData> {
    let clis = index.summary().map(|summary| {
        let name = summary.cli.name();
        let resource = Resource::new(format!("{CLI_URI_PREFIX}{}", encoded(name)), name).with_mime_type(JSON);
        match summary.cli.description() {
            "" => resource,
            description => resource.with_description(description),
        }
    });
    let tools = index.resources().filter_map(|tool| {
        let template = tool.resource_template().filter(|template| template.variables().next().is_none())?;
        let resource = Resource::new(template.start(), tool.name());
        let resource = tool.title().into_iter().fold(resource, Resource::with_title);
        Some(resource.with_mime_type(tool.output().unwrap_or(TEXT)).with_description(tool.description()))
    });
    page(clis.chain(tools), cursor)
}

/// A page of the resource templates: that of stored outputs, then the tools whose `resource` has variables.
pub(super) fn templates(index: &ToolIndex, cursor: Option<&str>) -> Result<ListPage<ResourceTemplate>, ErrorData> {
    let description = format!(
        "Output of a call that was too long for its answer; the URI is in the answer. A read gets {MAX_RANGE_BYTES} bytes \
         at most, from offset 0 unless it is given"
    );
    let output = ResourceTemplate::new(OUTPUT_TEMPLATE, "output");
    let output = output.with_title("Output of a call").with_description(description);
    let tools = index.resources().filter_map(|tool| {
        tool.resource_template()?.variables().next()?;
        let template = ResourceTemplate::new(tool.resource()?, tool.name());
        let template = tool.title().into_iter().fold(template, ResourceTemplate::with_title);
        Some(template.with_mime_type(tool.output().unwrap_or(TEXT)).with_description(tool.description()))
    });
    page(std::iter::once(output).chain(tools), cursor)
}

/// The items of a page, and the cursor of the next page if there is one.
pub(super) type ListPage<T> = (Vec<T>, Option<String>);

/// A page of a list. A cursor is the number of items before its page.
///
/// # Errors
/// The cursor is no number, or has no items after it.
pub(super) fn page<T>(mut all: impl Iterator<Item = T>, cursor: Option<&str>) -> Result<ListPage<T>, ErrorData> {
    let unknown = || ErrorData::invalid_params("Unknown cursor: take the `nextCursor` of an earlier page", None);
    let start = cursor.map_or(Some(0), |cursor| cursor.parse::<usize>().ok()).ok_or_else(unknown)?;
    let mut rest = all.by_ref().skip(start);
    let items: Vec<T> = rest.by_ref().take(MAX_PAGE_ITEMS).collect();
    if start > 0 && items.is_empty() {
        return Err(unknown());
    }

    let next = rest.next().map(|_| (start + MAX_PAGE_ITEMS).to_string());
    Ok((items, next))
}

/// The tool whose output is the resource of this URI, with its arguments.
pub(super) fn tool<'a>(index: &'a ToolIndex, uri: &str) -> Option<(ResolvedTool<'a>, Map<String, Value>)> {
    let (tool, values) = index.resource(uri)?;
    Some((tool, values.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()))
}

/// Returns the URI.
///
/// # Errors
/// The URI is longer than [`MAX_URI_BYTES`].
pub(super) fn check_length(uri: &str) -> Result<&str, ErrorData> {
    if uri.len() <= MAX_URI_BYTES {
        return Ok(uri);
    }
    let message = format!("The URI has {} bytes; none of a resource has more than {MAX_URI_BYTES}", uri.len());
    Err(ErrorData::invalid_params(message, None))
}

/// The URI under which clients can read the output of this call. `None` if the tool has no resource, or if its template
/// lacks a variable for one of the arguments.
pub(super) fn uri(tool: ResolvedTool<'_>, arguments: &Map<String, Value>) -> Option<String> {
    let template = tool.resource_template()?;
    let is_variable = |name: &str| template.variables().any(|variable| variable == name);
    if tool.agent_args().any(|arg| arguments.contains_key(arg.name()) && !is_variable(arg.name())) {
        return None;
    }

    template.expand(|name| match arguments.get(name) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(value @ (Value::Number(_) | Value::Bool(_))) => Some(value.to_string()),
        _ => tool.args().find(|arg| arg.name() == name)?.default().map(str::to_owned),
    })
}

/// Returns whether this URI is of a resource whose contents can change.
pub(super) fn can_change(index: &ToolIndex, uri: &str) -> bool {
    cli(index, uri).is_some() || tool(index, uri).is_some()
}

fn cli<'a>(index: &'a ToolIndex, uri: &str) -> Option<CliSummary<'a>> {
    let name = uri.strip_prefix(CLI_URI_PREFIX)?;
    index.summary().find(|summary| encoded(summary.cli.name()) == name)
}

/// Reads a CLI or a stored output. Returns `None` if neither has this URI.
///
/// # Errors
/// The query of the URI is no range.
pub(super) fn read(
    index: &ToolIndex,
    outputs: &OutputStore,
    reader: &OutputReader,
    uri: &str,
    form: TextForm,
) -> Result<Option<ResourceContents>, ErrorData> {
    if uri.starts_with(CLI_URI_PREFIX) {
        let contents = |summary: CliSummary<'_>| {
            let filter = Filter { cli: Some(summary.cli.name()), ..Filter::default() };
            let text = search_text(index, Strategy::Lexical, filter, usize::MAX);
            ResourceContents::text(text, uri).with_mime_type(JSON)
        };
        return Ok(cli(index, uri).map(contents));
    }

    if !uri.starts_with(OUTPUT_URI_PREFIX) {
        return Ok(None);
    }

    let (output, query) = uri.split_once('?').unwrap_or((uri, ""));
    let range = ByteRange::parse(query)?;

    Ok(outputs.read(reader, output, |bytes, mime| match mime {
        Some(mime) if query.is_empty() => contents(uri, bytes, mime),
        _ => part(uri, range.slice(bytes), form),
    }))
}

/// The contents of a part of an output: text if the part is UTF-8, else bytes.
fn part(uri: &str, bytes: &[u8], form: TextForm) -> ResourceContents {
    match std::str::from_utf8(bytes) {
        Ok(text) => ResourceContents::text(form.apply(text), uri),
        Err(_) => ResourceContents::blob(BASE64_STANDARD.encode(bytes), uri).with_mime_type("application/octet-stream"),
    }
}

/// The contents of a resource without a media type: its text in the form of results, or bytes if it is no text.
pub(super) fn text_contents(uri: &str, bytes: &[u8], form: TextForm) -> ResourceContents {
    match std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0')) {
        Some(text) => contents(uri, form.apply(text).as_bytes(), TEXT),
        None => contents(uri, bytes, TEXT),
    }
}

/// The contents of a resource: text if the bytes are UTF-8 without NUL, else bytes.
pub(super) fn contents(uri: &str, bytes: &[u8], mime: &str) -> ResourceContents {
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    let contents = match text {
        Some(text) => ResourceContents::text(text, uri),
        None => ResourceContents::blob(BASE64_STANDARD.encode(bytes), uri),
    };
    contents.with_mime_type(mime)
}

/// The part of an output that a request reads, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ByteRange {
    offset: usize,
    length: usize,
}

impl ByteRange {
    /// Parses `offset=BYTES&length=BYTES`. Either part may be absent.
    fn parse(query: &str) -> Result<Self, ErrorData> {
        let mut range = Self { offset: 0, length: MAX_RANGE_BYTES };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let number = match key {
                "offset" => &mut range.offset,
                "length" => &mut range.length,
                _ => return Err(bad_range(query)),
            };
            *number = value.parse().map_err(|_| bad_range(query))?;
        }

        Ok(range)
    }

    /// The bytes of the range. They end earlier where the output ends, and where the range would split a UTF-8 character.
    fn slice(self, bytes: &[u8]) -> &[u8] {
        let rest = bytes.get(self.offset..).unwrap_or_default();
        let end = self.length.min(MAX_RANGE_BYTES).min(rest.len());
        let is_start = |at: &usize| rest.get(*at).is_none_or(|byte| byte & 0b1100_0000 != 0b1000_0000);
        let whole = (end.saturating_sub(3)..=end).rev().find(is_start).filter(|end| *end > 0);
        &rest[..whole.unwrap_or(end)]
    }
}

fn bad_range(query: &str) -> ErrorData {
    let found = echo(query);
    ErrorData::invalid_params(
        format!("Expected `?offset=BYTES&length=BYTES` after the resource, found `?{found}`"),
        None,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_split_no_character() {
        let text = "aäöz".as_bytes();
        let slice = |query| ByteRange::parse(query).unwrap().slice(text);
        assert_eq!(slice(""), text);
        assert_eq!(slice("length=2"), b"a");
        assert_eq!(slice("offset=1&length=2"), "ä".as_bytes());
        assert_eq!(slice("offset=99"), b"");
        assert_eq!(slice("length=0"), b"");
        assert!(ByteRange::parse("offset=-1").is_err() && ByteRange::parse("page=2").is_err());
    }
}
