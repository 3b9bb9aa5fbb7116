//! Runs command lines for requests.

use rmcp::model::{CallToolResponse, ErrorData, MetaObject};

use super::super::client::Client;
use super::super::ignored::Ignored;
use super::super::line_reply::{line_reply, stages_json};
use super::super::progress::Progress;
use super::super::surface::{RUN_KEYS, RunArguments};
use super::Server;
use super::calls::answerable;
use super::tool_request::ToolRequest;
use crate::call::{PlanResult, Purpose};

/// The member of a result's metadata that has what each program of a line did.
const STAGES_META: &str = "climax/stages";

impl Server {
    /// Runs a command line, and answers the request.
    ///
    /// # Errors
    /// The request came with a state that was not made for it.
    pub(super) async fn call_line(
        &self,
        arguments: &RunArguments,
        purpose: Purpose,
        call: &ToolRequest,
        client: &Client<'_>,
    ) -> Result<CallToolResponse, ErrorData> {
        let ToolRequest { toolbox, context, .. } = call;
        let progress = Progress::of(context);
        let ran = self.run(toolbox, arguments.request(), purpose, client, progress.as_ref(), context).await;
        let done = match ran {
            PlanResult::InputRequired(result) => return Ok(result.into()),
            PlanResult::Done(done) => done,
        };
        if let Some(failure) = &done.failure {
            answerable(&failure.error, context)?;
        }

        let stages = stages_json(&done);
        let ignored = Ignored::of_meta_tool(&call.name, &call.arguments, &RUN_KEYS);
        let reply = line_reply(done, &toolbox.index, self.options.text_form).ignoring(ignored);
        let mut result = self.respond(&call.name, None, reply, context);
        if let Some(stages) = stages {
            result.meta.get_or_insert_with(MetaObject::default).0.insert(STAGES_META.to_owned(), stages);
        }
        Ok(result.into())
    }
}
