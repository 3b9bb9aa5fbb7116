//! One call, as a client made it.

use serde_json::{Map, Value};

use crate::exec::Watch;

/// One call, as a client made it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// Its arguments.
    pub arguments: &'a Map<String, Value>,
    /// Shows the progress of the call while it runs.
    pub watch: Option<&'a Watch>,
    /// Environment variables for this call. Variables of the config override them.
    pub env: &'a [(String, String)],
    /// The caller's name, where callers have names.
    pub caller: Option<&'a str>,
    /// What the result is for.
    pub purpose: Purpose,
}

/// What the result of a call is for. The audit file names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Purpose {
    /// The answer to a call.
    Call,
    /// The content of a resource.
    Resource,
    /// A part of a prompt.
    Prompt,
}

impl Purpose {
    /// The word in the audit file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
