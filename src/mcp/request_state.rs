//! Request states: signed data that a client sends back in the next round of a request.
//!
//! A state is valid for one request, once, for [`APPROVAL_LIMIT`].

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Instant;

use hex::FromHex as _;
use rmcp::model::{RequestStateCodec, RequestStateError, SealOptions};
use serde_json::{Map, Value, json};

use crate::call::approval::APPROVAL_LIMIT;
use crate::call::digest::RequestDigest;
use crate::exec::random_bytes;
use crate::lock::Unpoisoned as _;

/// The key that signs request states. Replicas that share the key accept each other's states.
#[derive(Clone)]
pub struct RequestStateKey(Vec<u8>);

impl std::fmt::Debug for RequestStateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RequestStateKey")
    }
}

impl RequestStateKey {
    /// The least length of a key, in bytes.
    pub const MIN_BYTES: usize = 32;

    /// Makes a key of these bytes. Returns `None` if they are fewer than [`Self::MIN_BYTES`].
    #[must_use]
    pub fn new(key: Vec<u8>) -> Option<Self> {
        (key.len() >= Self::MIN_BYTES).then_some(Self(key))
    }

    /// Generates a random key.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub fn random() -> std::io::Result<Self> {
        random_bytes::<{ Self::MIN_BYTES }>().map(|key| Self(key.to_vec()))
    }
}

/// The result of the rounds of a request so far.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestState {
    /// The values of each form that the user has filled in, by the fingerprint of the form.
    pub(super) form_values: Map<String, Value>,
    /// The fingerprint of the form that the client shows next.
    pub(super) pending_form: Option<String>,
    /// The digest of the call that the user approves or denies next.
    pub(super) pending_approval: Option<RequestDigest>,
}

/// The result of verifying a state that a client has sent back.
#[derive(Debug)]
pub(super) enum VerifiedState {
    /// The state belongs to this request.
    Valid(RequestState),
    /// The state belongs to this request, but it has expired or was used before.
    Stale,
    /// The state belongs to another request, or was changed.
    Forged,
}

/// The sealed form of a [`RequestState`]: its id, then its fields.
type SealedParts = (String, Map<String, Value>, Option<String>, Option<String>);

/// Seals and verifies request states.
#[derive(Debug)]
pub(super) struct StateSigner {
    /// `None` if the system gave no key.
    codec: Option<RequestStateCodec>,
    used: Mutex<UsedStates>,
}

/// The ids of states that clients have sent back, each with the time.
#[derive(Debug)]
struct UsedStates {
    ids: HashMap<String, Instant>,
    /// When the ids of expired states were last removed.
    last_sweep: Instant,
}

impl StateSigner {
    /// Makes a signer with this key, or with a random one.
    pub(super) fn new(key: Option<RequestStateKey>) -> Self {
        let key = key.map_or_else(RequestStateKey::random, Ok);
        let key = key.inspect_err(|error| tracing::error!(%error, "no key to sign states with"));
        let codec = key.ok().and_then(|key| RequestStateCodec::try_new(key.0).ok());
        let used = UsedStates { ids: HashMap::new(), last_sweep: Instant::now() };
        Self { codec, used: Mutex::new(used) }
    }

    /// Seals a state for the request that `request` identifies. Returns `None` if the system gives no random bytes.
    pub(super) fn seal(&self, state: &RequestState, request: &[u8]) -> Option<String> {
        let id = hex::encode(random_bytes::<16>().ok()?);
        let RequestState { form_values, pending_form, pending_approval } = state;
        let text = json!([id, form_values, pending_form, pending_approval.map(hex::encode)]).to_string();
        let options = SealOptions::new().associated_data(request).ttl(APPROVAL_LIMIT);
        Some(self.codec.as_ref()?.seal_with(text.as_bytes(), &options))
    }

    /// Verifies a sealed state of the request that `request` identifies, and marks it as used.
    pub(super) fn verify(&self, sealed: &str, request: &[u8]) -> VerifiedState {
        let text = match self.codec.as_ref().map(|codec| codec.open_with(sealed, request)) {
            Some(Ok(text)) => text,
            Some(Err(RequestStateError::Expired)) => return VerifiedState::Stale,
            Some(Err(_)) | None => return VerifiedState::Forged,
        };
        let Ok((id, form_values, pending_form, call)) = serde_json::from_slice::<SealedParts>(&text) else {
            return VerifiedState::Forged;
        };
        if !self.mark_used(id) {
            return VerifiedState::Stale;
        }

        let pending_approval = call.and_then(|call| RequestDigest::from_hex(call).ok());
        VerifiedState::Valid(RequestState { form_values, pending_form, pending_approval })
    }

    /// Marks a state as used. Returns whether this is its first use.
    fn mark_used(&self, id: String) -> bool {
        let mut used = self.used.lock().unpoisoned();
        if used.last_sweep.elapsed() > APPROVAL_LIMIT / 10 {
            used.ids.retain(|_, at| at.elapsed() < APPROVAL_LIMIT);
            used.last_sweep = Instant::now();
        }
        used.ids.insert(id, Instant::now()).is_none()
    }
}
