//! The protocol's server side: requests in, results out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use climax_catalog::Strategy;
use rmcp::model::{
    CallToolResponse, CallToolResult, ClientRequest, ContentBlock, ErrorCode, ErrorData, GetMeta as _, ProtocolVersion,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::client::Client;
use super::extended::{self, Examples, Failure};
use super::log::Threshold;
use super::output_store::{OutputStore, Owner};
use super::request_state::{StateKey, StateSigner};
use super::subscriptions::Subscriptions;
use super::{meta, reply, request_context};
use crate::call::arguments::{Violation, echo};
use crate::call::{CallError, Toolbox};
use crate::serving::snapshot::ServedHandle;

mod calls;
mod handler;
mod notifications;

use calls::{Read, result};

/// Which tools a client sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The two meta-tools.
    Meta,
    /// The meta-tools with pages and details, and those that describe.
    Extended,
    /// Every tool itself.
    Classic,
}

/// How long clients may keep a tool list that does not change while the server runs, in milliseconds.
const LIST_TTL_MS: u64 = 3_600_000;
/// The same where it may.
const CHANGING_LIST_TTL_MS: u64 = 10_000;

/// A server for one kind of caller.
#[derive(Clone, Debug)]
pub struct Server {
    live: ServedHandle,
    options: Options,
    shutdown: CancellationToken,
    seals: Arc<StateSigner>,
    kept: Arc<OutputStore>,
    conversation: Conversation,
}

/// Ends what is done for the sake of one client when its server is dropped.
#[derive(Clone, Debug)]
struct Conversation {
    number: u64,
    /// Whether the client is told of changes.
    is_followed: Arc<AtomicBool>,
    subscribed: Arc<Subscriptions>,
    /// What it wants to be told of its calls.
    log: Arc<Threshold>,
    ended: CancellationToken,
    _guard: Arc<DropGuard>,
}

impl Conversation {
    fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let ended = CancellationToken::new();
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        Self {
            number,
            is_followed: Arc::default(),
            subscribed: Arc::default(),
            log: Arc::default(),
            _guard: Arc::new(ended.clone().drop_guard()),
            ended,
        }
    }
}

/// What a server offers, and how.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Which tools a client sees.
    pub mode: Mode,
    /// How `climax_search` finds tools.
    pub strategy: Strategy,
    /// Whether what is served may change.
    pub changes: Changes,
}

/// Whether what is served may change while clients are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changes {
    /// It stays as it is.
    Never,
    /// Clients are not told.
    Untold,
    /// Clients are told when they would be shown another list of tools.
    Told,
}

/// A request for a tool, and the client that made it.
struct Call<'a> {
    toolbox: &'a Toolbox,
    name: &'a str,
    arguments: &'a Map<String, Value>,
    client: Client<'a>,
}

impl Server {
    /// A server that gives up running calls when `shutdown` is cancelled.
    #[must_use]
    pub fn new(toolbox: Arc<Toolbox>, options: Options, shutdown: CancellationToken) -> Self {
        Self::live(ServedHandle::fixed(toolbox), options, shutdown)
    }

    /// The same for what may be exchanged while it is served.
    #[must_use]
    pub fn live(live: ServedHandle, options: Options, shutdown: CancellationToken) -> Self {
        Self {
            live,
            options,
            shutdown,
            seals: Arc::new(StateSigner::new(None)),
            kept: Arc::default(),
            conversation: Conversation::new(),
        }
    }

    /// Signs approvals with this key, so that other replicas of the server take them.
    #[must_use]
    pub fn with_state_key(self, key: StateKey) -> Self {
        Self { seals: Arc::new(StateSigner::new(Some(key))), ..self }
    }

    /// The same server for another client.
    #[must_use]
    pub fn for_another(&self) -> Self {
        Self { conversation: Conversation::new(), ..self.clone() }
    }

    pub(super) fn mode(&self) -> Mode {
        self.options.mode
    }

    /// What is served now.
    pub(super) fn toolbox(&self) -> Arc<Toolbox> {
        self.live.toolbox()
    }

    pub(super) fn list_ttl_ms(&self) -> u64 {
        if self.options.changes == Changes::Never { LIST_TTL_MS } else { CHANGING_LIST_TTL_MS }
    }

    /// Who may read what this request leaves behind. From 2026-07-28 on there are no conversations.
    fn owner(&self, context: &RequestContext<RoleServer>) -> Owner {
        let conversation = (!is_modern(context)).then_some(self.conversation.number);
        Owner { caller: request_context::caller(context), conversation }
    }

    async fn call_meta(&self, call: &Call<'_>) -> Result<Option<CallToolResponse>, ErrorData> {
        let Call { toolbox, name, arguments, .. } = call;
        Ok(Some(match *name {
            meta::SEARCH => {
                let answer = meta::search(&toolbox.index, self.options.strategy, arguments);
                text_or_refusal(name, answer, meta::search_schema).into()
            }
            meta::CALL => match meta::call_request(arguments) {
                Ok(request) => self.call_direct(&request.tool_name, &request.arguments, call).await?,
                Err(violations) => refusal(name, &violations, &meta::call_schema()).into(),
            },
            _ => return Ok(None),
        }))
    }

    /// What a request for a tool is answered with; `None` if no such tool is registered in this mode.
    async fn answer(&self, call: &Call<'_>) -> Result<Option<CallToolResponse>, ErrorData> {
        match self.options.mode {
            Mode::Meta => self.call_meta(call).await,
            Mode::Extended => self.call_extended(call).await,
            Mode::Classic => {
                let response = self.call_direct(call.name, call.arguments, call).await?;
                Ok(call.toolbox.index.get(call.name).map(|_| response))
            }
        }
    }

    async fn call_extended(&self, call: &Call<'_>) -> Result<Option<CallToolResponse>, ErrorData> {
        let Call { toolbox, name, arguments, .. } = *call;
        let index = &toolbox.index;
        let (answer, schema): (_, fn() -> Value) = match name {
            meta::SEARCH => {
                let digest = toolbox.digest();
                (extended::search(index, self.options.strategy, digest, arguments), extended::search_schema)
            }
            extended::DESCRIBE => (extended::describe(toolbox, arguments), extended::describe_schema),
            extended::EXAMPLES => match extended::examples(index, arguments) {
                Ok(Examples::Json(json)) => (Ok(json), extended::examples_schema),
                Ok(Examples::UnknownTool { name, suggestions }) => {
                    let unknown = Err(CallError::UnknownTool { suggestions });
                    return Ok(Some(result(reply::reply(&name, None, unknown), Vec::new()).into()));
                }
                Err(failure) => (Err(failure), extended::examples_schema),
            },
            _ => return self.call_meta(call).await,
        };
        match answer {
            Ok(json) => Ok(Some(text_or_refusal(name, Ok(json), schema).into())),
            Err(Failure::Arguments(violations)) => Ok(Some(text_or_refusal(name, Err(violations), schema).into())),
            Err(Failure::Cursor(error)) => Err(error),
        }
    }
}

/// Whether a request says all that requests have to say of themselves from 2026-07-28 on.
pub(crate) fn is_whole_modern_request(request: &ClientRequest) -> bool {
    let meta = request.get_meta();
    let is_known = meta.protocol_version().is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version));
    is_known && meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
}

/// Whether a request is of revision 2026-07-28 or later.
pub(super) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

fn text_or_refusal(name: &str, answer: Result<String, Vec<Violation>>, schema: fn() -> Value) -> CallToolResult {
    match answer {
        Ok(json) => CallToolResult::success(vec![ContentBlock::text(json)]),
        Err(violations) => refusal(name, &violations, &schema()),
    }
}

fn refusal(name: &str, violations: &[Violation], schema: &Value) -> CallToolResult {
    result(reply::invalid_arguments(name, violations, Vec::new(), schema), Vec::new())
}

pub(super) fn forged_state() -> ErrorData {
    let message =
        "Invalid requestState: it was not made for this call, or was changed; call without it to be asked anew";
    ErrorData::invalid_params(message, None)
}

/// MCP 2025-11-25, server/resources, "Error Handling"; from 2026-07-28 on the address is an invalid parameter.
fn no_resource(uri: &str, why: Option<&str>, is_modern: bool) -> ErrorData {
    let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
    let message = format!("No such resource: {}{why}", echo(uri));
    let data = Some(json!({ "uri": uri }));
    if is_modern { ErrorData::invalid_params(message, data) } else { ErrorData::resource_not_found(message, data) }
}

/// MCP 2026-07-28, basic, "Capabilities": what a request needs and its client does not declare.
fn no_elicitation() -> ErrorData {
    let message = "The user has to be asked, and the client does not declare that it can (elicitation)";
    let data = json!({ "requiredCapabilities": { "elicitation": {} } });
    ErrorData::new(ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY, message, Some(data))
}

pub(super) fn method_not_found(method: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("Method not found: {}", echo(method)), None)
}
