//! Where a request comes from: what the transport and the trace say of it.

use rmcp::service::{RequestContext, RoleServer};

/// Longest trace state that is handed on, in bytes. Source: W3C Trace Context, section 3.3.1.5.
const MAX_TRACE_STATE_BYTES: usize = 512;

/// Bytes that stand for the caller, if the transport knows one.
#[cfg(feature = "http")]
pub(super) fn caller(context: &RequestContext<RoleServer>) -> Vec<u8> {
    use crate::call::caller::Caller;
    let caller = parts(context).and_then(|parts| parts.extensions.get::<Caller>());
    caller.map_or_else(Vec::new, |caller| caller.id().to_bytes())
}

#[cfg(not(feature = "http"))]
pub(super) fn caller(_: &RequestContext<RoleServer>) -> Vec<u8> {
    Vec::new()
}

/// The caller's name, for people; what tells callers apart is [`caller`].
#[cfg(feature = "http")]
pub(super) fn caller_name(context: &RequestContext<RoleServer>) -> Option<&str> {
    use crate::call::caller::Caller;
    parts(context)?.extensions.get::<Caller>().map(Caller::name).filter(|name| !name.is_empty())
}

#[cfg(not(feature = "http"))]
pub(super) fn caller_name(_: &RequestContext<RoleServer>) -> Option<&str> {
    None
}

/// The variables by which a program learns of the trace that its call belongs to.
///
/// Source: MCP SEP-414 for `_meta`, W3C Trace Context for the headers and their form.
pub(super) fn trace(context: &RequestContext<RoleServer>) -> Vec<(String, String)> {
    let named = |name: &str| context.meta.get(name).and_then(|value| value.as_str()).or_else(|| header(context, name));
    let Some(parent) = named("traceparent").filter(|parent| is_trace_parent(parent)) else { return Vec::new() };
    let state = named("tracestate").filter(|state| state.len() <= MAX_TRACE_STATE_BYTES && is_printable(state));
    let parent = ("TRACEPARENT".to_owned(), parent.to_owned());
    std::iter::once(parent).chain(state.map(|state| ("TRACESTATE".to_owned(), state.to_owned()))).collect()
}

#[cfg(feature = "http")]
fn header<'a>(context: &'a RequestContext<RoleServer>, name: &str) -> Option<&'a str> {
    parts(context)?.headers.get(name)?.to_str().ok()
}

#[cfg(not(feature = "http"))]
fn header<'a>(_: &'a RequestContext<RoleServer>, _: &str) -> Option<&'a str> {
    None
}

#[cfg(feature = "http")]
fn parts(context: &RequestContext<RoleServer>) -> Option<&hyper::http::request::Parts> {
    context.extensions.get()
}

/// `00-<32 hex digits>-<16 hex digits>-<2 hex digits>`.
fn is_trace_parent(text: &str) -> bool {
    let is_hex = |part: &str| part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let parts: Vec<&str> = text.split('-').collect();
    parts.iter().map(|part| part.len()).eq([2, 32, 16, 2]) && parts.iter().all(|part| is_hex(part))
}

fn is_printable(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_parent_has_its_form() {
        assert!(is_trace_parent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
        for text in [
            "",
            "00-0af7-b7-01",
            "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
        ] {
            assert!(!is_trace_parent(text), "{text}");
        }
    }
}
