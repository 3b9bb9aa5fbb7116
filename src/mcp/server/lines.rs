//! Runs command lines for requests.

use std::pin::pin;

use rmcp::model::{CallToolResponse, ErrorData, MetaObject};
use rmcp::service::{RequestContext, RoleServer};
use tracing::Instrument as _;

use super::super::client::Client;
use super::super::errors::forged_state;
use super::super::ignored::Ignored;
use super::super::lines::{RUN_KEYS, RunArguments, line_reply, stages_json};
use super::super::progress::{Progress, with_progress};
use super::super::request_context;
use super::Server;
use super::calls::ToolCall;
use crate::call::approval::Denial;
use crate::call::{CallError, LineOutcome, LineRequest, LineResult, Purpose, Toolbox};
use crate::exec::Watch;

/// The member of a result's metadata that has what each program of a line did.
const STAGES_META: &str = "climax/stages";

impl Server {
    /// Runs a command line for the client of `call`.
    ///
    /// # Errors
    /// The request came with a state that was not made for it.
    pub(super) async fn call_line(
        &self,
        arguments: &RunArguments,
        purpose: Purpose,
        call: &ToolCall<'_>,
    ) -> Result<CallToolResponse, ErrorData> {
        let ToolCall { toolbox, client, .. } = call;
        let done = match self.run_line(toolbox, arguments, purpose, client, client.context).await {
            LineResult::InputRequired(result) => return Ok(result.into()),
            LineResult::Done(done) => done,
        };
        if let Some(failure) = &done.failure
            && matches!(failure.error, CallError::ApprovalDenied(Denial::Forged))
        {
            return Err(forged_state());
        }
        self.announce_changes(toolbox, &done);
        let stages = stages_json(&done);
        let ignored = Ignored::of_meta_tool(call.name, call.arguments, &RUN_KEYS);
        let reply = line_reply(done, &toolbox.index, self.options.text_form).ignoring(ignored);
        if let Some(space) = request_context::space(client.context) {
            space.set(super::calls::bytes(&reply));
        }
        let mut result = self.result(call.name, None, reply, client.context);
        if let Some(stages) = stages {
            result.meta.get_or_insert_with(MetaObject::default).0.insert(STAGES_META.to_owned(), stages);
        }
        Ok(result.into())
    }

    /// Tells subscribers what the programs of a line may have changed.
    pub(super) fn announce_changes(&self, toolbox: &Toolbox, done: &LineOutcome) {
        let stages = done.steps.iter().flat_map(|step| &step.stages);
        for tool in stages.filter_map(|stage| toolbox.index.get(&stage.tool)) {
            self.announce_change(tool);
        }
    }

    /// Runs a line with progress and a span. The end of the request ends its programs.
    pub(super) async fn run_line(
        &self,
        toolbox: &Toolbox,
        arguments: &RunArguments,
        purpose: Purpose,
        client: &Client<'_>,
        context: &RequestContext<RoleServer>,
    ) -> LineResult<rmcp::model::InputRequiredResult> {
        let transcript = request_context::detaching(context).map(|detaching| detaching.transcript.clone());
        let is_watched = transcript.is_some();
        let watch = Watch::default().recorded(transcript);
        let progress = Progress::of(context);
        let span = tracing::info_span!("line");
        let env = request_context::trace(context);
        #[cfg(feature = "otlp")]
        let env = crate::telemetry::traces::join_trace(&span, env);
        let request = LineRequest {
            line: &arguments.command,
            directory: arguments.cwd.as_deref(),
            stdin: arguments.stdin.as_deref(),
            watch: (progress.is_some() || is_watched).then_some(&watch),
            env: &env,
            caller: request_context::caller_name(context),
            purpose,
            space: request_context::space(context),
        };
        let run = pin!(toolbox.run_line(request, None, client, self.stop(context)).instrument(span));
        match progress {
            None => run.await,
            Some(progress) => with_progress(context, &progress, &watch, run).await,
        }
    }
}
