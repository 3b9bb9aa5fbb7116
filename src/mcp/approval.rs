//! Approval through the client: it is asked to ask its user (elicitation).
//!
//! Until revision 2025-11-25 the server sends a request of its own while the call waits. From 2026-07-28 on the call is
//! answered with the question, and the client calls again with the answer and a state that only this server can make.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rmcp::model::{
    ClientCapabilities, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequiredResult, InputResponses, RequestStateCodec, RequestStateError,
    SealOptions, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RequestHandle, RoleServer, ServiceError};
use tokio::time::timeout;

use super::origin;
use super::server::is_modern;
use crate::approval::{Approver, Denial, Pending, Verdict};
use crate::exec::random_bytes;
use crate::limits::APPROVAL_LIMIT;

/// The question's key among the requests of a result.
const KEY: &str = "approval";

/// The client of one call.
pub(super) struct Client<'a> {
    pub(super) context: &'a RequestContext<RoleServer>,
    pub(super) seals: &'a Seals,
    /// What came with the call: the answers to an earlier result, and that result's state.
    pub(super) answers: Option<&'a InputResponses>,
    pub(super) state: Option<&'a str>,
}

impl Approver for Client<'_> {
    type Question = InputRequiredResult;

    async fn decide(&self, pending: &Pending<'_>) -> Verdict<InputRequiredResult> {
        let is_modern = is_modern(self.context);
        let capabilities = if is_modern {
            self.context.meta.client_capabilities()
        } else {
            self.context.peer.peer_info().map(|info| info.capabilities.clone())
        };
        match capabilities {
            Some(capabilities) if !can_ask(&capabilities) => pending.headless(),
            None => pending.headless(),
            Some(_) if is_modern => self.by_result(pending).await,
            Some(_) => self.by_request(pending).await,
        }
    }
}

impl Client<'_> {
    /// MCP 2025-11-25, client/elicitation.
    async fn by_request(&self, pending: &Pending<'_>) -> Verdict<InputRequiredResult> {
        let request = ServerRequest::ElicitRequest(question(pending.question().await));
        let options = PeerRequestOptions::no_options();
        let answer = match self.context.peer.send_request_with_option(request, options).await {
            Ok(handle) => Asked(Some(handle)).answer().await,
            Err(error) => Err(error),
        };
        match answer {
            Ok(ClientResult::ElicitResult(answer)) => verdict(&answer),
            Ok(_) => Verdict::Denied(Denial::ByUser),
            Err(error) => {
                tracing::warn!(%error, "no answer to a request for approval");
                Verdict::Denied(Denial::ByUser)
            }
        }
    }

    /// MCP 2026-07-28, basic/patterns, "Multi Round-Trip Requests": a state that fails verification is rejected.
    async fn by_result(&self, pending: &Pending<'_>) -> Verdict<InputRequiredResult> {
        // Nobody redeems what somebody else was asked.
        let digest = [&pending.digest()[..], &origin::caller(self.context)].concat();
        let answer = self.answers.and_then(|answers| answers.get(KEY));
        let answer: Option<ElicitResult> = answer.and_then(|answer| serde_json::from_value(answer.clone()).ok());
        let number = match self.state.map(|state| self.seals.open(state, &digest)) {
            Some(Opened::Forged) => return Verdict::Denied(Denial::Forged),
            Some(Opened::Good(number)) => Some(number),
            Some(Opened::Expired) | None => None,
        };
        if let (Some(answer), Some(number)) = (answer, number)
            && self.seals.redeem(number)
        {
            return verdict(&answer);
        }
        let Some(state) = self.seals.issue(&digest) else { return pending.headless() };
        let request = InputRequest::Elicitation(question(pending.question().await));
        Verdict::Asked(InputRequiredResult::new(Some(BTreeMap::from([(KEY.to_owned(), request)])), Some(state)))
    }
}

/// A question that the client has; taken back when dropped without an answer, so that nobody answers it for nothing.
struct Asked(Option<RequestHandle<RoleServer>>);

impl Asked {
    async fn answer(mut self) -> Result<ClientResult, ServiceError> {
        let late = ServiceError::Timeout { timeout: APPROVAL_LIMIT };
        let Some(handle) = &mut self.0 else { return Err(late) };
        let answer = timeout(APPROVAL_LIMIT, &mut handle.rx).await.map_err(|_| late)?;
        self.0 = None;
        answer.map_err(|_| ServiceError::TransportClosed)?
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take() {
            tokio::spawn(handle.cancel(Some("the call has ended".to_owned())));
        }
    }
}

/// A question that is answered by accepting or declining it.
fn question(message: String) -> ElicitRequest {
    let requested_schema = ElicitationSchema::new(BTreeMap::new());
    ElicitRequest::new(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

fn verdict<Q>(answer: &ElicitResult) -> Verdict<Q> {
    match answer.action {
        ElicitationAction::Accept => Verdict::Approved,
        _ => Verdict::Denied(Denial::ByUser),
    }
}

/// Whether a client shows forms. One that names neither mode does: there was no other before 2025-11-25.
fn can_ask(capabilities: &ClientCapabilities) -> bool {
    capabilities.elicitation.as_ref().is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

/// What approvals are signed with. Replicas that share it take each other's.
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

/// What became of a state that a client has sent back.
enum Opened {
    /// It was made for this call; its number.
    Good(Vec<u8>),
    /// It was, too long ago.
    Expired,
    /// It was not, or has been changed.
    Forged,
}

/// States that are handed to clients: signed, for one call, for some time, to be redeemed once.
#[derive(Debug)]
pub(super) struct Seals {
    /// `None` if the system gave no key.
    codec: Option<RequestStateCodec>,
    redeemed: Mutex<HashMap<Vec<u8>, Instant>>,
}

impl Seals {
    /// Signs with this key, or with a random one.
    pub(super) fn new(key: Option<StateKey>) -> Self {
        let key = key.map_or_else(StateKey::random, Ok);
        let key = key.inspect_err(|error| tracing::error!(%error, "no key to sign approvals with"));
        let codec = key.ok().and_then(|key| RequestStateCodec::try_new(key.0).ok());
        Self { codec, redeemed: Mutex::default() }
    }

    /// A state for the call of this digest.
    fn issue(&self, digest: &[u8]) -> Option<String> {
        let number = random_bytes::<16>().ok()?;
        let options = SealOptions::new().associated_data(digest).ttl(APPROVAL_LIMIT);
        Some(self.codec.as_ref()?.seal_with(&number, &options))
    }

    /// What a state is to the call of this digest.
    fn open(&self, state: &str, digest: &[u8]) -> Opened {
        match self.codec.as_ref().map(|codec| codec.open_with(state, digest)) {
            Some(Ok(number)) => Opened::Good(number),
            Some(Err(RequestStateError::Expired)) => Opened::Expired,
            Some(Err(_)) | None => Opened::Forged,
        }
    }

    /// Whether the state of this number has not been redeemed before.
    fn redeem(&self, number: Vec<u8>) -> bool {
        let mut redeemed = self.redeemed.lock().unwrap_or_else(PoisonError::into_inner);
        redeemed.retain(|_, at| at.elapsed() < APPROVAL_LIMIT);
        redeemed.insert(number, Instant::now()).is_none()
    }
}
