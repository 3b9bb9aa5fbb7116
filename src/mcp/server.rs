//! The protocol's server side: requests in, results out.

use std::sync::{Arc, OnceLock};

use climax_catalog::{Strategy, ToolIndex};
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
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::extended::{self, Examples, Failure};
use super::{instructions, meta, reply, tools};
use crate::arguments::{Violation, echo};
use crate::call::{CallError, call};
use crate::exec::Stop;
use crate::limits::Limits;

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

/// A server over one index.
#[derive(Clone, Debug)]
pub struct Server {
    index: Arc<ToolIndex>,
    options: Options,
    limits: Limits,
    shutdown: CancellationToken,
    slots: Arc<Semaphore>,
    /// Of the index; computed when it is first asked for.
    digest: Arc<OnceLock<String>>,
}

/// What a server offers, and how.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Which tools a client sees.
    pub mode: Mode,
    /// How `climax_search` finds tools.
    pub strategy: Strategy,
    /// Programs that run at once at most; calls beyond wait in their order.
    pub concurrency: usize,
}

impl Server {
    /// A server that gives up running calls when `shutdown` is cancelled.
    #[must_use]
    pub fn new(index: ToolIndex, options: Options, limits: Limits, shutdown: CancellationToken) -> Self {
        let slots = Arc::new(Semaphore::new(options.concurrency));
        Self { index: Arc::new(index), options, limits, shutdown, slots, digest: Arc::default() }
    }

    async fn call_direct(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        cancelled: &CancellationToken,
    ) -> CallToolResult {
        let stop = async {
            tokio::select! {
                // The end of the server cancels every request too.
                biased;
                () = self.shutdown.cancelled() => Stop::ShuttingDown,
                () = cancelled.cancelled() => Stop::Cancelled,
            }
        };
        let outcome = call(&self.index, name, arguments, &self.limits, &self.slots, stop).await;
        result(reply::reply(name, outcome))
    }

    async fn call_meta(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        cancelled: &CancellationToken,
    ) -> Option<CallToolResult> {
        match name {
            meta::SEARCH => Some(text_or_refusal(
                name,
                meta::search(&self.index, self.options.strategy, arguments),
                meta::search_schema,
            )),
            meta::CALL => Some(match meta::call_request(arguments) {
                Ok(request) => self.call_direct(&request.tool_name, &request.arguments, cancelled).await,
                Err(violations) => refusal(name, &violations, &meta::call_schema()),
            }),
            _ => None,
        }
    }

    async fn call_extended(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        cancelled: &CancellationToken,
    ) -> Result<Option<CallToolResult>, ErrorData> {
        let (answer, schema): (_, fn() -> Value) = match name {
            meta::SEARCH => {
                let digest = self.digest.get_or_init(|| extended::digest(&self.index));
                (extended::search(&self.index, self.options.strategy, digest, arguments), extended::search_schema)
            }
            extended::DESCRIBE => (extended::describe(&self.index, arguments), extended::describe_schema),
            extended::EXAMPLES => match extended::examples(&self.index, arguments) {
                Ok(Examples::Json(json)) => (Ok(json), extended::examples_schema),
                Ok(Examples::UnknownTool { name, suggestions }) => {
                    return Ok(Some(result(reply::reply(&name, Err(CallError::UnknownTool { suggestions })))));
                }
                Err(failure) => (Err(failure), extended::examples_schema),
            },
            _ => return Ok(self.call_meta(name, arguments, cancelled).await),
        };
        match answer {
            Ok(json) => Ok(Some(text_or_refusal(name, Ok(json), schema))),
            Err(Failure::Arguments(violations)) => Ok(Some(text_or_refusal(name, Err(violations), schema))),
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
        let name = Implementation::new("climax", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(name)
            .with_instructions(instructions::instructions(&self.index, self.options.mode))
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if page.is_some_and(|page| page.cursor.is_some()) {
            return Err(ErrorData::invalid_params("Unknown cursor: the list of tools has one page", None));
        }
        let list = ListToolsResult::with_all_items(tools::tools(&self.index, self.options.mode));
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
        let answer = match self.options.mode {
            Mode::Meta => self.call_meta(&request.name, &arguments, &context.ct).await,
            Mode::Extended => self.call_extended(&request.name, &arguments, &context.ct).await?,
            Mode::Classic if self.index.get(&request.name).is_none() => None,
            Mode::Classic => Some(self.call_direct(&request.name, &arguments, &context.ct).await),
        };
        // MCP 2025-11-25, server/tools, "Error Handling": an unknown tool is a protocol error.
        answer
            .map(CallToolResponse::from)
            .ok_or_else(|| ErrorData::invalid_params(format!("Unknown tool: {}", echo(&request.name)), None))
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
