//! Bodies of requests, read whole within bounds of size, time and memory.

use std::fmt;
use std::pin::{Pin, pin};
use std::sync::Arc;

use http_body_util::BodyExt as _;
use hyper::StatusCode;
use hyper::body::{Body, Bytes};
use tokio::time::timeout;

use super::caller::Counted;
use super::quota::{Share, Shares, Taken};
use crate::transport::in_flight::MAX_OPEN_BODY_BYTES;
use std::time::Duration;

/// Longest body of an HTTP request, in bytes.
const MAX_BODY_BYTES: usize = 4 << 20;

/// Bytes of a body that are still read, and let go, once it has been refused.
const MAX_DISCARDED_BYTES: usize = 16 << 20;

/// How long that may take.
const DISCARD_LIMIT: Duration = Duration::from_secs(5);

/// Bytes of bodies of all callers that are being read or answered. A caller may hold as many as it leaves to others, so one that is
/// alone has [`MAX_OPEN_BODY_BYTES`].
const MAX_OPEN_BODIES_BYTES: usize = 2 * MAX_OPEN_BODY_BYTES;

/// Bytes of a body that are not counted there, so that large bodies do not keep out small ones.
const FREE_BODY_BYTES: usize = 16 << 10;

/// How long a client may take to send the body of a request.
const BODY_LIMIT: Duration = Duration::from_secs(30);

/// All bodies that are held.
#[derive(Debug)]
pub(super) struct Bodies(Arc<Shares>);

/// A body, and its share of the memory.
#[derive(Debug)]
pub(super) struct Whole {
    bytes: Bytes,
    share: Share,
}

/// A body that was not read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unread {
    TooLarge,
    TooSlow,
    NoRoom,
    Broken(String),
}

impl Unread {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::NoRoom => StatusCode::SERVICE_UNAVAILABLE,
            Self::Broken(_) => StatusCode::BAD_REQUEST,
        }
    }
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => write!(f, "The body is longer than {} MiB", MAX_BODY_BYTES >> 20),
            Self::TooSlow => write!(f, "The body took longer than {} s", BODY_LIMIT.as_secs()),
            Self::NoRoom => f.write_str("The server is answering too many large requests; try again in a second"),
            Self::Broken(error) => write!(f, "The body cannot be read: {error}"),
        }
    }
}

impl Whole {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The body, and its share of the memory, to be held as long as anything that was made of the body.
    pub(super) fn into_parts(self) -> (Bytes, Share) {
        (self.bytes, self.share)
    }
}

impl Default for Bodies {
    fn default() -> Self {
        Self(Shares::new(MAX_OPEN_BODIES_BYTES))
    }
}

impl Bodies {
    /// Reads a body of a caller to its end.
    pub(super) async fn read<B>(&self, body: B, caller: Counted) -> Result<Whole, Unread>
    where
        B: Body<Data = Bytes>,
        B::Error: fmt::Display,
    {
        let mut body = pin!(body);
        let whole = timeout(BODY_LIMIT, read_slowly(body.as_mut(), self.0.none_yet(caller)))
            .await
            .unwrap_or(Err(Unread::TooSlow));
        if matches!(whole, Err(Unread::TooLarge | Unread::NoRoom)) {
            let _ = timeout(DISCARD_LIMIT, discard(body)).await;
        }
        whole
    }
}

async fn read_slowly<B>(mut body: Pin<&mut B>, mut taken: Taken) -> Result<Whole, Unread>
where
    B: Body<Data = Bytes>,
    B::Error: fmt::Display,
{
    let mut bytes = Vec::new();
    if body.size_hint().lower() > MAX_BODY_BYTES as u64 {
        return Err(Unread::TooLarge);
    }
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Unread::Broken(error.to_string()))?;
        let Ok(data) = frame.into_data() else { continue };
        let length = bytes.len() + data.len();
        if length > MAX_BODY_BYTES {
            return Err(Unread::TooLarge);
        }
        if !taken.grow_to(length.saturating_sub(FREE_BODY_BYTES)) {
            return Err(Unread::NoRoom);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(Whole { bytes: bytes.into(), share: taken.share() })
}

/// Reads on without keeping anything: who still sends when the connection is closed may never see the answer.
async fn discard<B: Body<Data = Bytes>>(mut body: Pin<&mut B>) {
    let mut left = MAX_DISCARDED_BYTES;
    if body.size_hint().lower() > left as u64 {
        return;
    }
    while let Some(Ok(frame)) = body.frame().await {
        let length = frame.data_ref().map_or(0, Bytes::len);
        let Some(rest) = left.checked_sub(length) else { return };
        left = rest;
    }
}
