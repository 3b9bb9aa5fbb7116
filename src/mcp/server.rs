//! The protocol's server side: requests in, results out.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use climax_catalog::{ResolvedTool, Strategy};
use rmcp::model::{
    CallToolResponse, CallToolResult, ClientRequest, ContentBlock, ErrorCode, ErrorData, GetMeta as _, ProtocolVersion,
    Resource,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value};
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::Instrument as _;

use super::approval::{Client, Seals, StateKey};
use super::extended::{self, Examples, Failure};
use super::kept::{Kept, Owner};
use super::log::{Log, Threshold};
use super::{meta, origin, progress, reply};
use crate::approval::Denial;
use crate::arguments::{Violation, echo};
use crate::call::{CallError, Called, Request, Toolbox};
use crate::exec::{Stop, Watch};
use crate::live::Live;

mod handler;

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
    live: Live,
    options: Options,
    shutdown: CancellationToken,
    seals: Arc<Seals>,
    kept: Arc<Kept>,
    conversation: Conversation,
}

/// Ends what is done for the sake of one client when its server is dropped.
#[derive(Clone, Debug)]
struct Conversation {
    number: u64,
    /// Whether the client has said that it is ready.
    is_ready: Arc<AtomicBool>,
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
        let guard = ended.clone().drop_guard();
        Self { number, is_ready: Arc::default(), log: Arc::default(), ended, _guard: Arc::new(guard) }
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
        Self::live(Live::fixed(toolbox), options, shutdown)
    }

    /// The same for what may be exchanged while it is served.
    #[must_use]
    pub fn live(live: Live, options: Options, shutdown: CancellationToken) -> Self {
        Self {
            live,
            options,
            shutdown,
            seals: Arc::new(Seals::new(None)),
            kept: Arc::default(),
            conversation: Conversation::new(),
        }
    }

    /// Signs approvals with this key, so that other replicas of the server take them.
    #[must_use]
    pub fn with_state_key(self, key: StateKey) -> Self {
        Self { seals: Arc::new(Seals::new(Some(key))), ..self }
    }

    /// The same server for another client.
    #[must_use]
    pub fn for_another(&self) -> Self {
        Self { conversation: Conversation::new(), ..self.clone() }
    }

    /// Calls a tool of the index with these arguments, on behalf of `client`.
    async fn call_direct(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        call: &Call<'_>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Call { toolbox, client, .. } = call;
        let stop = async {
            tokio::select! {
                // The end of the server cancels every request too.
                biased;
                () = self.shutdown.cancelled() => Stop::ShuttingDown,
                () = client.context.ct.cancelled() => Stop::Cancelled,
            }
        };
        let served = toolbox.index.get(name);
        let log = served.and_then(|tool| Log::of(client.context, &self.conversation.log, tool.name()));
        let watch = if log.is_some() { Watch::with_lines() } else { Watch::default() };
        let progress_token = client.context.meta.get_progress_token();
        let span = tracing::info_span!("call", tool = name, outcome = tracing::field::Empty);
        let env = origin::trace(client.context);
        #[cfg(feature = "otlp")]
        let env = crate::traces::joined(&span, env);
        let request = Request {
            tool: name,
            arguments,
            watch: (log.is_some() || progress_token.is_some()).then_some(&watch),
            env: &env,
            caller: origin::caller_name(client.context),
        };
        let call = pin!(toolbox.call(request, client, stop).instrument(span.clone()));
        let call = pin!(async {
            match log.as_ref().zip(watch.lines()) {
                None => call.await,
                Some((log, lines)) => log.followed(lines, call).await,
            }
        });
        let called = match progress_token {
            None => call.await,
            Some(token) => progress::reported(client.context, token, &watch, call).await,
        };
        span.record("outcome", called.outcome());
        let reply = match called {
            Called::Asked(question) => return Ok(question.into()),
            Called::Ran(outcome) => reply::reply(name, served.and_then(ResolvedTool::output), Ok(outcome)),
            Called::Failed(CallError::ApprovalDenied(Denial::Forged)) => return Err(forged_state()),
            Called::Failed(error) => reply::reply(name, None, Err(error)),
        };
        if let (Some(log), Some(error)) = (&log, &reply.error) {
            log.failed(&error.message).await;
        }
        Ok(self.told(name, reply, client).into())
    }

    /// A reply, with a link to the rest of what it shows a part of.
    fn told(&self, tool: &str, mut reply: reply::Reply, client: &Client<'_>) -> CallToolResult {
        let whole = reply.whole.take().filter(|_| knows_links(client.context));
        let mut result = result(reply);
        if let Some(bytes) = whole {
            let size = bytes.len() as u64;
            if let Some(uri) = self.kept.keep(self.owner(client.context), bytes) {
                let link = Resource::new(uri, format!("output of {tool}")).with_mime_type("text/plain").with_size(size);
                let how = "All that was printed, for some minutes. Read parts of it with ?offset=BYTES&length=BYTES";
                result.content.push(ContentBlock::resource_link(link.with_description(how)));
            }
        }
        result
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
        Owner { caller: origin::caller(context), conversation }
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
                    return Ok(Some(result(reply::reply(&name, None, unknown)).into()));
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

/// MCP 2025-06-18 has links in results; clients before it would not take the whole result.
fn knows_links(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2025_06_18)
}

fn text_or_refusal(name: &str, answer: Result<String, Vec<Violation>>, schema: fn() -> Value) -> CallToolResult {
    match answer {
        Ok(json) => CallToolResult::success(vec![ContentBlock::text(json)]),
        Err(violations) => refusal(name, &violations, &schema()),
    }
}

fn refusal(name: &str, violations: &[Violation], schema: &Value) -> CallToolResult {
    result(reply::invalid_arguments(name, violations, Vec::new(), schema))
}

fn forged_state() -> ErrorData {
    let message =
        "Invalid requestState: it was not made for this call, or was changed; call without it to be asked anew";
    ErrorData::invalid_params(message, None)
}

pub(super) fn method_not_found(method: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("Method not found: {}", echo(method)), None)
}

fn result(reply: reply::Reply) -> CallToolResult {
    let mut content = Vec::new();
    if let Some(reply::Media { mime, bytes }) = &reply.media {
        let data = BASE64_STANDARD.encode(bytes);
        content.push(if mime.starts_with("audio/") {
            ContentBlock::audio(data, mime)
        } else {
            ContentBlock::image(data, mime)
        });
    }
    if reply.media.is_none() || !reply.text.is_empty() {
        content.push(ContentBlock::text(reply.text));
    }
    match reply.error {
        None => CallToolResult::success(content),
        Some(error) => {
            let mut result = CallToolResult::error(content);
            result.structured_content = Some(error.to_json());
            result
        }
    }
}
