//! What can be read: the CLIs that are served, tools whose output is a resource, and outputs that were too long for their
//! answer.
//!
//! Source: MCP 2025-11-25, server/resources.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use climax_catalog::uri::encoded;
use climax_catalog::{CliSummary, Filter, ResolvedTool, Strategy, ToolIndex};
use rmcp::model::{ErrorData, Resource, ResourceContents, ResourceTemplate};

use serde_json::{Map, Value};

use super::meta;
use super::output_store::{OutputReader, OutputStore, URI_START};
use crate::call::arguments::echo;

/// Bytes of an output that one request can read.
const MAX_RANGE_BYTES: usize = 256 << 10;

/// Longest URI of a resource, in bytes.
pub(crate) const MAX_URI_BYTES: usize = 8 << 10;

/// The start of the URIs of CLIs.
const CLI_URI_START: &str = "climax://cli/";
/// How the URIs of outputs look.
pub(super) const OUTPUT_TEMPLATE: &str = "climax://output/{id}{?offset,length}";
/// Items of a page of a list.
const PAGE: usize = 100;
const JSON: &str = "application/json";
pub(super) const TEXT: &str = "text/plain";

/// A page of the CLIs that are served, and of the tools whose output has one URI.
pub(super) fn list(index: &ToolIndex, cursor: Option<&str>) -> Result<Page<Resource>, ErrorData> {
    let clis = index.summary().map(|summary| {
        let name = summary.cli.name();
        let resource = Resource::new(format!("{CLI_URI_START}{}", encoded(name)), name).with_mime_type(JSON);
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

/// A page of how the URIs of outputs look, and those of tools that need to know more.
pub(super) fn templates(index: &ToolIndex, cursor: Option<&str>) -> Result<Page<ResourceTemplate>, ErrorData> {
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

/// Items of a list, and the cursor of the next ones if there are any.
pub(super) type Page<T> = (Vec<T>, Option<String>);

/// A page of a list; the cursor says how many items come before it.
///
/// # Errors
/// There are none at this cursor.
pub(super) fn page<T>(mut all: impl Iterator<Item = T>, cursor: Option<&str>) -> Result<Page<T>, ErrorData> {
    let unknown = || ErrorData::invalid_params("Unknown cursor: take the `nextCursor` of an earlier page", None);
    let start = cursor.map_or(Some(0), |cursor| cursor.parse::<usize>().ok()).ok_or_else(unknown)?;
    let mut rest = all.by_ref().skip(start);
    let items: Vec<T> = rest.by_ref().take(PAGE).collect();
    if start > 0 && items.is_empty() {
        return Err(unknown());
    }
    let next = rest.next().map(|_| (start + PAGE).to_string());
    Ok((items, next))
}

/// The tool that prints the resource of this URI, and its arguments.
pub(super) fn tool<'a>(index: &'a ToolIndex, uri: &str) -> Option<(ResolvedTool<'a>, Map<String, Value>)> {
    let (tool, values) = index.resource(uri)?;
    Some((tool, values.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()))
}

/// Refuses a URI that is too long to be any of ours.
pub(super) fn checked(uri: &str) -> Result<&str, ErrorData> {
    if uri.len() <= MAX_URI_BYTES {
        return Ok(uri);
    }
    let message = format!("The URI has {} bytes; none of a resource has more than {MAX_URI_BYTES}", uri.len());
    Err(ErrorData::invalid_params(message, None))
}

/// The URI by which the same output can be read, if the tool has one and these are all arguments that it says.
pub(super) fn uri(tool: ResolvedTool<'_>, arguments: &Map<String, Value>) -> Option<String> {
    let template = tool.resource_template()?;
    let is_said = |name: &str| template.variables().any(|variable| variable == name);
    if tool.agent_args().any(|arg| arguments.contains_key(arg.name()) && !is_said(arg.name())) {
        return None;
    }
    template.expand(|name| match arguments.get(name) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(value @ (Value::Number(_) | Value::Bool(_))) => Some(value.to_string()),
        _ => tool.args().find(|arg| arg.name() == name)?.default().map(str::to_owned),
    })
}

/// Whether there is a resource that can change at this URI.
pub(super) fn can_change(index: &ToolIndex, uri: &str) -> bool {
    cli(index, uri).is_some() || tool(index, uri).is_some()
}

fn cli<'a>(index: &'a ToolIndex, uri: &str) -> Option<CliSummary<'a>> {
    let name = uri.strip_prefix(CLI_URI_START)?;
    index.summary().find(|summary| encoded(summary.cli.name()) == name)
}

/// Reads what needs no program; `None` if there is nothing of that kind at this address.
///
/// # Errors
/// What follows the address is no range.
pub(super) fn read(
    index: &ToolIndex,
    kept: &OutputStore,
    owner: &OutputReader,
    uri: &str,
) -> Result<Option<ResourceContents>, ErrorData> {
    if uri.starts_with(CLI_URI_START) {
        let contents = |summary: CliSummary<'_>| {
            let filter = Filter { cli: Some(summary.cli.name()), ..Filter::default() };
            let text = meta::search_text(index, Strategy::Lexical, filter, usize::MAX);
            ResourceContents::text(text, uri).with_mime_type(JSON)
        };
        return Ok(cli(index, uri).map(contents));
    }
    if !uri.starts_with(URI_START) {
        return Ok(None);
    }
    let (output, query) = uri.split_once('?').unwrap_or((uri, ""));
    let range = Range::parse(query)?;
    Ok(kept.read(owner, output, |bytes, mime| match mime {
        Some(mime) if query.is_empty() => contents(uri, bytes, mime),
        _ => part(uri, range.of(bytes)),
    }))
}

/// A part of an output: text if it is, whole characters and all; else bytes.
fn part(uri: &str, bytes: &[u8]) -> ResourceContents {
    match std::str::from_utf8(bytes) {
        Ok(text) => ResourceContents::text(text, uri),
        Err(_) => ResourceContents::blob(BASE64_STANDARD.encode(bytes), uri).with_mime_type("application/octet-stream"),
    }
}

/// What a tool has printed, as the contents of a resource: text if it is, else bytes.
pub(super) fn contents(uri: &str, bytes: &[u8], mime: &str) -> ResourceContents {
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    let contents = match text {
        Some(text) => ResourceContents::text(text, uri),
        None => ResourceContents::blob(BASE64_STANDARD.encode(bytes), uri),
    };
    contents.with_mime_type(mime)
}

/// A part of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    offset: usize,
    length: usize,
}

impl Range {
    /// Reads `offset=BYTES&length=BYTES`, either of which may be absent.
    fn parse(query: &str) -> Result<Self, ErrorData> {
        let mut range = Self { offset: 0, length: MAX_RANGE_BYTES };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let place = match key {
                "offset" => &mut range.offset,
                "length" => &mut range.length,
                _ => return Err(bad_range(query)),
            };
            *place = value.parse().map_err(|_| bad_range(query))?;
        }
        Ok(range)
    }

    /// The bytes of the range, as far as there are any. An end within a character moves to the start of that.
    fn of(self, bytes: &[u8]) -> &[u8] {
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
    fn ranges_end_between_characters() {
        let text = "aäöz".as_bytes();
        let of = |query| Range::parse(query).unwrap().of(text);
        assert_eq!(of(""), text);
        assert_eq!(of("length=2"), b"a");
        assert_eq!(of("offset=1&length=2"), "ä".as_bytes());
        assert_eq!(of("offset=99"), b"");
        assert_eq!(of("length=0"), b"");
        assert!(Range::parse("offset=-1").is_err() && Range::parse("page=2").is_err());
    }
}
