//! Checks the head of a request: its length, and headers that may stand there only once. Pure.
//!
//! The HTTP library limits what it has buffered of an incomplete head. One read may exceed that, so the length is checked here again.

use std::fmt;

use hyper::header::{CONTENT_ENCODING, HeaderMap, HeaderValue};
use hyper::{Request, StatusCode};

/// Bytes of the head of an HTTP request.
pub(crate) const MAX_HEAD_BYTES: usize = 32 << 10;

/// Bytes around the name and value of a header: a colon, a space and the end of the line.
const HEADER_OVERHEAD: usize = 4;

/// Headers that decide how a request is handled. With two of them, a proxy may have read the other one.
const SINGLE: &[&str] = &["content-type", "mcp-protocol-version", "mcp-session-id"];

/// The reason why a head is refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum HeadError {
    /// It has this number of bytes.
    TooLong(usize),
    /// It has this header twice.
    Duplicate(&'static str),
    /// The body is encoded.
    Encoded,
}

impl HeadError {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::TooLong(_) => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::Duplicate(_) => StatusCode::BAD_REQUEST,
            Self::Encoded => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        }
    }
}

impl fmt::Display for HeadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong(found) => write!(
                f,
                "The head of the request has {found} bytes, expected {MAX_HEAD_BYTES} at most; send fewer or shorter headers"
            ),
            Self::Duplicate(name) => write!(f, "Bad request: the header {name} stands there twice; send it once"),
            Self::Encoded => f.write_str("Unsupported Content-Encoding: send the body as it is"),
        }
    }
}

/// Checks a head. Its length is counted without optional white space.
pub(super) fn check<B>(request: &Request<B>) -> Result<(), HeadError> {
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    let headers = request.headers();
    let length = request.method().as_str().len() + target + length(headers);
    if length > MAX_HEAD_BYTES {
        return Err(HeadError::TooLong(length));
    }
    if let Some(name) = SINGLE.iter().find(|name| headers.get_all(**name).iter().nth(1).is_some()) {
        return Err(HeadError::Duplicate(name));
    }

    let is_encoded = |coding: &HeaderValue| !coding.as_bytes().eq_ignore_ascii_case(b"identity");
    if headers.get_all(CONTENT_ENCODING).iter().any(is_encoded) { Err(HeadError::Encoded) } else { Ok(()) }
}

fn length(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len() + HEADER_OVERHEAD).sum()
}
