//! Counts the responses that clients have not read, for each caller.

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, ready};

use http_body_util::combinators::BoxBody;
use hyper::body::{Body, Bytes, Frame, SizeHint};

use super::caller::LimitKey;
use super::responses::HttpResponse;
use crate::call::space::{Claim, ClientSpace, Space};
use crate::lock::Unpoisoned as _;

/// The longest part of a response that a connection gets at once, in bytes.
const MAX_PART_BYTES: usize = 64 << 10;

/// The space for responses of a server.
#[derive(Debug)]
pub(super) struct Unsent {
    space: Arc<Space>,
    /// The callers that have requests.
    callers: Mutex<HashMap<LimitKey, Weak<ClientSpace>>>,
}

impl Default for Unsent {
    fn default() -> Self {
        Self { space: Space::new(), callers: Mutex::default() }
    }
}

impl Unsent {
    /// Makes a claim for the response to a request. A call waits with it until the caller has read enough.
    pub(super) fn claim(&self, caller: LimitKey) -> Arc<Claim> {
        let mut callers = self.callers.lock().unpoisoned();
        let known = callers.get(&caller).and_then(Weak::upgrade);
        let space = known.unwrap_or_else(|| {
            callers.retain(|_, space| space.strong_count() > 0);
            let space = self.space.client();
            callers.insert(caller, Arc::downgrade(&space));
            space
        });
        Arc::new(space.claim())
    }
}

/// Claims the bytes of a response until it is sent or its client has disconnected.
pub(super) fn claim_until_sent(response: HttpResponse, claim: Arc<Claim>) -> HttpResponse {
    response.map(|body| BoxBody::new(ClaimedBody { body, rest: Bytes::new(), claim }))
}

/// A body that is handed over in parts, since the connection would take a long frame whole and free its claim before it is sent.
struct ClaimedBody {
    body: BoxBody<Bytes, Infallible>,
    /// What is left of the last frame.
    rest: Bytes,
    claim: Arc<Claim>,
}

impl Body for ClaimedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => {
                        self.claim.raise_to(data.len());
                        self.rest = data;
                    }
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                end => return Poll::Ready(end),
            }
        }

        if self.rest.len() <= MAX_PART_BYTES {
            return Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.rest)))));
        }

        // A copy: a slice would keep the whole frame in memory after the claim has been freed.
        let part = Bytes::copy_from_slice(&self.rest.split_to(MAX_PART_BYTES));
        Poll::Ready(Some(Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (rest, body) = (self.rest.len() as u64, self.body.size_hint());
        let mut hint = SizeHint::new();
        hint.set_lower(body.lower() + rest);
        if let Some(upper) = body.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}
