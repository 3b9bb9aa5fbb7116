//! Tool definitions, in the form of `tools/list`.

use std::borrow::Cow;
use std::sync::Arc;

use climax_catalog::{ResolvedTool, Risk, ToolIndex};
use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use serde_json::Value;

#[cfg(has_code)]
use super::code;
use super::job_tool::JOB_TOOL;
use super::surface::{MetaSurface, MetaTool, SearchForm, Surface};
use super::{chain, extended, lines, meta, typed};

/// The bytes of JSON that an estimate counts as two tokens.
///
/// A token of the vocabulary `o200k` has 4.5 bytes in the bundled tools and 4.8 in thousands of others, as `climax budget`
/// counts them. An estimate is therefore too high rather than too low.
const BYTES_PER_TWO_TOKENS: usize = 9;

/// The member of a tool's metadata by which Claude Code shows it to the model without a search for it.
const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

/// The tools that a client sees, as the JSON array of `tools/list`.
#[must_use]
pub fn tool_list(index: &ToolIndex, surface: &Surface) -> String {
    match surface {
        Surface::Classic => {
            let definitions: Vec<String> = index.tools().map(tool_definition).collect();
            format!("[{}]", definitions.join(","))
        }
        Surface::Meta(_) => serde_json::to_string(&tools(index, surface)).unwrap_or_default(),
    }
}

/// The definition of a tool in classic mode, as JSON. Its input schema was rendered when the catalog was compiled.
#[must_use]
pub fn tool_definition(tool: ResolvedTool<'_>) -> String {
    let json = |text: &str| serde_json::to_string(text).unwrap_or_default();
    let [name, description] = [tool.name(), tool.description()].map(json);
    let annotations = match tool.promised_risk() {
        Risk::Read => r#"{"readOnlyHint":true}"#,
        Risk::Write => r#"{"readOnlyHint":false,"destructiveHint":false}"#,
        Risk::Destructive => r#"{"readOnlyHint":false,"destructiveHint":true}"#,
    };
    let title = tool.title().map(|title| format!(r#""title":{},"#, json(title))).unwrap_or_default();
    let schema = tool.input_schema();
    let output = typed::output_schema(tool).map(|schema| format!(r#""outputSchema":{schema},"#)).unwrap_or_default();
    format!(
        r#"{{"name":{name},{title}"description":{description},"inputSchema":{schema},{output}"annotations":{annotations}}}"#
    )
}

/// Estimates the tokens that tool definitions take, without a tokenizer. `climax budget` counts them exactly.
#[must_use]
pub fn estimated_tokens(json: &str) -> usize {
    (2 * json.len()).div_ceil(BYTES_PER_TWO_TOKENS)
}

/// The tools that a client sees.
pub(super) fn tools(index: &ToolIndex, surface: &Surface) -> Vec<Tool> {
    match surface {
        Surface::Meta(meta) => {
            let job_tool = index.get(JOB_TOOL).filter(|_| meta.has_own_job_tool());
            meta.tools().map(|tool| meta_tool(tool, meta, index)).chain(job_tool.and_then(direct_tool)).collect()
        }
        Surface::Classic => direct_tools(index),
    }
}

/// The definition of a meta-tool. Source: `docs/contract.md`, by its name.
fn meta_tool(tool: MetaTool, surface: &MetaSurface, index: &ToolIndex) -> Tool {
    let (title, description) = match tool {
        MetaTool::Search => ("Search", meta::SEARCH_DESCRIPTION.into()),
        MetaTool::Call => ("Call", meta::CALL_DESCRIPTION.into()),
        MetaTool::Read => ("Read", meta::READ_DESCRIPTION.into()),
        MetaTool::Run => ("Run", Cow::Owned(lines::description(index, surface.has(MetaTool::Search)))),
        MetaTool::Describe => ("Describe", extended::DESCRIBE_DESCRIPTION.into()),
        MetaTool::Examples => ("Examples", extended::EXAMPLES_DESCRIPTION.into()),
        MetaTool::Chain => ("Chain", chain::DESCRIPTION.into()),
        #[cfg(has_code)]
        MetaTool::Code => ("Code", code::description(surface).into()),
    };
    let reading = ToolAnnotations::new().read_only(true);
    let annotations = match tool {
        MetaTool::Search | MetaTool::Describe | MetaTool::Examples => reading.open_world(false),
        MetaTool::Read => reading.open_world(true),
        _ if index.promised_risk() == Risk::Read => reading.open_world(true),
        _ => ToolAnnotations::new().destructive(true).open_world(true),
    };
    Tool::new(tool.name(), description, object(meta_schema(tool, surface)))
        .with_title(title)
        .with_annotations(annotations)
        .with_meta(MetaObject(JsonObject::from_iter([(ALWAYS_LOAD.to_owned(), Value::Bool(true))])))
}

/// The input schema of a meta-tool.
pub(super) fn meta_schema(tool: MetaTool, surface: &MetaSurface) -> Value {
    match (tool, surface.search()) {
        (MetaTool::Search, SearchForm::Plain) => meta::search_schema(),
        (MetaTool::Search, SearchForm::Paged) => extended::search_schema(),
        (MetaTool::Call, _) => meta::call_schema(surface.call_name()),
        (MetaTool::Read, _) => meta::read_schema(surface.call_name()),
        (MetaTool::Run, _) => lines::schema(),
        (MetaTool::Describe, _) => extended::describe_schema(),
        (MetaTool::Examples, _) => extended::examples_schema(surface.call_name()),
        (MetaTool::Chain, _) => chain::schema(surface.call_name()),
        #[cfg(has_code)]
        (MetaTool::Code, _) => code::schema(),
    }
}

/// Every tool of the index by its own name.
fn direct_tools(index: &ToolIndex) -> Vec<Tool> {
    index.tools().filter_map(direct_tool).collect()
}

fn direct_tool(tool: ResolvedTool<'_>) -> Option<Tool> {
    serde_json::from_str(&tool_definition(tool)).ok()
}

fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(object) => Arc::new(object),
        _ => Arc::default(),
    }
}
