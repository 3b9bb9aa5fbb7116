//! The methods that the SDK calls for each request of a client.

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestMethod, CompleteRequestParams,
    CompleteResult, ConstString as _, CustomRequest, CustomResult, ErrorData, GetPromptRequestParams,
    GetPromptResponse, GetSkillRequestParams, GetSkillResult, GetTaskParams, GetTaskResult, InitializeRequestParams,
    InitializeResult, JsonObject, ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListSkillsResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ServerConfig, SetLevelRequestMethod, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};

use super::super::caching::cacheable;
use super::super::client::Client;
use super::super::errors::{method_not_found, resource_not_found};
use super::super::revision::is_modern;
use super::super::{instructions, prompts, resources, server_info, skills, tools};
use super::Server;
use super::calls::ToolResource;
use super::panics::catch_panic;
use super::tool_request::ToolRequest;
use crate::mcp::subscriptions::MAX_SUBSCRIPTIONS;

/// The digits of the catalog's digest that the server's version shows.
const VERSION_DIGEST_DIGITS: usize = 16;

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let toolbox = self.toolbox();
        // The digest is build metadata (SemVer 2.0, item 10). Servers of one version with different tools differ in it.
        let version = format!("{}+{}", env!("CARGO_PKG_VERSION"), &toolbox.digest()[..VERSION_DIGEST_DIGITS]);
        let capabilities = self.capabilities(&toolbox);
        ServerConfig::new(capabilities)
            .with_server_info(server_info::server_info(version))
            .with_instructions(instructions::instructions(&toolbox.index, &self.options.surface))
    }

    /// Declares logging, which only clients that initialize have, and shows the icon.
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut info = self.negotiate_initialize(&request)?;
        info.capabilities.logging = Some(JsonObject::default());
        info.server_info.icons = Some(vec![server_info::icon()]);
        context.peer.set_peer_info(request);
        Ok(info)
    }

    #[expect(deprecated, reason = "the SDK marks all of logging so; clients of the revisions before may still use it")]
    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // A request that names its revision is of one without logging.
        if context.meta.protocol_version().is_some() {
            return Err(method_not_found(SetLevelRequestMethod::VALUE));
        }
        self.connection.min_log_level.set(request.level);
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
        let toolbox = self.toolbox();
        let surface = self.options.surface.under(&toolbox.policy);
        let list = ListToolsResult::with_all_items(tools::tools(&toolbox.index, &surface));
        Ok(cacheable(list, self.list_ttl_ms(), &context))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.enter_root(&context).await;
        let call = ToolRequest {
            toolbox: self.toolbox(),
            name: request.name.into_owned(),
            arguments: request.arguments.unwrap_or_default(),
            responses: request.input_responses,
            state: request.request_state,
            context,
        };
        self.answer_or_detach(call).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.task(&request.task_id, &context)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.update(&request.task_id, request.input_responses, &context)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.cancel(&request.task_id, &context)
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = page.and_then(|page| page.cursor);
        let (items, next) = resources::list(&self.toolbox().index, cursor.as_deref())?;
        let mut list = ListResourcesResult::with_all_items(items);
        list.next_cursor = next;
        Ok(cacheable(list, self.list_ttl_ms(), &context))
    }

    async fn list_resource_templates(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let cursor = page.and_then(|page| page.cursor);
        let (items, next) = resources::templates(&self.toolbox().index, cursor.as_deref())?;
        let mut list = ListResourceTemplatesResult::with_all_items(items);
        list.next_cursor = next;
        Ok(cacheable(list, self.list_ttl_ms(), &context))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.enter_root(&context).await;
        let reader = self.output_reader(&context);
        let uri = resources::check_length(&request.uri)?;
        let toolbox = self.toolbox();
        let client =
            Client::new(&context, &self.states, request.input_responses.as_ref(), request.request_state.as_deref());
        let (contents, ttl_ms) = if let Some(contents) = skills::read(toolbox.skills(), uri) {
            (contents, self.list_ttl_ms())
        } else if let Some(tool) = resources::tool(&toolbox.index, uri) {
            match catch_panic(self.read(&toolbox, tool, uri, &client)).await? {
                // The output of a tool may differ the next time.
                ToolResource::Contents(contents) => (contents, 0),
                ToolResource::InputRequired(result) => return Ok(result.into()),
            }
        } else {
            let contents = resources::read(&toolbox.index, &self.outputs, &reader, uri, self.options.text_form)?;
            (contents.ok_or_else(|| resource_not_found(uri, None, is_modern(&context)))?, self.list_ttl_ms())
        };
        let read = ReadResourceResult::new(vec![contents]);

        Ok(cacheable(read, ttl_ms, &context).into())
    }

    /// The SDK calls it only if the server declares skills.
    async fn list_skills(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        let cursor = page.and_then(|page| page.cursor);
        let (items, next) = skills::list(self.toolbox().skills(), cursor.as_deref())?;
        let mut list = ListSkillsResult::with_all_items(items);
        list.next_cursor = next;
        Ok(cacheable(list, self.list_ttl_ms(), &context))
    }

    /// The SDK calls it only if the server declares skills.
    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        let skill = skills::get(self.toolbox().skills(), resources::check_length(&request.uri)?)?;
        Ok(cacheable(GetSkillResult::new(skill), self.list_ttl_ms(), &context))
    }

    async fn list_prompts(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let toolbox = self.toolbox();
        if !self.has_prompts(&toolbox) {
            return Err(method_not_found(ListPromptsRequestMethod::VALUE));
        }

        let cursor = page.and_then(|page| page.cursor);
        let (items, next) = resources::page(toolbox.prompts().map(prompts::definition), cursor.as_deref())?;
        let mut list = ListPromptsResult::with_all_items(items);
        list.next_cursor = next;
        Ok(cacheable(list, self.list_ttl_ms(), &context))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.enter_root(&context).await;
        let toolbox = self.toolbox();
        let client =
            Client::new(&context, &self.states, request.input_responses.as_ref(), request.request_state.as_deref());
        let arguments = request.arguments.unwrap_or_default();
        catch_panic(prompts::get(self, &toolbox, &request.name, &arguments, &client)).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let toolbox = self.toolbox();
        if !self.has_completions(&toolbox) {
            return Err(method_not_found(CompleteRequestMethod::VALUE));
        }
        let argument = &request.argument;
        prompts::complete(&toolbox, &request.r#ref, &argument.name, &argument.value).map(CompleteResult::new)
    }

    /// For clients until revision 2025-11-25. Later ones send a filter with `subscriptions/listen`.
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let uri = resources::check_length(&request.uri)?;
        if !resources::can_change(&self.toolbox().index, uri) {
            return Err(resource_not_found(uri, None, is_modern(&context)));
        }

        if !self.connection.subscriptions.add(uri) {
            let message = format!("A client subscribes to {MAX_SUBSCRIPTIONS} resources at most");
            return Err(ErrorData::invalid_params(message, None));
        }

        self.notify_of_changes(context.peer);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.connection.subscriptions.remove(&request.uri);
        Ok(())
    }

    /// Clients until revision 2025-11-25 get `list_changed` notifications without a subscription.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if self.sends_list_changed() {
            self.notify_of_changes(context.peer);
        }
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        if let Some(roots) = &self.roots {
            roots.changed().await;
        }
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(self.accepted(requested))
    }

    /// Clients from revision 2026-07-28 on get the notifications of their filter.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.served.subscribe();
        loop {
            let change = tokio::select! {
                biased;
                () = self.shutdown.cancelled() => return Ok(()),
                () = context.cancelled() => return Ok(()),
                change = changes.next() => change,
            };
            if self.notify_subscriber(&context, &change).await.is_err() {
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
}
