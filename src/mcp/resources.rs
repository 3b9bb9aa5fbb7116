//! What can be read: the CLIs that are served, and outputs that were too long for their answer.
//!
//! Source: MCP 2025-11-25, server/resources.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use climax_catalog::{CliSummary, Filter, Strategy, ToolIndex};
use rmcp::model::{ErrorData, ListResourcesResult, Resource, ResourceContents, ResourceTemplate};

use super::kept::{Kept, Owner, URI_START};
use super::meta;
use crate::arguments::echo;
use crate::limits::MAX_RANGE_BYTES;

/// The start of the URIs of CLIs.
const CLI_URI_START: &str = "climax://cli/";
/// Resources of a page.
const PAGE: usize = 100;
const JSON: &str = "application/json";

/// A page of the CLIs that are served.
pub(super) fn list(index: &ToolIndex, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let unknown = || ErrorData::invalid_params("Unknown cursor: take the `nextCursor` of an earlier page", None);
    let start = cursor.map_or(Some(0), |cursor| cursor.parse::<usize>().ok()).ok_or_else(unknown)?;
    let mut clis = index.summary().skip(start);
    let resources: Vec<Resource> = clis
        .by_ref()
        .take(PAGE)
        .map(|summary| {
            let name = summary.cli.name();
            let resource = Resource::new(format!("{CLI_URI_START}{}", encoded(name)), name).with_mime_type(JSON);
            match summary.cli.description() {
                "" => resource,
                description => resource.with_description(description),
            }
        })
        .collect();
    if start > 0 && resources.is_empty() {
        return Err(unknown());
    }
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor = clis.next().map(|_| (start + PAGE).to_string());
    Ok(result)
}

/// How the URIs of outputs look.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let description = format!(
        "Output of a call that was too long for its answer; the URI is in the answer. A read gets {MAX_RANGE_BYTES} bytes \
         at most, from offset 0 unless it is given"
    );
    let output = ResourceTemplate::new(format!("{URI_START}{{id}}{{?offset,length}}"), "output");
    vec![output.with_title("Output of a call").with_description(description)]
}

/// Reads a resource; `None` if there is none at this address.
///
/// # Errors
/// What follows the address is no range.
pub(super) fn read(
    index: &ToolIndex,
    kept: &Kept,
    owner: &Owner,
    uri: &str,
) -> Result<Option<ResourceContents>, ErrorData> {
    if let Some(name) = uri.strip_prefix(CLI_URI_START) {
        let found = index.summary().find(|summary| encoded(summary.cli.name()) == name);
        let contents = |summary: CliSummary<'_>| {
            let filter = Filter { cli: Some(summary.cli.name()), ..Filter::default() };
            let text = meta::search_text(index, Strategy::Lexical, filter, usize::MAX);
            ResourceContents::text(text, uri).with_mime_type(JSON)
        };
        return Ok(found.map(contents));
    }
    let (output, query) = uri.split_once('?').unwrap_or((uri, ""));
    let range = Range::parse(query)?;
    Ok(kept.read(owner, output, |bytes| contents(uri, range.of(bytes))))
}

/// Text if it is, whole characters and all; else bytes.
fn contents(uri: &str, bytes: &[u8]) -> ResourceContents {
    match std::str::from_utf8(bytes) {
        Ok(text) => ResourceContents::text(text, uri),
        Err(_) => ResourceContents::blob(BASE64_STANDARD.encode(bytes), uri).with_mime_type("application/octet-stream"),
    }
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

/// A name as a part of a URI. Source: RFC 3986, section 2.3.
fn encoded(name: &str) -> String {
    name.bytes().fold(String::new(), |mut text, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            // Writing to memory does not fail.
            let _ = write!(text, "%{byte:02X}");
        }
        text
    })
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
