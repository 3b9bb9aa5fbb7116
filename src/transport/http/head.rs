//! What the head of a request may be, whatever it asks for. Pure.
//!
//! Its length is checked here because the HTTP library bounds what it has read when a head is not whole yet, and may go beyond that by
//! what it reads at once.

use std::fmt;

use hyper::header::{CONTENT_ENCODING, HeaderMap, HeaderValue};
use hyper::{Request, StatusCode};

/// Bytes of the head of an HTTP request.
pub(crate) const MAX_HEAD_BYTES: usize = 32 << 10;

/// What stands around the name and value of a header, in bytes: a colon, a space and the end of the line.
const AROUND_HEADER: usize = 4;

/// Headers that decide what is done. Whoever stands before the server may have read another one than is read here.
const SINGLE: &[&str] = &["content-type", "mcp-protocol-version", "mcp-session-id"];

/// Why a request is not read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    /// Its head has so many bytes.
    TooLong(usize),
    /// It has this header twice.
    Twice(&'static str),
    /// Its body is encoded.
    Encoded,
}

impl Unfit {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::TooLong(_) => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::Twice(_) => StatusCode::BAD_REQUEST,
            Self::Encoded => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        }
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong(found) => write!(
                f,
                "The head of the request has {found} bytes, expected {MAX_HEAD_BYTES} at most; send fewer or shorter headers"
            ),
            Self::Twice(name) => write!(f, "Bad request: the header {name} stands there twice; send it once"),
            Self::Encoded => f.write_str("Unsupported Content-Encoding: send the body as it is"),
        }
    }
}

/// Checks a head; its length is that of what good clients write.
pub(super) fn check<B>(request: &Request<B>) -> Result<(), Unfit> {
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    let found = request.method().as_str().len() + target + headers(request.headers());
    if found > MAX_HEAD_BYTES {
        return Err(Unfit::TooLong(found));
    }
    let all = request.headers();
    if let Some(name) = SINGLE.iter().find(|name| all.get_all(**name).iter().nth(1).is_some()) {
        return Err(Unfit::Twice(name));
    }
    let is_encoded = |coding: &HeaderValue| !coding.as_bytes().eq_ignore_ascii_case(b"identity");
    if all.get_all(CONTENT_ENCODING).iter().any(is_encoded) { Err(Unfit::Encoded) } else { Ok(()) }
}

fn headers(all: &HeaderMap) -> usize {
    all.iter().map(|(name, value)| name.as_str().len() + value.len() + AROUND_HEADER).sum()
}
