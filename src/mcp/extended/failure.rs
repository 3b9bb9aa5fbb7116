//! Failures of the tools of the extended surface.

use rmcp::model::ErrorData;
use serde_json::Value;

use crate::call::arguments::Violation;

/// Why a request of this surface has no result.
pub(in crate::mcp) enum Failure {
    /// The arguments are wrong, and the model can correct them.
    Arguments(Vec<Violation>),
    /// The cursor cannot be used.
    Cursor(ErrorData),
}

impl From<Vec<Violation>> for Failure {
    fn from(violations: Vec<Violation>) -> Self {
        Self::Arguments(violations)
    }
}

/// Parses JSON that the catalog holds as text.
pub(super) fn parsed(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_default()
}
