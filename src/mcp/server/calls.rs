//! Runs tools for requests, and renders the replies as results.

use std::future::Future;
use std::pin::pin;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use climax_catalog::{OutputForm, ResolvedTool, Risk};
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, ErrorData, InputRequiredResult, MetaObject, ProtocolVersion,
    Resource, ResourceContents,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};
use tracing::Instrument as _;
use tracing::field::Empty;

use super::super::client::Client;
use super::super::errors::{elicitation_required, forged_state, resource_not_found};
use super::super::ignored::Ignored;
use super::super::log::CallLog;
use super::super::output_tool;
use super::super::progress::{Progress, with_progress};
use super::super::reply::{Media, MediaKind, Reply, reply};
use super::super::revision::is_modern;
use super::super::surface::Surface;
use super::super::{request_context, resources};
use super::Server;
use super::tool_request::ToolRequest;
use crate::call::approval::{Approver, Denial, Unattended};
use crate::call::arguments::echo;
use crate::call::{CallError, CallResult, PlanResult, Purpose, Request, Session, Toolbox};
use crate::exec::{MAX_WHOLE_OUTPUT_BYTES, Outcome, StderrLines, Stop, Watch};
#[cfg(feature = "otlp")]
use crate::telemetry::traces::{self, Operation};

/// The URI of an output that could not be stored: the system gave no random bytes for its id.
const UNSTORED_URI: &str = "climax://output/none";

/// The description of the link to a stored output.
const OUTPUT_DESCRIPTION: &str =
    "All that was printed, for some minutes. Read parts of it with ?offset=BYTES&length=BYTES";

/// The member of a result's metadata that names ignored arguments.
const IGNORED_META: &str = "climax/ignored";

/// The result of reading a resource that a tool prints.
pub(super) enum ToolResource {
    /// What the tool printed.
    Contents(ResourceContents),
    /// The client has to ask its user first.
    InputRequired(InputRequiredResult),
}

impl Server {
    /// Calls a tool of the catalog by its name, and answers the request.
    pub(super) async fn call_by_name(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        purpose: Purpose,
        request: &ToolRequest,
        client: &Client<'_>,
    ) -> Result<CallToolResponse, ErrorData> {
        let ToolRequest { toolbox, context, .. } = request;
        let tool = toolbox.index.get(name);
        let progress = Progress::of(context);
        let called = Request::Tool { name, arguments };
        let result = self.run(toolbox, called, purpose, client, progress.as_ref(), context).await.into_call();

        let ignored = Ignored::of_call(tool, arguments, &result);
        let reply = match result {
            CallResult::InputRequired(result) => return Ok(result.into()),
            CallResult::Ran(outcome) => reply(name, output_form(tool), Ok(outcome), self.options.text_form),
            CallResult::Failed(error) => {
                answerable(&error, context)?;
                reply(name, OutputForm::Text, Err(error), self.options.text_form)
            }
        };
        if let (Some(tool), Some(error)) = (tool, &reply.error)
            && let Some(log) = self.log(tool, context)
        {
            log.send_failure(&error.message).await;
        }

        let uri = tool.and_then(|tool| output_uri(tool, arguments));
        Ok(self.respond(name, uri, reply.ignoring(ignored), context).into())
    }

    /// Reads the resource that a tool prints.
    ///
    /// # Errors
    /// The call was not approved, or the program failed or printed more than a resource can hold.
    pub(super) async fn read(
        &self,
        toolbox: &Toolbox,
        (tool, arguments): (ResolvedTool<'_>, Map<String, Value>),
        uri: &str,
        client: &Client<'_>,
    ) -> Result<ToolResource, ErrorData> {
        let failed = |text: &str| {
            let message = format!("{} was not read: {text}", echo(uri));
            Err(ErrorData::internal_error(message, Some(json!({ "uri": uri }))))
        };
        let context = client.context;
        let progress = Progress::of(context);
        let called = Request::Tool { name: tool.name(), arguments: &arguments };

        match self.run(toolbox, called, Purpose::Resource, client, progress.as_ref(), context).await.into_call() {
            CallResult::InputRequired(result) => Ok(ToolResource::InputRequired(result)),
            CallResult::Ran(outcome) if outcome.succeeded() => {
                let Outcome { stdout, .. } = outcome;
                let total = stdout.total_bytes();
                let Some(bytes) = stdout.into_bytes() else {
                    return failed(&format!("it has {total} bytes, and the most is {MAX_WHOLE_OUTPUT_BYTES}"));
                };
                Ok(ToolResource::Contents(match tool.output() {
                    Some(mime) => resources::contents(uri, &bytes, mime),
                    None => resources::text_contents(uri, &bytes, self.options.text_form),
                }))
            }
            CallResult::Ran(outcome) => {
                failed(&reply(tool.name(), OutputForm::Text, Ok(outcome), self.options.text_form).text)
            }
            // The URI matches the template, but its values are no arguments of the tool.
            CallResult::Failed(CallError::InvalidArguments { violations, .. }) => {
                let reasons: Vec<String> = violations.iter().map(ToString::to_string).collect();
                Err(resource_not_found(uri, Some(&reasons.join("; ")), is_modern(context)))
            }
            CallResult::Failed(error) => {
                answerable(&error, context)?;
                failed(&reply(tool.name(), OutputForm::Text, Err(error), self.options.text_form).text)
            }
        }
    }

    /// Runs a tool for a message of a prompt, and renders what it prints.
    ///
    /// # Errors
    /// The tool did not run, or its program failed.
    pub(in crate::mcp) async fn prompt_content(
        &self,
        toolbox: &Toolbox,
        name: &str,
        arguments: &Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Vec<ContentBlock>, ErrorData> {
        let tool = toolbox.index.get(name);
        let progress = Progress::of(context);
        let called = Request::Tool { name, arguments };

        match self.run(toolbox, called, Purpose::Prompt, &Unattended, progress.as_ref(), context).await.into_call() {
            CallResult::Ran(outcome) if !outcome.succeeded() => {
                let reply = reply(name, OutputForm::Text, Ok(outcome), self.options.text_form);
                Err(ErrorData::internal_error(format!("{name} failed: {}", reply.text), None))
            }
            CallResult::Ran(outcome) => {
                let reply = reply(name, output_form(tool), Ok(outcome), self.options.text_form);
                let uri = tool.and_then(|tool| output_uri(tool, arguments));
                Ok(self.result(name, uri, reply, context).content)
            }
            CallResult::Failed(error) => Err(ErrorData::invalid_params(
                reply(name, OutputForm::Text, Err(error), self.options.text_form).text,
                None,
            )),
            CallResult::InputRequired(never) => match never {},
        }
    }

    /// Runs what a request asks for, with log messages, progress and a span. The end of the request ends the programs.
    pub(super) async fn run<A: Approver>(
        &self,
        toolbox: &Toolbox,
        request: Request<'_>,
        purpose: Purpose,
        approver: &A,
        progress: Option<&Progress>,
        context: &RequestContext<RoleServer>,
    ) -> PlanResult<A::Question> {
        let (span, log) = match request {
            Request::Tool { name, .. } => {
                let log = toolbox.index.get(name).and_then(|tool| self.log(tool, context));
                (tracing::info_span!("call", tool = name, outcome = Empty, otel.name = Empty, otel.kind = Empty), log)
            }
            Request::Line { .. } => {
                (tracing::info_span!("line", outcome = Empty, otel.name = Empty, otel.kind = Empty), None)
            }
        };
        let transcript = request_context::detaching(context).map(|detaching| detaching.transcript.clone());
        let is_watched = log.is_some() || progress.is_some() || transcript.is_some();
        let watch = if log.is_some() { Watch::with_lines() } else { Watch::default() }.recorded(transcript);
        let env = request_context::trace(context);
        #[cfg(feature = "otlp")]
        let env = traces::join_trace(&span, &operation(&request, purpose, context), env);
        let session = Session {
            caller: request_context::caller_name(context),
            purpose,
            env: &env,
            watch: is_watched.then_some(&watch),
            space: request_context::space(context),
            goes_on: request_context::detaching(context).and_then(|detaching| detaching.goes_on.as_ref()),
        };

        let run = toolbox.run(request, session, None, approver, self.stop(context));
        let run = pin!(run.instrument(span.clone()));
        let run = pin!(with_log(log.as_ref().zip(watch.lines()), run));
        let result = match progress {
            None => run.await,
            Some(progress) => with_progress(context, progress, &watch, run).await,
        };

        span.record("outcome", result.code());
        #[cfg(feature = "otlp")]
        traces::end(&span, result.code());
        self.announce_changes(toolbox, &result);
        result
    }

    /// Tells subscribers which resources the programs of a plan may have changed.
    fn announce_changes<Q>(&self, toolbox: &Toolbox, result: &PlanResult<Q>) {
        let PlanResult::Done(done) = result else { return };
        let stages = done.steps.iter().flat_map(|step| &step.stages);
        for tool in stages.filter_map(|stage| toolbox.index.get(&stage.tool)) {
            if tool.risk() != Risk::Read {
                self.served.announce_output_change(tool.cli().name());
            }
        }
    }

    /// The log of a call; `None` if its client gets no log messages.
    fn log<'a>(&'a self, tool: ResolvedTool<'a>, context: &'a RequestContext<RoleServer>) -> Option<CallLog<'a>> {
        CallLog::of(context, &self.connection.min_log_level, tool.name())
    }

    /// Waits until the server or the request ends.
    pub(super) async fn stop(&self, context: &RequestContext<RoleServer>) -> Stop {
        tokio::select! {
            // The end of the server cancels every request too.
            biased;
            () = self.shutdown.cancelled() => Stop::ShuttingDown,
            () = context.ct.cancelled() => Stop::Cancelled,
        }
    }

    /// Renders the reply to a request, which takes its space until the client has read it.
    pub(super) fn respond(
        &self,
        tool: &str,
        uri: Option<String>,
        reply: Reply,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        if let Some(space) = request_context::space(context) {
            space.set(bytes(&reply));
        }
        self.result(tool, uri, reply, context)
    }

    /// Renders a reply as a result. Adds a link to the full output where the text shows a part of it.
    ///
    /// Media that are neither image nor audio become embedded resources. Standard output has `uri` if the tool gives it one.
    /// Other media are stored.
    fn result(
        &self,
        tool: &str,
        mut uri: Option<String>,
        mut reply: Reply,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let store = |media: &Media| self.store(media.bytes.clone(), Some(media.mime.clone()), context);
        let uris = reply.media.iter().map(|media| match media.kind() {
            // Standard output is the first of the media.
            MediaKind::Other => uri.take().or_else(|| store(media)),
            MediaKind::Image | MediaKind::Audio => None,
        });
        let uris: Vec<Option<String>> = uris.collect();
        let full_output = reply.full_output.take();
        let mut result = render(reply, uris);
        if let Some(bytes) = full_output {
            result.content.extend(self.rest_of(tool, bytes, context));
        }

        result
    }

    /// Stores an output for the client of a request and returns its URI; `None` if it cannot be stored.
    fn store(&self, bytes: Vec<u8>, mime: Option<String>, context: &RequestContext<RoleServer>) -> Option<String> {
        self.outputs.store(self.options.replica.as_ref(), self.output_reader(context), bytes, mime)
    }

    /// Stores the full output of a tool. Returns how to read on: by a call where a meta-tool calls tools by name, and by a link
    /// for clients that know links. Nothing if it cannot be stored.
    fn rest_of(&self, tool: &str, output: Vec<u8>, context: &RequestContext<RoleServer>) -> Vec<ContentBlock> {
        let caller = match &self.options.surface {
            Surface::Meta(surface) => surface.caller().map(|caller| (caller.name(), surface.call_name())),
            Surface::Classic => None,
        };
        if caller.is_none() && !supports_links(context) {
            return Vec::new();
        }

        let total = output.len();
        let Some(uri) = self.store(output, None, context) else { return Vec::new() };
        let shown = self.toolbox().runner.limits().stream_bytes / 2;
        let hint = caller.map(|(caller, name)| ContentBlock::text(output_tool::hint(caller, name, &uri, shown, total)));
        let link = supports_links(context).then(|| link(tool, uri, total as u64));
        link.into_iter().chain(hint).collect()
    }
}

/// A link to the full output of a tool.
fn link(tool: &str, uri: String, size: u64) -> ContentBlock {
    let link = Resource::new(uri, format!("output of {tool}")).with_mime_type("text/plain").with_size(size);
    ContentBlock::resource_link(link.with_description(OUTPUT_DESCRIPTION))
}

/// Checks that an error is one of the call, which the agent can learn from.
///
/// # Errors
/// The error of the protocol: the state was not made for the call, or the client lacks a capability.
pub(super) fn answerable(error: &CallError, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
    match error {
        CallError::ApprovalDenied(Denial::Forged) => Err(forged_state()),
        CallError::ApprovalDenied(Denial::Unanswerable) if is_modern(context) => Err(elicitation_required()),
        _ => Ok(()),
    }
}

/// Roughly the memory of a reply, in bytes. A failed call has its text in the structure too, and media are written in Base64.
fn bytes(reply: &Reply) -> usize {
    let media: usize = reply.media.iter().map(|media| media.bytes.len()).sum();
    2 * (reply.text.len() + media)
}

/// Awaits a call and sends its lines to its log, if it has one.
async fn with_log<T>(log: Option<(&CallLog<'_>, &StderrLines)>, call: impl Future<Output = T>) -> T {
    match log {
        None => call.await,
        Some((log, lines)) => log.with_lines(lines, call).await,
    }
}

/// The form of what a tool prints; text if there is no such tool.
pub(super) fn output_form(tool: Option<ResolvedTool<'_>>) -> OutputForm<'_> {
    tool.map_or(OutputForm::Text, ResolvedTool::output_form)
}

/// The URI under which clients can read the same output again, if the tool has a resource and an `output`.
fn output_uri(tool: ResolvedTool<'_>, arguments: &Map<String, Value>) -> Option<String> {
    tool.output().and_then(|_| resources::uri(tool, arguments))
}

/// The metadata that names ignored arguments; `None` if there are none.
fn ignored_meta(ignored: &[Ignored]) -> Option<MetaObject> {
    let names: Value = ignored.iter().flat_map(|call| call.names.iter().cloned()).collect();
    (!ignored.is_empty()).then(|| MetaObject(Map::from_iter([(IGNORED_META.to_owned(), names)])))
}

/// What the span of a request says of it.
#[cfg(feature = "otlp")]
fn operation<'r>(request: &Request<'r>, purpose: Purpose, context: &RequestContext<RoleServer>) -> Operation<'r> {
    let method = match purpose {
        Purpose::Resource => "resources/read",
        Purpose::Prompt => "prompts/get",
        _ => "tools/call",
    };
    let tool = if let Request::Tool { name, .. } = request { Some(*name) } else { None };
    Operation { method, tool, request: context.id.to_string() }
}

/// Returns whether the client knows links in results. Without them it gets no full output.
///
/// Source: MCP 2025-06-18, server/tools, "Resource Links".
fn supports_links(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2025_06_18)
}

/// Renders a reply as a result. `uris` has the URI of each of the media that becomes an embedded resource.
pub(super) fn render(reply: Reply, uris: Vec<Option<String>>) -> CallToolResult {
    let mut content = Vec::new();
    for (media, uri) in reply.media.iter().zip(uris) {
        let data = |bytes| BASE64_STANDARD.encode(bytes);
        content.push(match media.kind() {
            MediaKind::Image => ContentBlock::image(data(&media.bytes), &media.mime),
            MediaKind::Audio => ContentBlock::audio(data(&media.bytes), &media.mime),
            MediaKind::Other => {
                let uri = uri.unwrap_or_else(|| UNSTORED_URI.to_owned());
                ContentBlock::resource(resources::contents(&uri, &media.bytes, &media.mime))
            }
        });
    }

    if reply.media.is_empty() || !reply.text.is_empty() {
        content.push(ContentBlock::text(reply.text));
    }

    let mut result = match reply.error {
        None => {
            let mut result = CallToolResult::success(content);
            result.structured_content = reply.typed;
            result
        }
        Some(error) => {
            let mut result = CallToolResult::error(content);
            result.structured_content = Some(error.to_json());
            result
        }
    };
    result.meta = ignored_meta(&reply.ignored);

    result
}
