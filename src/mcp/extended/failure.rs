//! Failures of meta-tools.

use rmcp::model::ErrorData;
use serde_json::Value;

use crate::call::arguments::Violation;

/// The reason why a request has no result.
pub(in crate::mcp) enum Failure {
    /// The arguments violate the schema. The model can correct them.
    Arguments(Vec<Violation>),
    /// The cursor cannot be used.
    Cursor(ErrorData),
    /// No tool has this name.
    UnknownTool {
        /// The name.
        name: String,
        /// Near misses of the name.
        suggestions: Vec<String>,
    },
}

impl From<Vec<Violation>> for Failure {
    fn from(violations: Vec<Violation>) -> Self {
        Self::Arguments(violations)
    }
}

/// Parses JSON that was rendered when the catalog was compiled.
pub(super) fn parsed(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_default()
}
