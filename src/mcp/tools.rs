//! Tool definitions as the protocol has them.

use std::sync::Arc;

use climax_catalog::{ResolvedTool, Risk, ToolIndex};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;

use super::{extended, meta};

/// The two meta-tools (seed 000), in the contract's order.
pub(super) fn meta_tools(index: &ToolIndex) -> Vec<Tool> {
    let search = Tool::new(meta::SEARCH, meta::SEARCH_DESCRIPTION, object(meta::search_schema()))
        .with_annotations(ToolAnnotations::new().read_only(true).open_world(false));
    let harmless = index.tools().all(|tool| tool.risk() == Risk::Read);
    let annotations =
        if harmless { ToolAnnotations::new().read_only(true) } else { ToolAnnotations::new().destructive(true) };
    let call = Tool::new(meta::CALL, meta::CALL_DESCRIPTION, object(meta::call_schema()))
        .with_annotations(annotations.open_world(true));
    vec![search, call]
}

/// The meta-tools of extended mode.
pub(super) fn extended_tools(index: &ToolIndex) -> Vec<Tool> {
    let reading = || ToolAnnotations::new().read_only(true).open_world(false);
    let mut tools = meta_tools(index);
    tools[0].input_schema = object(extended::search_schema());
    let describe = Tool::new(extended::DESCRIBE, extended::DESCRIBE_DESCRIPTION, object(extended::describe_schema()));
    let examples = Tool::new(extended::EXAMPLES, extended::EXAMPLES_DESCRIPTION, object(extended::examples_schema()));
    tools.extend([describe, examples].map(|tool| tool.with_annotations(reading())));
    tools
}

/// Every tool of the index, as classic mode lists it.
pub(super) fn direct_tools(index: &ToolIndex) -> Vec<Tool> {
    index.tools().map(direct_tool).collect()
}

fn direct_tool(tool: ResolvedTool<'_>) -> Tool {
    let schema = serde_json::from_str(tool.input_schema()).unwrap_or_default();
    Tool::new(tool.name().to_owned(), tool.description().to_owned(), object(schema))
        .with_annotations(annotations(tool.risk()))
}

fn annotations(risk: Risk) -> ToolAnnotations {
    let annotations = ToolAnnotations::new().read_only(risk == Risk::Read);
    match risk {
        Risk::Read => annotations,
        Risk::Write => annotations.destructive(false),
        Risk::Destructive => annotations.destructive(true),
    }
}

fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(object) => Arc::new(object),
        _ => Arc::default(),
    }
}
