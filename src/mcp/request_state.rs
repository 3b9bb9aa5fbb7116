//! States that are handed to clients between the rounds of a request: signed, for one request, for some time, once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use hex::FromHex as _;
use rmcp::model::{RequestStateCodec, RequestStateError, SealOptions};
use serde_json::{Map, Value, json};

use crate::call::approval::APPROVAL_LIMIT;
use crate::call::approval::Identity;
use crate::exec::random_bytes;

/// What states are signed with. Replicas that share it take each other's.
#[derive(Clone)]
pub struct StateKey(Vec<u8>);

impl std::fmt::Debug for StateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StateKey")
    }
}

impl StateKey {
    /// Fewest bytes of a key.
    pub const MIN_BYTES: usize = 32;

    /// A key of the caller's; `None` if it is shorter than [`Self::MIN_BYTES`].
    #[must_use]
    pub fn new(key: Vec<u8>) -> Option<Self> {
        (key.len() >= Self::MIN_BYTES).then_some(Self(key))
    }

    /// A key that no other process has.
    ///
    /// # Errors
    /// The system gives none.
    pub fn random() -> std::io::Result<Self> {
        random_bytes::<{ Self::MIN_BYTES }>().map(|key| Self(key.to_vec()))
    }
}

/// What the rounds of a request have brought.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// What was filled in, by the fingerprint of the form.
    pub(super) given: Map<String, Value>,
    /// The fingerprint of the form that the client is to show.
    pub(super) asks: Option<String>,
    /// The call that the user is asked to approve.
    pub(super) approves: Option<Identity>,
}

/// What became of a state that a client has sent back.
#[derive(Debug)]
pub(super) enum Opened {
    /// It was made for this request.
    Good(State),
    /// It was, too long ago, or has come back before.
    Stale,
    /// It was not, or has been changed.
    Forged,
}

/// What is sealed: a number, then the parts of a [`State`].
type Parts = (String, Map<String, Value>, Option<String>, Option<String>);

/// Makes states, and opens them.
#[derive(Debug)]
pub(super) struct StateSigner {
    /// `None` if the system gave no key.
    codec: Option<RequestStateCodec>,
    redeemed: Mutex<Redeemed>,
}

/// The numbers of states that have come back, and since when.
#[derive(Debug)]
struct Redeemed {
    numbers: HashMap<String, Instant>,
    /// When those were forgotten last whose states are too old by themselves.
    swept: Instant,
}

impl StateSigner {
    /// Signs with this key, or with a random one.
    pub(super) fn new(key: Option<StateKey>) -> Self {
        let key = key.map_or_else(StateKey::random, Ok);
        let key = key.inspect_err(|error| tracing::error!(%error, "no key to sign states with"));
        let codec = key.ok().and_then(|key| RequestStateCodec::try_new(key.0).ok());
        let redeemed = Redeemed { numbers: HashMap::new(), swept: Instant::now() };
        Self { codec, redeemed: Mutex::new(redeemed) }
    }

    /// Seals a state for one request. `None` if the system gives no key or no number.
    pub(super) fn seal(&self, state: &State, request: &[u8]) -> Option<String> {
        let number = hex::encode(random_bytes::<16>().ok()?);
        let text = json!([number, state.given, state.asks, state.approves.map(hex::encode)]).to_string();
        let options = SealOptions::new().associated_data(request).ttl(APPROVAL_LIMIT);
        Some(self.codec.as_ref()?.seal_with(text.as_bytes(), &options))
    }

    /// What a state is to this request. It is good once.
    pub(super) fn open(&self, sealed: &str, request: &[u8]) -> Opened {
        let text = match self.codec.as_ref().map(|codec| codec.open_with(sealed, request)) {
            Some(Ok(text)) => text,
            Some(Err(RequestStateError::Expired)) => return Opened::Stale,
            Some(Err(_)) | None => return Opened::Forged,
        };
        let Ok((number, given, asks, call)) = serde_json::from_slice::<Parts>(&text) else { return Opened::Forged };
        if !self.redeem(number) {
            return Opened::Stale;
        }
        Opened::Good(State { given, asks, approves: call.and_then(|call| Identity::from_hex(call).ok()) })
    }

    /// Whether the state of this number has not come back before.
    fn redeem(&self, number: String) -> bool {
        let mut redeemed = self.redeemed.lock().unwrap_or_else(PoisonError::into_inner);
        if redeemed.swept.elapsed() > APPROVAL_LIMIT / 10 {
            redeemed.numbers.retain(|_, at| at.elapsed() < APPROVAL_LIMIT);
            redeemed.swept = Instant::now();
        }
        redeemed.numbers.insert(number, Instant::now()).is_none()
    }
}
