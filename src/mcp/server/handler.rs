//! What the SDK asks of a server.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;

use futures_util::FutureExt as _;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestMethod, CompleteRequestParams, CompleteResult,
    ConstString as _, CustomRequest, CustomResult, ErrorData, Implementation, InitializeRequestParams,
    InitializeResult, JsonObject, ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ServerCapabilities, ServerConfig, SetLevelRequestMethod, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use serde_json::json;

use super::super::approval::Client;
use super::super::{instructions, resources, tools};
use super::{Call, Changes, LIST_TTL_MS, Server, is_modern, method_not_found};
use crate::arguments::echo;

/// Digits of the catalog's digest in the server's version.
const SHOWN_DIGITS: usize = 16;

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let toolbox = self.toolbox();
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

    /// Only who opens a conversation can set a level in it.
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut info = self.negotiate_initialize(&request)?;
        info.capabilities.logging = Some(JsonObject::default());
        context.peer.set_peer_info(request);
        Ok(info)
    }

    #[expect(deprecated, reason = "the SDK marks all of logging so; clients of the revisions before may still use it")]
    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // Requests that say themselves of which revision they are belong to no conversation.
        if context.meta.protocol_version().is_some() {
            return Err(method_not_found(SetLevelRequestMethod::VALUE));
        }
        self.conversation.log.set(request.level);
        Ok(())
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if page.is_some_and(|page| page.cursor.is_some()) {
            return Err(ErrorData::invalid_params("Unknown cursor: the list of tools has one page", None));
        }
        let list = ListToolsResult::with_all_items(tools::tools(&self.toolbox().index, self.options.mode));
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
        let toolbox = self.toolbox();
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
        let list = resources::list(&self.toolbox().index, cursor.as_deref())?;
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
        let uri = &request.uri;
        let contents = resources::read(&self.toolbox().index, &self.kept, &owner, uri)?;
        let contents = contents.ok_or_else(|| no_resource(uri, is_modern(&context)))?;
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

/// MCP 2025-11-25, server/resources, "Error Handling"; from 2026-07-28 on the address is an invalid parameter.
fn no_resource(uri: &str, is_modern: bool) -> ErrorData {
    let message = format!("No such resource: {}", echo(uri));
    let data = Some(json!({ "uri": uri }));
    if is_modern { ErrorData::invalid_params(message, data) } else { ErrorData::resource_not_found(message, data) }
}
