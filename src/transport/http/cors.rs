//! What a browser is told for the web pages that may speak to the server (CORS). Pure.
//!
//! Only pages that `--allowed-origin` names: those of this machine are let in too, since not only browsers send an `Origin`, but a
//! browser does not show them the answers. Source: WHATWG Fetch, section 3.2, "CORS protocol".

use hyper::StatusCode;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, HeaderMap, HeaderValue,
    ORIGIN, VARY,
};

use super::answers::{Answer, bare};

/// How long a browser need not ask again, in seconds; none waits longer.
const MAX_AGE_S: u64 = 7200;

/// The answer that a page may make its request. Headers of the protocol have open names (`Mcp-Param-…`), so any may be sent.
pub(super) fn permission(headers: &HeaderMap) -> Answer {
    let mut answer = bare(StatusCode::NO_CONTENT);
    let told = answer.headers_mut();
    told.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
    if let Some(wanted) = headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        told.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    told.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from(MAX_AGE_S));
    answer
}

/// Lets a browser show an answer to the page.
pub(super) fn show(answer: &mut Answer, page: HeaderValue) {
    let told = answer.headers_mut();
    told.insert(ACCESS_CONTROL_ALLOW_ORIGIN, page);
    told.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("Mcp-Session-Id, WWW-Authenticate, Retry-After"),
    );
    told.append(VARY, HeaderValue::from(ORIGIN));
}
