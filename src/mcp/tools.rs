//! Tool definitions, in the form of `tools/list`.

use std::sync::Arc;

use climax_catalog::{ResolvedTool, Risk, ToolIndex};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;

use super::{Mode, extended, meta, typed};

/// The bytes of JSON that an estimate counts as two tokens.
///
/// A token of the vocabulary `o200k` has 4.5 bytes in the bundled tools and 4.8 in thousands of others, as `climax budget`
/// counts them. An estimate is therefore too high rather than too low.
const BYTES_PER_TWO_TOKENS: usize = 9;

/// The tools that a client sees, as the JSON array of `tools/list`.
#[must_use]
pub fn tool_list(index: &ToolIndex, mode: Mode) -> String {
    match mode {
        Mode::Classic => {
            let definitions: Vec<String> = index.tools().map(tool_definition).collect();
            format!("[{}]", definitions.join(","))
        }
        Mode::Meta | Mode::Extended => serde_json::to_string(&tools(index, mode)).unwrap_or_default(),
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
pub(super) fn tools(index: &ToolIndex, mode: Mode) -> Vec<Tool> {
    match mode {
        Mode::Meta => meta_tools(index),
        Mode::Extended => extended_tools(index),
        Mode::Classic => direct_tools(index),
    }
}

/// The two meta-tools, in this order. Source: `docs/contract.md`, `climax_search` and `climax_call`.
fn meta_tools(index: &ToolIndex) -> Vec<Tool> {
    let search = Tool::new(meta::SEARCH, meta::SEARCH_DESCRIPTION, object(meta::search_schema()))
        .with_annotations(ToolAnnotations::new().read_only(true).open_world(false));
    let annotations = if index.promised_risk() == Risk::Read {
        ToolAnnotations::new().read_only(true)
    } else {
        ToolAnnotations::new().destructive(true)
    };
    let call = Tool::new(meta::CALL, meta::CALL_DESCRIPTION, object(meta::call_schema()))
        .with_annotations(annotations.open_world(true));
    vec![search, call]
}

/// The four tools of extended mode. Source: `docs/contract.md`, "Modes".
fn extended_tools(index: &ToolIndex) -> Vec<Tool> {
    let read_only = || ToolAnnotations::new().read_only(true).open_world(false);
    let mut tools = meta_tools(index);
    tools[0].input_schema = object(extended::search_schema());
    let describe = Tool::new(extended::DESCRIBE, extended::DESCRIBE_DESCRIPTION, object(extended::describe_schema()));
    let examples = Tool::new(extended::EXAMPLES, extended::EXAMPLES_DESCRIPTION, object(extended::examples_schema()));
    tools.extend([describe, examples].map(|tool| tool.with_annotations(read_only())));
    tools
}

/// Every tool of the index by its own name.
fn direct_tools(index: &ToolIndex) -> Vec<Tool> {
    index.tools().filter_map(|tool| serde_json::from_str(&tool_definition(tool)).ok()).collect()
}

fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(object) => Arc::new(object),
        _ => Arc::default(),
    }
}
