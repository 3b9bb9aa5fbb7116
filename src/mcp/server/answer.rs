//! `tools/call`: hands a request to a meta-tool, or to a tool of the catalog.

use climax_catalog::OutputForm;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, ErrorData};
use serde_json::Value;

use super::super::client::Client;
#[cfg(has_code)]
use super::super::code;
use super::super::extended::{self, Failure};
use super::super::job_tool::JOB_TOOL;
use super::super::meta::{self, EntryDetail};
use super::super::surface::{MetaSurface, MetaTool, SearchForm, Surface};
use super::super::{chain, lines, reply, tools};
use super::Server;
use super::calls::render;
use super::tool_request::ToolRequest;
use crate::call::arguments::Violation;
use crate::call::{CallError, Purpose};

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

    async fn call_meta(
        &self,
        tool: MetaTool,
        surface: &MetaSurface,
        call: &ToolRequest,
        client: &Client<'_>,
    ) -> Result<CallToolResponse, ErrorData> {
        let ToolRequest { toolbox, arguments, .. } = call;
        let call_name = surface.call_name();
        let answer = match tool {
            MetaTool::Search => self.search(surface, call),
            MetaTool::Describe => extended::describe(toolbox, arguments),
            MetaTool::Examples => extended::examples(&toolbox.index, call_name, arguments),
            MetaTool::Chain => match chain::steps(&toolbox.index, call_name, arguments) {
                Ok(steps) => return self.call_chain(steps, call, client).await,
                Err(violations) => Err(violations.into()),
            },
            #[cfg(has_code)]
            MetaTool::Code => match code::arguments(arguments) {
                Ok(given) => return self.call_code(&given, call, client).await,
                Err(violations) => Err(violations.into()),
            },
            MetaTool::Run => match lines::run_arguments(arguments) {
                Ok(request) => return self.call_line(&request, Purpose::Call, call, client).await,
                Err(violations) => Err(violations.into()),
            },
            MetaTool::Read if meta::is_line(call_name, arguments) => match lines::run_arguments(arguments) {
                Ok(request) => return self.call_line(&request, purpose(tool, surface), call, client).await,
                Err(violations) => Err(violations.into()),
            },
            MetaTool::Call | MetaTool::Read => match meta::call_request(&toolbox.index, call_name, arguments) {
                Ok(request) => {
                    let purpose = purpose(tool, surface);
                    return self.call_by_name(&request.tool_name, &request.arguments, purpose, call, client).await;
                }
                Err(violations) => Err(violations.into()),
            },
        };
        Ok(match answer {
            Ok(json) => CallToolResult::success(vec![ContentBlock::text(json)]),
            Err(Failure::Arguments(violations)) => {
                invalid_arguments(&call.name, &violations, &tools::meta_schema(tool, surface))
            }
            Err(Failure::UnknownTool { name, suggestions }) => {
                let unknown = Err(CallError::UnknownTool { suggestions });
                render(reply::reply(&name, OutputForm::Text, unknown, self.options.text_form), Vec::new())
            }
            Err(Failure::Cursor(error)) => return Err(error),
        }
        .into())
    }

    fn search(&self, surface: &MetaSurface, call: &ToolRequest) -> Result<String, Failure> {
        let ToolRequest { toolbox, arguments, .. } = call;
        let strategy = self.options.strategy;
        let detail = if surface.has(MetaTool::Read) { EntryDetail::WithRisk } else { EntryDetail::Indexed };
        match surface.search() {
            SearchForm::Plain => Ok(meta::search(&toolbox.index, strategy, detail, arguments)?),
            SearchForm::Paged => extended::search(&toolbox.index, strategy, toolbox.digest(), arguments),
        }
    }
}

/// The purpose of a call by `climax_call` or `climax_read`.
fn purpose(tool: MetaTool, surface: &MetaSurface) -> Purpose {
    if tool != MetaTool::Read {
        return Purpose::Call;
    }
    let caller = surface.has(MetaTool::Call).then(|| MetaTool::Call.name());
    Purpose::Read { call_name: surface.call_name().as_str(), caller }
}

/// The result for arguments that violate the schema of a meta-tool.
fn invalid_arguments(name: &str, violations: &[Violation], schema: &Value) -> CallToolResult {
    render(reply::invalid_arguments(name, violations, Vec::new(), schema), Vec::new())
}
