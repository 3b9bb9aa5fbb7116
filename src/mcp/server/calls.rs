//! Calls of tools for the sake of requests, and what their replies are as results.

use std::pin::pin;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use climax_catalog::{ResolvedTool, Risk};
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, ErrorData, InputRequiredResult, ProtocolVersion, Resource,
    ResourceContents,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};
use tracing::Instrument as _;

use super::super::client::Client;
use super::super::errors::{forged_state, no_elicitation, no_resource};
use super::super::log::Log;
use super::super::reply::MediaKind;
use super::super::revision::is_modern;
use super::super::{progress, reply, request_context, resources};
use super::Server;
use crate::call::approval::{Approver, Denial, Unattended};
use crate::call::arguments::echo;
use crate::call::{CallError, CallRequest, CallResult, Purpose, Toolbox};
use crate::exec::MAX_WHOLE_OUTPUT_BYTES;
use crate::exec::{End, Outcome, Stop, Watch};

/// The URI of an output that cannot be read again: the system gave no number for it.
const UNKEPT_URI: &str = "climax://output/none";

/// What came of reading what a tool prints.
pub(super) enum Read {
    Contents(ResourceContents),
    /// The client is to ask its user first.
    InputRequired(InputRequiredResult),
}

/// A request for a tool, and the client that made it.
pub(super) struct ToolCall<'a> {
    pub(super) toolbox: &'a Toolbox,
    pub(super) name: &'a str,
    pub(super) arguments: &'a Map<String, Value>,
    pub(super) client: Client<'a>,
}

impl Server {
    /// Calls a tool of the index with these arguments, on behalf of `client`.
    pub(super) async fn call_direct(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        call: &ToolCall<'_>,
    ) -> Result<CallToolResponse, ErrorData> {
        let ToolCall { toolbox, client, .. } = call;
        let tool = toolbox.index.get(name);
        let reply = match self.run(toolbox, name, arguments, Purpose::Call, client, client.context).await {
            CallResult::InputRequired(question) => return Ok(question.into()),
            CallResult::Ran(outcome) => reply::reply(name, tool.and_then(ResolvedTool::output), Ok(outcome)),
            CallResult::Failed(CallError::ApprovalDenied(Denial::Forged)) => return Err(forged_state()),
            CallResult::Failed(CallError::ApprovalDenied(Denial::Unanswerable)) if is_modern(client.context) => {
                return Err(no_elicitation());
            }
            CallResult::Failed(error) => reply::reply(name, None, Err(error)),
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
        Log::of(context, &self.connection.log, tool.name())
    }

    /// Runs a tool for the sake of a request, which ends it when it ends.
    async fn run<A: Approver>(
        &self,
        toolbox: &Toolbox,
        name: &str,
        arguments: &Map<String, Value>,
        purpose: Purpose,
        approver: &A,
        context: &RequestContext<RoleServer>,
    ) -> CallResult<A::Question> {
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
        let env = request_context::trace(context);
        #[cfg(feature = "otlp")]
        let env = crate::telemetry::traces::join_trace(&span, env);
        let request = CallRequest {
            tool: name,
            arguments,
            watch: (log.is_some() || progress_token.is_some()).then_some(&watch),
            env: &env,
            caller: request_context::caller_name(context),
            purpose,
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
        span.record("outcome", called.codes().outcome);
        if let (CallResult::Ran(_), Some(tool)) = (&called, served)
            && tool.risk() != Risk::Read
        {
            self.served.announce_output_change(tool.cli().name());
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
        match self.run(toolbox, tool.name(), &arguments, Purpose::Resource, client, client.context).await {
            CallResult::InputRequired(question) => Ok(Read::InputRequired(question)),
            CallResult::Ran(Outcome { end: End::Exited(0), stdout, .. }) => {
                let printed = stdout.total_bytes();
                match stdout.into_bytes() {
                    Some(bytes) => {
                        Ok(Read::Contents(resources::contents(uri, &bytes, tool.output().unwrap_or(resources::TEXT))))
                    }
                    None => not_read(&format!("it has {printed} bytes, and the most is {MAX_WHOLE_OUTPUT_BYTES}")),
                }
            }
            CallResult::Ran(outcome) => not_read(&reply::reply(tool.name(), None, Ok(outcome)).text),
            // The URI is of the form, but no such thing can be.
            CallResult::Failed(CallError::InvalidArguments { violations, .. }) => {
                let why: Vec<String> = violations.iter().map(ToString::to_string).collect();
                Err(no_resource(uri, Some(&why.join("; ")), is_modern))
            }
            CallResult::Failed(CallError::ApprovalDenied(Denial::Forged)) => Err(forged_state()),
            CallResult::Failed(error) => not_read(&reply::reply(tool.name(), None, Err(error)).text),
        }
    }

    /// What a tool that changes nothing prints, as a prompt shows it.
    ///
    /// # Errors
    /// It did not run, or not well.
    pub(in crate::mcp) async fn printed(
        &self,
        toolbox: &Toolbox,
        name: &str,
        arguments: &Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Vec<ContentBlock>, ErrorData> {
        let tool = toolbox.index.get(name);
        match self.run(toolbox, name, arguments, Purpose::Prompt, &Unattended, context).await {
            CallResult::Ran(outcome) if outcome.end != End::Exited(0) => {
                let reply = reply::reply(name, None, Ok(outcome));
                Err(ErrorData::internal_error(format!("{name} failed: {}", reply.text), None))
            }
            CallResult::Ran(outcome) => {
                let reply = reply::reply(name, tool.and_then(ResolvedTool::output), Ok(outcome));
                let uri = tool.filter(|tool| tool.output().is_some()).and_then(|tool| resources::uri(tool, arguments));
                Ok(self.told(name, uri, reply, context).content)
            }
            CallResult::Failed(error) => {
                Err(ErrorData::invalid_params(reply::reply(name, None, Err(error)).text, None))
            }
            CallResult::InputRequired(never) => match never {},
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
        let keep = |media: &reply::Media| {
            self.outputs.store(self.output_reader(context), media.bytes.clone(), Some(media.mime.clone()))
        };
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
            if let Some(uri) = self.outputs.store(self.output_reader(context), bytes, None) {
                let link = Resource::new(uri, format!("output of {tool}")).with_mime_type("text/plain").with_size(size);
                let how = "All that was printed, for some minutes. Read parts of it with ?offset=BYTES&length=BYTES";
                result.content.push(ContentBlock::resource_link(link.with_description(how)));
            }
        }
        result
    }
}

/// MCP 2025-06-18 has links in results; clients before it would not take the whole result.
fn knows_links(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2025_06_18)
}

/// A reply as a result. `uris` say where what is neither text, image nor sound can be read.
pub(super) fn result(reply: reply::Reply, uris: Vec<Option<String>>) -> CallToolResult {
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
