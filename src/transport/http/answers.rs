//! Answers that the SDK does not make, and those of the SDK that no client of the protocol could read.

use std::convert::Infallible;
use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _, stream};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, BodyStream, Full, StreamBody};
use hyper::body::Bytes;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};
use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage};

pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// What a request without a session is told, besides what the SDK says.
const NO_SESSION: &str = "initialize opens a session, whose Mcp-Session-Id goes with each request; from revision 2026-07-28 on \
                          requests name the revision and the capabilities in params._meta instead";

pub(super) fn plain(status: StatusCode, text: &str) -> Answer {
    let ending = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    with_type(status, format!("{text}{ending}"), "text/plain; charset=utf-8")
}

pub(super) fn json(status: StatusCode, text: String) -> Answer {
    with_type(status, text, "application/json")
}

/// The answer to another method for what can only be read.
pub(super) fn readable_only() -> Answer {
    let mut answer = plain(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed: expected GET or HEAD");
    answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    answer
}

/// An error of the protocol.
pub(super) fn error(status: StatusCode, error: &ServerJsonRpcMessage) -> Answer {
    // A message of ours can be printed.
    json(status, serde_json::to_string(error).unwrap_or_default())
}

/// An answer that names the time after which it is worth asking again.
pub(super) fn later(status: StatusCode, text: &str, wait: Duration) -> Answer {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    let mut answer = plain(status, &format!("{text}; try again in {seconds} s"));
    answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    answer
}

/// The answer of the SDK to a message, as an error of the protocol if it is a refusal in plain text.
pub(super) async fn spoken(answer: Answer, id: Option<RequestId>) -> Answer {
    let status = answer.status();
    if status.as_u16() < 400 || answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json") {
        return answer;
    }
    let (parts, body) = answer.into_parts();
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
    let mut answer = error(status, &ServerJsonRpcMessage::error(data, id));
    for (name, value) in &parts.headers {
        answer.headers_mut().entry(name).or_insert_with(|| value.clone());
    }
    answer
}

/// An answer that holds something until the last of it is on its way, or the client has gone.
pub(super) fn holding<T: Send + Sync + 'static>(answer: Answer, held: T) -> Answer {
    answer.map(|body| {
        body.map_frame(move |frame| {
            let _ = &held;
            frame
        })
        .boxed()
    })
}

/// A stream that a client has come back to, or 204 if nothing is left of it: the client is not to come back again.
///
/// Without this each call that was cancelled, or refused with an error of the protocol, costs a connection for as long as its session
/// lasts: clients such as the TypeScript SDK take a stream without a result for a broken one, and an empty one for broken again.
///
/// Source: HTML, section 9.2.1, "Server-sent events": 204 tells a client to stop reconnecting.
pub(super) fn resumed(mut answer: Answer) -> Answer {
    match answer.body_mut().frame().now_or_never() {
        _ if answer.status() != StatusCode::OK => answer,
        Some(None) => bare(StatusCode::NO_CONTENT),
        Some(Some(first)) => answer.map(|rest| {
            let frames = stream::iter([first]).chain(BodyStream::new(rest));
            BoxBody::new(StreamBody::new(frames))
        }),
        None => answer,
    }
}

/// An answer without a text.
pub(super) fn bare(status: StatusCode) -> Answer {
    with_body(status, Bytes::new())
}

fn with_type(status: StatusCode, text: String, kind: &'static str) -> Answer {
    let mut answer = with_body(status, Bytes::from(text));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

fn with_body(status: StatusCode, text: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(text).boxed());
    *answer.status_mut() = status;
    answer
}
