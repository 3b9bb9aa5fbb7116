//! The bound on the head of a request. Pure.
//!
//! The HTTP library bounds what it has read before a head is whole, which may be more than a head by what it reads at once.

use hyper::{HeaderMap, Request};

use crate::limits::MAX_HEAD_BYTES;

/// What stands around the name and value of a header, in bytes: a colon, a space and the end of the line.
const AROUND_HEADER: usize = 4;

/// A head that is too long.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong(usize);

impl std::fmt::Display for TooLong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "The head of the request has {} bytes, expected {MAX_HEAD_BYTES} at most; send fewer or shorter headers",
            self.0
        )
    }
}

/// Checks the length of a head, as good clients write it.
pub(super) fn check<B>(request: &Request<B>) -> Result<(), TooLong> {
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    let found = request.method().as_str().len() + target + headers(request.headers());
    if found > MAX_HEAD_BYTES { Err(TooLong(found)) } else { Ok(()) }
}

fn headers(all: &HeaderMap) -> usize {
    all.iter().map(|(name, value)| name.as_str().len() + value.len() + AROUND_HEADER).sum()
}
