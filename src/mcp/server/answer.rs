//! `tools/call`: hands a request to a meta-tool, or to a tool of the catalog.

use std::path::Path;

use climax_catalog::OutputForm;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, ErrorData};
use serde_json::{Map, Value};

use super::super::client::Client;
use super::super::job_tool::JOB_TOOL;
use super::super::output_tool::{self, OUTPUT_TOOL};
use super::super::reply::{self, ErrorObject, Reply};
use super::super::surface::{
    CallArguments, Failure, JudgeArguments, MetaRequest, MetaSurface, MetaTool, Surface, Work,
};
use super::Server;
use super::calls::render;
use super::tool_request::ToolRequest;
use crate::call::arguments::Violation;
use crate::call::judge::Judgement;
use crate::call::{CallError, ErrorCode, Purpose, Toolbox};

impl Server {
    /// Answers a request for a tool. Returns `None` if the surface has no tool of that name.
    pub(super) async fn answer(
        &self,
        call: &ToolRequest,
        client: &Client<'_>,
    ) -> Result<Option<CallToolResponse>, ErrorData> {
        match &self.options.surface {
            Surface::Classic => {
                let response = self.call_by_name(&call.name, &call.arguments, Purpose::Call, call, client).await?;
                Ok(call.toolbox.index.get(&call.name).map(|_| response))
            }
            Surface::Meta(surface) => match surface.find(&call.name) {
                Some(tool) => self.call_meta(tool, surface, call, client).await.map(Some),
                None if surface.has_own_job_tool() && call.name == JOB_TOOL => {
                    self.call_by_name(&call.name, &call.arguments, Purpose::Call, call, client).await.map(Some)
                }
                None => Ok(None),
            },
        }
    }

    /// Answers with a part of an output that an earlier result shows in part.
    fn read_output(&self, arguments: &Map<String, Value>, call: &ToolRequest) -> CallToolResult {
        let reader = self.output_reader(&call.context);
        let most = call.toolbox.runner.limits().stream_bytes;
        match output_tool::answer(&self.outputs, &reader, arguments, most, self.options.text_form) {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(message) => {
                let error = ErrorObject::new(ErrorCode::InvalidArguments, OUTPUT_TOOL, &message);
                render(Reply { error: Some(error), ..Reply::text(message) }, Vec::new())
            }
        }
    }

    /// Judges a line of another shell. Nothing runs.
    fn judged(&self, JudgeArguments { command, cwd }: &JudgeArguments, toolbox: &Toolbox) -> Judgement {
        let judge = self.served.judge();
        let judged = judge.map(|judge| judge.judge(toolbox, command, cwd.as_deref().map(Path::new)));
        judged.unwrap_or_else(|| Judgement::unread("this server was set up without a judge of lines".to_owned()))
    }

    /// Does the work of a meta-tool.
    async fn call_meta(
        &self,
        tool: MetaTool,
        surface: &MetaSurface,
        call: &ToolRequest,
        client: &Client<'_>,
    ) -> Result<CallToolResponse, ErrorData> {
        let ToolRequest { toolbox, arguments, .. } = call;
        let request = MetaRequest { surface, toolbox, strategy: self.options.strategy, arguments };
        match tool.work(request) {
            Ok(Work::Answer(json)) => Ok(CallToolResult::success(vec![ContentBlock::text(json)]).into()),
            Ok(Work::Judge(arguments)) => {
                Ok(CallToolResult::structured(self.judged(&arguments, toolbox).to_json()).into())
            }
            Ok(Work::Call(CallArguments { tool_name, arguments }, _))
                if tool_name == OUTPUT_TOOL && toolbox.index.get(OUTPUT_TOOL).is_none() =>
            {
                Ok(self.read_output(&arguments, call).into())
            }
            Ok(Work::Call(CallArguments { tool_name, arguments }, purpose)) => {
                self.call_by_name(&tool_name, &arguments, purpose, call, client).await
            }
            Ok(Work::Line(arguments, purpose)) => self.call_line(&arguments, purpose, call, client).await,
            Ok(Work::Chain(steps)) => self.call_chain(steps, call, client).await,
            #[cfg(has_code)]
            Ok(Work::Code(arguments)) => self.call_code(&arguments, call, client).await,
            Err(Failure::Arguments(violations)) => {
                Ok(invalid_arguments(&call.name, &violations, &tool.schema(&surface.under(&toolbox.policy))).into())
            }
            Err(Failure::UnknownTool { name, suggestions }) => {
                let unknown = Err(CallError::UnknownTool { suggestions });
                let reply = reply::reply(&name, OutputForm::Text, unknown, self.options.text_form);
                Ok(render(reply, Vec::new()).into())
            }
            Err(Failure::Cursor(error)) => Err(error),
        }
    }
}

/// The result for arguments that violate the schema of a meta-tool.
fn invalid_arguments(name: &str, violations: &[Violation], schema: &Value) -> CallToolResult {
    render(reply::invalid_arguments(name, violations, Vec::new(), schema), Vec::new())
}
