//! The protocol's server side: requests in, results out.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use climax_catalog::{ResolvedTool, Risk, Strategy};
use rmcp::model::{
    CallToolResponse, CallToolResult, ClientRequest, ContentBlock, ErrorCode, ErrorData, GetMeta as _,
    InputRequiredResult, ProtocolVersion, Resource, ResourceContents,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::Instrument as _;

use super::client::Client;
use super::extended::{self, Examples, Failure};
use super::kept::{Kept, Owner};
use super::log::{Log, Threshold};
use super::reply::MediaKind;
use super::seals::{Seals, StateKey};
use super::subscribed::Subscribed;
use super::{meta, origin, progress, reply, resources};
use crate::approval::{Approver, Denial, Nobody};
use crate::arguments::{Violation, echo};
use crate::call::{CallError, Called, Request, Toolbox, Via};
use crate::exec::{End, Outcome, Stop, Watch};
use crate::limits::MAX_WHOLE_OUTPUT_BYTES;
use crate::live::Live;

mod handler;
mod told;

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

/// The URI of an output that cannot be read again: the system gave no number for it.
const UNKEPT_URI: &str = "climax://output/none";

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
    /// Whether the client is told of changes.
    is_followed: Arc<AtomicBool>,
    subscribed: Arc<Subscribed>,
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

/// What came of reading what a tool prints.
pub(super) enum Read {
    Contents(ResourceContents),
    /// The client is to ask its user first.
    Asked(InputRequiredResult),
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
        let tool = toolbox.index.get(name);
        let reply = match self.run(toolbox, name, arguments, Via::Call, client, client.context).await {
            Called::Asked(question) => return Ok(question.into()),
            Called::Ran(outcome) => reply::reply(name, tool.and_then(ResolvedTool::output), Ok(outcome)),
            Called::Failed(CallError::ApprovalDenied(Denial::Forged)) => return Err(forged_state()),
            Called::Failed(CallError::ApprovalDenied(Denial::Unanswerable)) if is_modern(client.context) => {
                return Err(no_elicitation());
            }
            Called::Failed(error) => reply::reply(name, None, Err(error)),
        };
        if let (Some(tool), Some(error)) = (tool, &reply.error)
            && let Some(log) = self.log(tool, client.context)
        {
            log.failed(&error.message).await;
        }
        let uri = tool.filter(|tool| tool.output().is_some()).and_then(|tool| resources::uri(tool, arguments));
        Ok(self.told(name, uri, reply, client.context).into())
    }

    /// The log of a call, if its client has asked for one.
    fn log<'a>(&'a self, tool: ResolvedTool<'a>, context: &'a RequestContext<RoleServer>) -> Option<Log<'a>> {
        Log::of(context, &self.conversation.log, tool.name())
    }

    /// Runs a tool for the sake of a request, which ends it when it ends.
    async fn run<A: Approver>(
        &self,
        toolbox: &Toolbox,
        name: &str,
        arguments: &Map<String, Value>,
        via: Via,
        approver: &A,
        context: &RequestContext<RoleServer>,
    ) -> Called<A::Question> {
        let stop = async {
            tokio::select! {
                // The end of the server cancels every request too.
                biased;
                () = self.shutdown.cancelled() => Stop::ShuttingDown,
                () = context.ct.cancelled() => Stop::Cancelled,
            }
        };
        let served = toolbox.index.get(name);
        let log = served.and_then(|tool| self.log(tool, context));
        let watch = if log.is_some() { Watch::with_lines() } else { Watch::default() };
        let progress_token = context.meta.get_progress_token();
        let span = tracing::info_span!("call", tool = name, outcome = tracing::field::Empty);
        let env = origin::trace(context);
        #[cfg(feature = "otlp")]
        let env = crate::traces::joined(&span, env);
        let request = Request {
            tool: name,
            arguments,
            watch: (log.is_some() || progress_token.is_some()).then_some(&watch),
            env: &env,
            caller: origin::caller_name(context),
            via,
        };
        let call = pin!(toolbox.call(request, approver, stop).instrument(span.clone()));
        let call = pin!(async {
            match log.as_ref().zip(watch.lines()) {
                None => call.await,
                Some((log, lines)) => log.followed(lines, call).await,
            }
        });
        let called = match progress_token {
            None => call.await,
            Some(token) => progress::reported(context, token, &watch, call).await,
        };
        span.record("outcome", called.outcome());
        if let (Called::Ran(_), Some(tool)) = (&called, served)
            && tool.risk() != Risk::Read
        {
            self.live.touch(tool.cli().name());
        }
        called
    }

    /// The resource that a tool prints.
    pub(super) async fn read(
        &self,
        toolbox: &Toolbox,
        (tool, arguments): (ResolvedTool<'_>, Map<String, Value>),
        uri: &str,
        client: &Client<'_>,
    ) -> Result<Read, ErrorData> {
        let is_modern = is_modern(client.context);
        let not_read = |text: &str| {
            let message = format!("{} was not read: {text}", echo(uri));
            Err(ErrorData::internal_error(message, Some(json!({ "uri": uri }))))
        };
        match self.run(toolbox, tool.name(), &arguments, Via::Resource, client, client.context).await {
            Called::Asked(question) => Ok(Read::Asked(question)),
            Called::Ran(Outcome { end: End::Exited(0), stdout, .. }) => {
                let printed = stdout.total_bytes();
                match stdout.into_bytes() {
                    Some(bytes) => {
                        Ok(Read::Contents(resources::contents(uri, &bytes, tool.output().unwrap_or(resources::TEXT))))
                    }
                    None => not_read(&format!("it has {printed} bytes, and the most is {MAX_WHOLE_OUTPUT_BYTES}")),
                }
            }
            Called::Ran(outcome) => not_read(&reply::reply(tool.name(), None, Ok(outcome)).text),
            // The URI is of the form, but no such thing can be.
            Called::Failed(CallError::InvalidArguments { .. }) => Err(no_resource(uri, is_modern)),
            Called::Failed(CallError::ApprovalDenied(Denial::Forged)) => Err(forged_state()),
            Called::Failed(error) => not_read(&reply::reply(tool.name(), None, Err(error)).text),
        }
    }

    /// What a tool that changes nothing prints, as a prompt shows it.
    ///
    /// # Errors
    /// It did not run, or not well.
    pub(super) async fn printed(
        &self,
        toolbox: &Toolbox,
        name: &str,
        arguments: &Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Vec<ContentBlock>, ErrorData> {
        let tool = toolbox.index.get(name);
        match self.run(toolbox, name, arguments, Via::Prompt, &Nobody, context).await {
            Called::Ran(outcome) if outcome.end != End::Exited(0) => {
                let reply = reply::reply(name, None, Ok(outcome));
                Err(ErrorData::internal_error(format!("{name} failed: {}", reply.text), None))
            }
            Called::Ran(outcome) => {
                let reply = reply::reply(name, tool.and_then(ResolvedTool::output), Ok(outcome));
                let uri = tool.filter(|tool| tool.output().is_some()).and_then(|tool| resources::uri(tool, arguments));
                Ok(self.told(name, uri, reply, context).content)
            }
            Called::Failed(error) => Err(ErrorData::invalid_params(reply::reply(name, None, Err(error)).text, None)),
            Called::Asked(never) => match never {},
        }
    }

    /// A reply, with a link to the rest of what it shows a part of. What is neither text, image nor sound is a resource, which
    /// can be read again: by the URI of the tool's, or for some minutes.
    fn told(
        &self,
        tool: &str,
        uri: Option<String>,
        mut reply: reply::Reply,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let keep =
            |media: &reply::Media| self.kept.keep(self.owner(context), media.bytes.clone(), Some(media.mime.clone()));
        let mut uri = uri;
        let uris = reply.media.iter().map(|media| match media.kind() {
            // Only what is printed can be read by the tool's own URI, and that stands first.
            MediaKind::Other => uri.take().or_else(|| keep(media)),
            MediaKind::Image | MediaKind::Audio => None,
        });
        let uris: Vec<Option<String>> = uris.collect();
        let whole = reply.whole.take().filter(|_| knows_links(context));
        let mut result = result(reply, uris);
        if let Some(bytes) = whole {
            let size = bytes.len() as u64;
            if let Some(uri) = self.kept.keep(self.owner(context), bytes, None) {
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
    result(reply::invalid_arguments(name, violations, Vec::new(), schema), Vec::new())
}

pub(super) fn forged_state() -> ErrorData {
    let message =
        "Invalid requestState: it was not made for this call, or was changed; call without it to be asked anew";
    ErrorData::invalid_params(message, None)
}

/// MCP 2025-11-25, server/resources, "Error Handling"; from 2026-07-28 on the address is an invalid parameter.
fn no_resource(uri: &str, is_modern: bool) -> ErrorData {
    let message = format!("No such resource: {}", echo(uri));
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

/// A reply as a result. `uris` say where what is neither text, image nor sound can be read.
fn result(reply: reply::Reply, uris: Vec<Option<String>>) -> CallToolResult {
    let mut content = Vec::new();
    for (media, uri) in reply.media.iter().zip(uris) {
        let data = |bytes| BASE64_STANDARD.encode(bytes);
        content.push(match media.kind() {
            MediaKind::Image => ContentBlock::image(data(&media.bytes), &media.mime),
            MediaKind::Audio => ContentBlock::audio(data(&media.bytes), &media.mime),
            MediaKind::Other => {
                let uri = uri.unwrap_or_else(|| UNKEPT_URI.to_owned());
                ContentBlock::resource(resources::contents(&uri, &media.bytes, &media.mime))
            }
        });
    }
    if reply.media.is_empty() || !reply.text.is_empty() {
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
