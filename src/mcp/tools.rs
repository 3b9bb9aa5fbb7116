//! Tool definitions, in the form of `tools/list`.

use std::sync::Arc;

use climax_catalog::{ResolvedTool, Risk, ToolIndex};
use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use serde_json::Value;

use super::job_tool::JOB_TOOL;
use super::surface::{Effect, MetaSurface, MetaTool, Surface};
use super::typed;

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
    let reading = ToolAnnotations::new().read_only(true);
    let annotations = match tool.effect() {
        Effect::LooksUp => reading.open_world(false),
        Effect::Reads => reading.open_world(true),
        Effect::Calls if index.promised_risk() == Risk::Read => reading.open_world(true),
        Effect::Calls => ToolAnnotations::new().destructive(true).open_world(true),
    };

    Tool::new(tool.name(), tool.description(surface, index), object(tool.schema(surface)))
        .with_title(tool.title())
        .with_annotations(annotations)
        .with_meta(MetaObject(JsonObject::from_iter([(ALWAYS_LOAD.to_owned(), Value::Bool(true))])))
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
