//! The protocol's server side: requests in, results out.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use climax_catalog::{ResolvedTool, Strategy};
use futures_util::FutureExt as _;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod, CompleteRequestParams,
    CompleteResult, ConstString as _, ContentBlock, CustomRequest, CustomResult, ErrorCode, ErrorData, Implementation,
    ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    Resource, ServerCapabilities, ServerConfig, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use serde_json::{Map, Value};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::approval::{Client, Seals, StateKey};
use super::extended::{self, Examples, Failure};
use super::kept::{Kept, Owner};
use super::{instructions, meta, origin, progress, reply, resources, tools};
use crate::arguments::{Violation, echo};
use crate::call::{CallError, Called, Request, Toolbox};
use crate::exec::{Stop, Watch};
use crate::live::Live;

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

/// Digits of the catalog's digest in the server's version.
const SHOWN_DIGITS: usize = 16;

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
    ended: CancellationToken,
    _guard: Arc<DropGuard>,
}

impl Conversation {
    fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let ended = CancellationToken::new();
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        Self { number, is_ready: Arc::default(), _guard: Arc::new(ended.clone().drop_guard()), ended }
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
    async fn call_direct(&self, name: &str, arguments: &Map<String, Value>, call: &Call<'_>) -> CallToolResponse {
        let Call { toolbox, client, .. } = call;
        let stop = async {
            tokio::select! {
                // The end of the server cancels every request too.
                biased;
                () = self.shutdown.cancelled() => Stop::ShuttingDown,
                () = client.context.ct.cancelled() => Stop::Cancelled,
            }
        };
        let watch = Watch::default();
        let env = origin::trace(client.context);
        let request = Request { tool: name, arguments, watch: None, env: &env };
        let called = match client.context.meta.get_progress_token() {
            None => toolbox.call(request, client, stop).await,
            Some(token) => {
                let request = Request { watch: Some(&watch), ..request };
                let call = toolbox.call(request, client, stop);
                progress::reported(client.context, token, &watch, call).await
            }
        };
        match called {
            Called::Asked(question) => question.into(),
            Called::Ran(outcome) => {
                let output = toolbox.index.get(name).and_then(ResolvedTool::output);
                self.told(name, reply::reply(name, output, Ok(outcome)), client).into()
            }
            Called::Failed(error) => result(reply::reply(name, None, Err(error))).into(),
        }
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

    fn list_ttl_ms(&self) -> u64 {
        if self.options.changes == Changes::Never { LIST_TTL_MS } else { CHANGING_LIST_TTL_MS }
    }

    /// Who may read what this request leaves behind. From 2026-07-28 on there are no conversations.
    fn owner(&self, context: &RequestContext<RoleServer>) -> Owner {
        let conversation = (!is_modern(context)).then_some(self.conversation.number);
        Owner { caller: origin::caller(context).to_owned(), conversation }
    }

    async fn call_meta(&self, call: &Call<'_>) -> Option<CallToolResponse> {
        let Call { toolbox, name, arguments, .. } = call;
        match *name {
            meta::SEARCH => {
                let answer = meta::search(&toolbox.index, self.options.strategy, arguments);
                Some(text_or_refusal(name, answer, meta::search_schema).into())
            }
            meta::CALL => Some(match meta::call_request(arguments) {
                Ok(request) => self.call_direct(&request.tool_name, &request.arguments, call).await,
                Err(violations) => refusal(name, &violations, &meta::call_schema()).into(),
            }),
            _ => None,
        }
    }

    /// What a request for a tool is answered with; `None` if no such tool is registered in this mode.
    async fn answer(&self, call: &Call<'_>) -> Result<Option<CallToolResponse>, ErrorData> {
        match self.options.mode {
            Mode::Meta => Ok(self.call_meta(call).await),
            Mode::Extended => self.call_extended(call).await,
            Mode::Classic => {
                let response = self.call_direct(call.name, call.arguments, call).await;
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
            _ => return Ok(self.call_meta(call).await),
        };
        match answer {
            Ok(json) => Ok(Some(text_or_refusal(name, Ok(json), schema).into())),
            Err(Failure::Arguments(violations)) => Ok(Some(text_or_refusal(name, Err(violations), schema).into())),
            Err(Failure::Cursor(error)) => Err(error),
        }
    }
}

fn is_modern(context: &RequestContext<RoleServer>) -> bool {
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

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let toolbox = self.live.toolbox();
        // Build metadata of a version (SemVer 2.0, item 10): what tells two servers of one version apart.
        let version = format!("{}+{}", env!("CARGO_PKG_VERSION"), &toolbox.digest()[..SHOWN_DIGITS]);
        let name = Implementation::new("climax", version);
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources();
        let capabilities =
            if self.options.changes == Changes::Told { capabilities.enable_tool_list_changed() } else { capabilities }
                .build();
        ServerConfig::new(capabilities)
            .with_server_info(name)
            .with_instructions(instructions::instructions(&toolbox.index, self.options.mode))
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if page.is_some_and(|page| page.cursor.is_some()) {
            return Err(ErrorData::invalid_params("Unknown cursor: the list of tools has one page", None));
        }
        let list = ListToolsResult::with_all_items(tools::tools(&self.live.toolbox().index, self.options.mode));
        // MCP 2026-07-28, server/utilities/caching; earlier revisions have no such fields.
        let list_ttl_ms = self.list_ttl_ms();
        Ok(if is_modern(&context) { list.with_ttl_ms(list_ttl_ms).with_cache_scope(CacheScope::Private) } else { list })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let client = Client {
            context: &context,
            seals: &self.seals,
            answers: request.input_responses.as_ref(),
            state: request.request_state.as_deref(),
        };
        let toolbox = self.live.toolbox();
        let call = Call { toolbox: &toolbox, name: &request.name, arguments: &arguments, client };
        // The SDK does not answer for a handler that panics, and the client would wait for ever.
        let answer = AssertUnwindSafe(self.answer(&call)).catch_unwind().await;
        let answer = answer.map_err(|_| ErrorData::internal_error("Internal error: the call was given up", None))??;
        // MCP 2025-11-25, server/tools, "Error Handling": an unknown tool is a protocol error.
        answer.ok_or_else(|| ErrorData::invalid_params(format!("Unknown tool: {}", echo(&request.name)), None))
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = page.and_then(|page| page.cursor);
        let list = resources::list(&self.live.toolbox().index, cursor.as_deref())?;
        let list_ttl_ms = self.list_ttl_ms();
        Ok(if is_modern(&context) { list.with_ttl_ms(list_ttl_ms).with_cache_scope(CacheScope::Private) } else { list })
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let list = ListResourceTemplatesResult::with_all_items(resources::templates());
        Ok(if is_modern(&context) { list.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Private) } else { list })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let owner = self.owner(&context);
        let contents = resources::read(&self.live.toolbox().index, &self.kept, &owner, &request.uri)?;
        let read = ReadResourceResult::new(vec![contents]);
        let read = if is_modern(&context) {
            read.with_ttl_ms(self.list_ttl_ms()).with_cache_scope(CacheScope::Private)
        } else {
            read
        };
        Ok(read.into())
    }

    /// Clients until 2025-11-25 are told of another list of tools as long as they are there.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        // A client that says it again is told of each change once all the same.
        if self.options.changes != Changes::Told || self.conversation.is_ready.swap(true, Ordering::Relaxed) {
            return;
        }
        let mut changes = self.live.list_changes();
        let ended = self.conversation.ended.clone();
        tokio::spawn(async move {
            while ended.run_until_cancelled(changes.next()).await.is_some() {
                if context.peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        });
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    /// From 2026-07-28 on those are told who have asked for it.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.live.list_changes();
        loop {
            tokio::select! {
                biased;
                () = self.shutdown.cancelled() => return Ok(()),
                () = context.cancelled() => return Ok(()),
                () = changes.next() => {}
            }
            if context.sink().notify_tool_list_changed().await.is_err() {
                return Ok(());
            }
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(method_not_found(&request.method))
    }

    // What the server does not declare it does not have; the SDK would answer with empty lists.

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(method_not_found(ListPromptsRequestMethod::VALUE))
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(method_not_found(CompleteRequestMethod::VALUE))
    }
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
