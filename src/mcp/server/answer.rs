//! `tools/call`: hands a request to a meta-tool, or to a tool of the catalog.

use climax_catalog::OutputForm;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, ErrorData};
use serde_json::Value;

use super::super::extended::{self, Examples, Failure};
use super::super::meta;
use super::super::options::Mode;
use super::super::reply;
use super::Server;
use super::calls::{ToolCall, render};
use crate::call::CallError;
use crate::call::arguments::Violation;

impl Server {
    /// Answers a request for a tool. Returns `None` if this mode has no tool of that name.
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

    async fn call_meta(&self, call: &ToolCall<'_>) -> Result<Option<CallToolResponse>, ErrorData> {
        let ToolCall { toolbox, name, arguments, .. } = call;
        Ok(Some(match *name {
            meta::SEARCH => {
                let text = meta::search(&toolbox.index, self.options.strategy, arguments);
                text_or_violations(name, text, meta::search_schema).into()
            }
            meta::CALL => match meta::call_request(arguments) {
                Ok(request) => self.call_direct(&request.tool_name, &request.arguments, call).await?,
                Err(violations) => invalid_arguments(name, &violations, &meta::call_schema()).into(),
            },
            _ => return Ok(None),
        }))
    }

    async fn call_extended(&self, call: &ToolCall<'_>) -> Result<Option<CallToolResponse>, ErrorData> {
        let ToolCall { toolbox, name, arguments, .. } = *call;
        let index = &toolbox.index;
        let (text, schema): (_, fn() -> Value) = match name {
            meta::SEARCH => {
                let digest = toolbox.digest();
                (extended::search(index, self.options.strategy, digest, arguments), extended::search_schema)
            }
            extended::DESCRIBE => (extended::describe(toolbox, arguments), extended::describe_schema),
            extended::EXAMPLES => match extended::examples(index, arguments) {
                Ok(Examples::Json(json)) => (Ok(json), extended::examples_schema),
                Ok(Examples::UnknownTool { name, suggestions }) => {
                    let unknown = Err(CallError::UnknownTool { suggestions });
                    return Ok(Some(
                        render(reply::reply(&name, OutputForm::Text, unknown, self.options.text_form), Vec::new())
                            .into(),
                    ));
                }
                Err(failure) => (Err(failure), extended::examples_schema),
            },
            _ => return self.call_meta(call).await,
        };
        match text {
            Ok(json) => Ok(Some(text_or_violations(name, Ok(json), schema).into())),
            Err(Failure::Arguments(violations)) => Ok(Some(text_or_violations(name, Err(violations), schema).into())),
            Err(Failure::Cursor(error)) => Err(error),
        }
    }
}

/// The result of a meta-tool: its text, or the violations of its arguments with the schema that they violate.
fn text_or_violations(name: &str, text: Result<String, Vec<Violation>>, schema: fn() -> Value) -> CallToolResult {
    match text {
        Ok(json) => CallToolResult::success(vec![ContentBlock::text(json)]),
        Err(violations) => invalid_arguments(name, &violations, &schema()),
    }
}

fn invalid_arguments(name: &str, violations: &[Violation], schema: &Value) -> CallToolResult {
    render(reply::invalid_arguments(name, violations, Vec::new(), schema), Vec::new())
}
