//! Counts the responses that clients have not read, for each caller.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use http_body_util::BodyExt as _;

use super::caller::LimitKey;
use super::responses::HttpResponse;
use crate::call::space::{Claim, ClientSpace, Space};
use crate::lock::Unpoisoned as _;

/// The space for responses of a server.
#[derive(Debug)]
pub(super) struct Unread {
    space: Arc<Space>,
    /// The callers that have requests.
    callers: Mutex<HashMap<LimitKey, Weak<ClientSpace>>>,
}

impl Default for Unread {
    fn default() -> Self {
        Self { space: Space::new(), callers: Mutex::default() }
    }
}

impl Unread {
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
    response.map(|body| {
        body.map_frame(move |frame| {
            if let Some(data) = frame.data_ref() {
                claim.raise_to(data.len());
            }
            frame
        })
        .boxed()
    })
}
