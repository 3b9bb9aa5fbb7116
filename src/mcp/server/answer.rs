//! `tools/call`: which meta-tool or tool answers it.

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, ErrorData};
use serde_json::Value;

use super::super::extended::{self, Examples, Failure};
use super::super::meta;
use super::super::options::Mode;
use super::super::reply;
use super::Server;
use super::calls::{ToolCall, result};
use crate::call::CallError;
use crate::call::arguments::Violation;

impl Server {
    async fn call_meta(&self, call: &ToolCall<'_>) -> Result<Option<CallToolResponse>, ErrorData> {
        let ToolCall { toolbox, name, arguments, .. } = call;
        Ok(Some(match *name {
            meta::SEARCH => {
                let answer = meta::search(&toolbox.index, self.options.strategy, arguments);
                text_or_refusal(name, answer, meta::search_schema).into()
            }
            meta::CALL => match meta::call_request(arguments) {
                Ok(request) => self.call_direct(&request.tool_name, &request.arguments, call).await?,
                Err(violations) => refusal(name, &violations, &meta::call_schema()).into(),
            },
            _ => return Ok(None),
        }))
    }

    /// What a request for a tool is answered with; `None` if no such tool is registered in this mode.
    pub(super) async fn answer(&self, call: &ToolCall<'_>) -> Result<Option<CallToolResponse>, ErrorData> {
        match self.options.mode {
            Mode::Meta => self.call_meta(call).await,
            Mode::Extended => self.call_extended(call).await,
            Mode::Classic => {
                let response = self.call_direct(call.name, call.arguments, call).await?;
                Ok(call.toolbox.index.get(call.name).map(|_| response))
            }
        }
    }

    async fn call_extended(&self, call: &ToolCall<'_>) -> Result<Option<CallToolResponse>, ErrorData> {
        let ToolCall { toolbox, name, arguments, .. } = *call;
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
                    return Ok(Some(result(reply::reply(&name, None, unknown), Vec::new()).into()));
                }
                Err(failure) => (Err(failure), extended::examples_schema),
            },
            _ => return self.call_meta(call).await,
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
    result(reply::invalid_arguments(name, violations, Vec::new(), schema), Vec::new())
}
