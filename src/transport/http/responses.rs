//! HTTP responses that the SDK does not make, and changes to those that it makes.

use std::convert::Infallible;
use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _, stream};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, BodyStream, Full, StreamBody};
use hyper::body::Bytes;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};
use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage};

pub(super) type HttpResponse = Response<BoxBody<Bytes, Infallible>>;

/// Added to the SDK's error for a request without a session.
const NO_SESSION: &str = "initialize opens a session, whose Mcp-Session-Id goes with each request; from revision 2026-07-28 on \
                          requests name the revision and the capabilities in params._meta instead";

/// A response of plain text, which ends with a newline.
pub(super) fn plain(status: StatusCode, text: &str) -> HttpResponse {
    let ending = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    with_type(status, format!("{text}{ending}"), "text/plain; charset=utf-8")
}

pub(super) fn json(status: StatusCode, text: String) -> HttpResponse {
    with_type(status, text, "application/json")
}

/// The response to other methods than GET and HEAD for a resource that has only these.
pub(super) fn method_not_allowed() -> HttpResponse {
    let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed: expected GET or HEAD");
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    response
}

/// A JSON-RPC error.
pub(super) fn json_rpc_error(status: StatusCode, error: &ServerJsonRpcMessage) -> HttpResponse {
    // Our own messages can be serialized.
    json(status, serde_json::to_string(error).unwrap_or_default())
}

/// A response that names the time after which the client may retry, in whole seconds.
pub(super) fn retry_after(status: StatusCode, text: &str, wait: Duration) -> HttpResponse {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    let mut response = plain(status, &format!("{text}; try again in {seconds} s"));
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// Turns an error of the SDK in plain text, which MCP clients cannot read, into a JSON-RPC error for the request `id`.
pub(super) async fn as_json_rpc(response: HttpResponse, id: Option<RequestId>) -> HttpResponse {
    let status = response.status();
    if status.as_u16() < 400 || response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json") {
        return response;
    }

    let (parts, body) = response.into_parts();
    let Ok(text) = body.collect().await.map(http_body_util::Collected::to_bytes);
    let mut text = String::from_utf8_lossy(&text).into_owned();
    if text.ends_with("Session ID is required") {
        text = format!("{text}: {NO_SESSION}");
    }

    let data = if status.is_server_error() {
        ErrorData::internal_error(text, None)
    } else {
        ErrorData::invalid_request(text, None)
    };
    let mut response = json_rpc_error(status, &ServerJsonRpcMessage::error(data, id));
    for (name, value) in &parts.headers {
        response.headers_mut().entry(name).or_insert_with(|| value.clone());
    }

    response
}

/// Holds `guard` until the response is sent or its client has disconnected.
pub(super) fn hold_until_sent<T: Send + Sync + 'static>(response: HttpResponse, guard: T) -> HttpResponse {
    response.map(|body| {
        body.map_frame(move |frame| {
            let _ = &guard;
            frame
        })
        .boxed()
    })
}

/// A resumed stream, or status 204 if nothing is left of it, so that the client does not reconnect.
///
/// Some clients, such as the TypeScript SDK, take a stream without a result for a broken one and reconnect, also to an empty stream.
/// Without this, each call that was cancelled or refused costs a connection as long as its session lasts.
///
/// Source: HTML, section 9.2.1, "Server-sent events": 204 makes a client stop reconnecting.
pub(super) fn resumed_stream(mut response: HttpResponse) -> HttpResponse {
    match response.body_mut().frame().now_or_never() {
        _ if response.status() != StatusCode::OK => response,
        Some(None) => empty(StatusCode::NO_CONTENT),
        Some(Some(first)) => response.map(|rest| {
            let frames = stream::iter([first]).chain(BodyStream::new(rest));
            BoxBody::new(StreamBody::new(frames))
        }),
        None => response,
    }
}

/// A response without a body.
pub(super) fn empty(status: StatusCode) -> HttpResponse {
    with_body(status, Bytes::new())
}

fn with_type(status: StatusCode, text: String, kind: &'static str) -> HttpResponse {
    let mut response = with_body(status, Bytes::from(text));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn with_body(status: StatusCode, body: Bytes) -> HttpResponse {
    let mut response = Response::new(Full::new(body).boxed());
    *response.status_mut() = status;
    response
}
