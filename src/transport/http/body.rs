//! Reads request bodies, with limits of size, time and memory.

use std::fmt;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::StatusCode;
use hyper::body::{Body, Bytes};
use tokio::time::timeout;

use super::caller::LimitKey;
use super::quota::{Permit, Quota};
use crate::transport::in_flight::MAX_OPEN_BODY_BYTES;

/// Longest body of an HTTP request, in bytes.
const MAX_BODY_BYTES: usize = 4 << 20;

/// Bytes of a refused body that are still read and dropped.
const MAX_DISCARDED_BYTES: usize = 16 << 20;

/// How long a refused body is read and dropped.
const DISCARD_LIMIT: Duration = Duration::from_secs(5);

/// Bytes of bodies of all callers that are being read or answered. A caller may hold as many as it leaves to others, so a single
/// caller has [`MAX_OPEN_BODY_BYTES`].
const MAX_OPEN_BODIES_BYTES: usize = 2 * MAX_OPEN_BODY_BYTES;

/// Bytes of each body that [`MAX_OPEN_BODIES_BYTES`] does not count, so that large bodies do not shut out small ones.
const FREE_BODY_BYTES: usize = 16 << 10;

/// How long a client may take to send the body of a request.
const BODY_LIMIT: Duration = Duration::from_secs(30);

/// Reads bodies, within one quota of memory.
#[derive(Debug)]
pub(super) struct BodyReader(Arc<Quota>);

/// A body that was read to its end.
#[derive(Debug)]
pub(super) struct ReceivedBody {
    pub(super) bytes: Bytes,
    /// The memory of the body. It must be held as long as anything that was made of the body.
    pub(super) memory: Permit,
}

/// The reason why a body was not read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BodyError {
    TooLarge,
    TooSlow,
    NoMemory,
    Broken(String),
}

impl BodyError {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::NoMemory => StatusCode::SERVICE_UNAVAILABLE,
            Self::Broken(_) => StatusCode::BAD_REQUEST,
        }
    }
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => write!(f, "The body is longer than {} MiB", MAX_BODY_BYTES >> 20),
            Self::TooSlow => write!(f, "The body took longer than {} s", BODY_LIMIT.as_secs()),
            Self::NoMemory => f.write_str("The server is answering too many large requests; try again in a second"),
            Self::Broken(error) => write!(f, "The body cannot be read: {error}"),
        }
    }
}

impl Default for BodyReader {
    fn default() -> Self {
        Self(Quota::new(MAX_OPEN_BODIES_BYTES))
    }
}

impl BodyReader {
    /// Reads a body of a caller to its end.
    pub(super) async fn read<B>(&self, body: B, caller: LimitKey) -> Result<ReceivedBody, BodyError>
    where
        B: Body<Data = Bytes>,
        B::Error: fmt::Display,
    {
        let mut body = pin!(body);
        let received = timeout(BODY_LIMIT, receive(body.as_mut(), self.0.empty_permit(caller)))
            .await
            .unwrap_or(Err(BodyError::TooSlow));
        if matches!(received, Err(BodyError::TooLarge | BodyError::NoMemory)) {
            let _ = timeout(DISCARD_LIMIT, discard(body)).await;
        }
        received
    }
}

async fn receive<B>(mut body: Pin<&mut B>, mut memory: Permit) -> Result<ReceivedBody, BodyError>
where
    B: Body<Data = Bytes>,
    B::Error: fmt::Display,
{
    let mut bytes = Vec::new();
    if body.size_hint().lower() > MAX_BODY_BYTES as u64 {
        return Err(BodyError::TooLarge);
    }

    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| BodyError::Broken(error.to_string()))?;
        let Ok(data) = frame.into_data() else { continue };
        let length = bytes.len() + data.len();
        if length > MAX_BODY_BYTES {
            return Err(BodyError::TooLarge);
        }
        if !memory.grow_to(length.saturating_sub(FREE_BODY_BYTES)) {
            return Err(BodyError::NoMemory);
        }
        bytes.extend_from_slice(&data);
    }

    Ok(ReceivedBody { bytes: bytes.into(), memory })
}

/// Reads on and drops the bytes. A client that still sends when its connection is closed may never see the response.
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
