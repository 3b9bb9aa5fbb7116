//! The protocol's server side: requests in, results out.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use climax_catalog::Strategy;
use futures_util::FutureExt as _;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod, CompleteRequestParams,
    CompleteResult, ConstString as _, ContentBlock, CustomRequest, CustomResult, ErrorCode, ErrorData, Implementation,
    ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesRequestMethod, ListResourceTemplatesResult,
    ListResourcesRequestMethod, ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::approval::{Client, Seals};
use super::extended::{self, Examples, Failure};
use super::{instructions, meta, progress, reply, tools};
use crate::arguments::{Violation, echo};
use crate::call::{CallError, Called, Request, Toolbox};
use crate::exec::{Stop, Watch};

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

/// How long clients may keep a tool list, in milliseconds: it does not change while the server runs.
const LIST_TTL_MS: u64 = 3_600_000;

/// Digits of the catalog's digest in the server's version.
const SHOWN_DIGITS: usize = 16;

/// A server over one toolbox.
#[derive(Clone, Debug)]
pub struct Server {
    toolbox: Arc<Toolbox>,
    options: Options,
    shutdown: CancellationToken,
    seals: Arc<Seals>,
}

/// What a server offers, and how.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Which tools a client sees.
    pub mode: Mode,
    /// How `climax_search` finds tools.
    pub strategy: Strategy,
}

/// A request for a tool, and the client that made it.
struct Call<'a> {
    name: &'a str,
    arguments: &'a Map<String, Value>,
    client: Client<'a>,
}

impl Server {
    /// A server that gives up running calls when `shutdown` is cancelled.
    #[must_use]
    pub fn new(toolbox: Arc<Toolbox>, options: Options, shutdown: CancellationToken) -> Self {
        Self { toolbox, options, shutdown, seals: Arc::new(Seals::new()) }
    }

    /// Calls a tool of the index with these arguments, on behalf of `client`.
    async fn call_direct(&self, name: &str, arguments: &Map<String, Value>, client: &Client<'_>) -> CallToolResponse {
        let stop = async {
            tokio::select! {
                // The end of the server cancels every request too.
                biased;
                () = self.shutdown.cancelled() => Stop::ShuttingDown,
                () = client.context.ct.cancelled() => Stop::Cancelled,
            }
        };
        let watch = Watch::default();
        let called = match client.context.meta.get_progress_token() {
            None => self.toolbox.call(Request { tool: name, arguments, watch: None }, client, stop).await,
            Some(token) => {
                let request = Request { tool: name, arguments, watch: Some(&watch) };
                let call = self.toolbox.call(request, client, stop);
                progress::reported(client.context, token, &watch, call).await
            }
        };
        match called {
            Called::Asked(question) => question.into(),
            Called::Ran(outcome) => result(reply::reply(name, Ok(outcome))).into(),
            Called::Failed(error) => result(reply::reply(name, Err(error))).into(),
        }
    }

    async fn call_meta(&self, call: &Call<'_>) -> Option<CallToolResponse> {
        let Call { name, arguments, client } = call;
        match *name {
            meta::SEARCH => {
                let answer = meta::search(&self.toolbox.index, self.options.strategy, arguments);
                Some(text_or_refusal(name, answer, meta::search_schema).into())
            }
            meta::CALL => Some(match meta::call_request(arguments) {
                Ok(request) => self.call_direct(&request.tool_name, &request.arguments, client).await,
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
                let response = self.call_direct(call.name, call.arguments, &call.client).await;
                Ok(self.toolbox.index.get(call.name).map(|_| response))
            }
        }
    }

    async fn call_extended(&self, call: &Call<'_>) -> Result<Option<CallToolResponse>, ErrorData> {
        let Call { name, arguments, .. } = *call;
        let index = &self.toolbox.index;
        let (answer, schema): (_, fn() -> Value) = match name {
            meta::SEARCH => {
                let digest = self.toolbox.digest();
                (extended::search(index, self.options.strategy, digest, arguments), extended::search_schema)
            }
            extended::DESCRIBE => (extended::describe(&self.toolbox, arguments), extended::describe_schema),
            extended::EXAMPLES => match extended::examples(index, arguments) {
                Ok(Examples::Json(json)) => (Ok(json), extended::examples_schema),
                Ok(Examples::UnknownTool { name, suggestions }) => {
                    let unknown = Err(CallError::UnknownTool { suggestions });
                    return Ok(Some(result(reply::reply(&name, unknown)).into()));
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
        // Build metadata of a version (SemVer 2.0, item 10): what tells two servers of one version apart.
        let version = format!("{}+{}", env!("CARGO_PKG_VERSION"), &self.toolbox.digest()[..SHOWN_DIGITS]);
        let name = Implementation::new("climax", version);
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(name)
            .with_instructions(instructions::instructions(&self.toolbox.index, self.options.mode))
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if page.is_some_and(|page| page.cursor.is_some()) {
            return Err(ErrorData::invalid_params("Unknown cursor: the list of tools has one page", None));
        }
        let list = ListToolsResult::with_all_items(tools::tools(&self.toolbox.index, self.options.mode));
        let is_modern = context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        // MCP 2026-07-28, server/utilities/caching; earlier revisions have no such fields.
        Ok(if is_modern { list.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Private) } else { list })
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
        let call = Call { name: &request.name, arguments: &arguments, client };
        // The SDK does not answer for a handler that panics, and the client would wait for ever.
        let answer = AssertUnwindSafe(self.answer(&call)).catch_unwind().await;
        let answer = answer.map_err(|_| ErrorData::internal_error("Internal error: the call was given up", None))??;
        // MCP 2025-11-25, server/tools, "Error Handling": an unknown tool is a protocol error.
        answer.ok_or_else(|| ErrorData::invalid_params(format!("Unknown tool: {}", echo(&request.name)), None))
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

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(method_not_found(ListResourcesRequestMethod::VALUE))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(method_not_found(ListResourceTemplatesRequestMethod::VALUE))
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
    let content = vec![ContentBlock::text(reply.text)];
    match reply.error {
        None => CallToolResult::success(content),
        Some(error) => {
            let mut result = CallToolResult::error(content);
            result.structured_content = Some(error.to_json());
            result
        }
    }
}
