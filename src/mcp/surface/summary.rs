//! The summary of the CLIs, which a search without filters returns.

use climax_catalog::CliSummary;
use serde_json::{Value, json};

/// A CLI, in the form of a summary.
pub(super) fn cli_json(summary: CliSummary<'_>) -> Value {
    json!({
        "name": summary.cli.name(),
        "description": summary.cli.description(),
        "tool_count": summary.tool_count,
        "category": summary.cli.category(),
        "tags": summary.cli.tags().collect::<Vec<_>>(),
    })
}
