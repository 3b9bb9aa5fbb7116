//! Response headers that let a browser show responses to web pages (CORS). Pure.
//!
//! Only pages that `--allowed-origin` names get them. Requests with a local `Origin` are answered too, since not only browsers send
//! that header, but a browser does not show the responses. Source: WHATWG Fetch, section 3.2, "CORS protocol".

use hyper::StatusCode;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, HeaderMap, HeaderValue,
    ORIGIN, VARY,
};

use super::responses::{HttpResponse, empty};

/// How long a browser may cache a preflight response, in seconds. No browser caches it longer.
const MAX_AGE_S: u64 = 7200;

/// The response to a preflight request. MCP has headers with open names (`Mcp-Param-…`), so all that it names are allowed.
pub(super) fn preflight_response(request: &HeaderMap) -> HttpResponse {
    let mut response = empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
    if let Some(requested) = request.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, requested.clone());
    }
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from(MAX_AGE_S));
    response
}

/// Adds the headers that let a browser show a response to pages of `origin`.
pub(super) fn allow_origin(response: &mut HttpResponse, origin: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("Mcp-Session-Id, WWW-Authenticate, Retry-After"),
    );
    headers.append(VARY, HeaderValue::from(ORIGIN));
}
