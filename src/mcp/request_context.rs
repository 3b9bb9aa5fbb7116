//! The caller and the trace of a request.

use std::sync::Arc;

use rmcp::service::{RequestContext, RoleServer};
use tokio_util::sync::CancellationToken;

use crate::call::caller::Caller;
use crate::call::space::Claim;
use crate::exec::Transcript;

/// The longest trace state that programs get, in bytes. Source: W3C Trace Context, section 3.3.1.5.
const MAX_TRACE_STATE_BYTES: usize = 512;

/// The longest baggage that programs get, in bytes. Source: W3C Baggage, section 3.3.2.
const MAX_BAGGAGE_BYTES: usize = 8_192;

/// Bytes that identify the caller; empty if the transport knows none.
pub(super) fn caller_identity(context: &RequestContext<RoleServer>) -> Vec<u8> {
    let caller = http::caller(context);
    caller.map_or_else(Vec::new, |caller| caller.id().to_bytes())
}

tokio::task_local! {
    /// The identity of the caller whose request is answered.
    static ACTING_FOR: Vec<u8>;
}

/// Answers a request by `answer`, in which [`acting_caller`] is the request's caller.
pub(super) async fn acting_for<T>(context: &RequestContext<RoleServer>, answer: impl Future<Output = T>) -> T {
    ACTING_FOR.scope(caller_identity(context), answer).await
}

/// Bytes that identify the caller for whom a native tool runs; empty if the transport knows none.
pub(super) fn acting_caller() -> Vec<u8> {
    ACTING_FOR.try_with(Vec::clone).unwrap_or_default()
}

/// The name of the caller, for people. Two callers can have one name, but not one [`caller_identity`].
pub(super) fn caller_name(context: &RequestContext<RoleServer>) -> Option<&str> {
    http::caller(context).map(Caller::name).filter(|name| !name.is_empty())
}

/// The space that the transport has for the result of a request; `None` if it does not count results.
pub(super) fn space(context: &RequestContext<RoleServer>) -> Option<&Claim> {
    context.extensions.get::<Arc<Claim>>().map(AsRef::as_ref).or_else(|| http::space(context))
}

/// What a call needs that may go on after its request.
#[derive(Debug, Default)]
pub(super) struct Detaching {
    /// What its program prints.
    pub(super) transcript: Arc<Transcript>,
    /// Cancelled when the request is answered before the call has ended.
    pub(super) detached: CancellationToken,
    /// Cancelled when only the commands in the background of a line go on; `None` if they do not.
    pub(super) goes_on: Option<CancellationToken>,
}

/// What the call of a request needs to go on after it; `None` if it does not go on.
pub(super) fn detaching(context: &RequestContext<RoleServer>) -> Option<&Detaching> {
    context.extensions.get::<Arc<Detaching>>().map(AsRef::as_ref)
}

/// Waits until the request is cancelled, or answered before its call has ended.
pub(super) async fn left(context: &RequestContext<RoleServer>) {
    match detaching(context) {
        None => context.ct.cancelled().await,
        Some(detaching) => tokio::select! {
            () = context.ct.cancelled() => {}
            () = detaching.detached.cancelled() => {}
        },
    }
}

/// The environment variables that pass the trace of a request and its baggage on to the program of its call.
///
/// Source: MCP SEP-414 for `_meta`, W3C Trace Context and Baggage for the headers and their form, OpenTelemetry's
/// "Environment Variables as Context Propagation Carriers" for the names.
pub(super) fn trace(context: &RequestContext<RoleServer>) -> Vec<(String, String)> {
    let named =
        |name: &str| context.meta.get(name).and_then(|value| value.as_str()).or_else(|| http::header(context, name));
    let short = |name: &str, most: usize| named(name).filter(|value| value.len() <= most && is_printable(value));
    let parent = named("traceparent").filter(|parent| is_trace_parent(parent));
    let state = parent.and_then(|_| short("tracestate", MAX_TRACE_STATE_BYTES));
    let variables = [("TRACEPARENT", parent), ("TRACESTATE", state), ("BAGGAGE", short("baggage", MAX_BAGGAGE_BYTES))];
    variables.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect()
}

/// What an HTTP request says besides its body.
#[cfg(feature = "http")]
mod http {
    use std::sync::Arc;

    use hyper::http::request::Parts;
    use rmcp::service::{RequestContext, RoleServer};

    use crate::call::caller::Caller;
    use crate::call::space::Claim;

    pub(super) fn space(context: &RequestContext<RoleServer>) -> Option<&Claim> {
        context.extensions.get::<Parts>()?.extensions.get::<Arc<Claim>>().map(AsRef::as_ref)
    }

    pub(super) fn caller(context: &RequestContext<RoleServer>) -> Option<&Caller> {
        context.extensions.get::<Parts>()?.extensions.get()
    }

    pub(super) fn header<'a>(context: &'a RequestContext<RoleServer>, name: &str) -> Option<&'a str> {
        context.extensions.get::<Parts>()?.headers.get(name)?.to_str().ok()
    }
}

/// Without HTTP there are no callers, no headers and no space of a request.
#[cfg(not(feature = "http"))]
mod http {
    use rmcp::service::{RequestContext, RoleServer};

    use crate::call::caller::Caller;
    use crate::call::space::Claim;

    pub(super) fn space(_: &RequestContext<RoleServer>) -> Option<&Claim> {
        None
    }

    pub(super) fn caller(_: &RequestContext<RoleServer>) -> Option<&Caller> {
        None
    }

    pub(super) fn header<'a>(_: &'a RequestContext<RoleServer>, _: &str) -> Option<&'a str> {
        None
    }
}

/// Returns whether a text has the form `00-<32 hex digits>-<16 hex digits>-<2 hex digits>`.
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
    fn malformed_trace_parents_are_rejected() {
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
