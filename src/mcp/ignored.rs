//! The arguments that a call ignores, as its result names them.
//!
//! Source: `docs/contract.md`, "Arguments".

use climax_catalog::ResolvedTool;
use serde_json::{Map, Value};

use crate::call::arguments::{MAX_UNKNOWN_KEYS, echo, keys_ignored_from_agents};
use crate::call::{CallError, CallResult};

/// The arguments of one call that its tool does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// The name of the tool.
    pub tool: String,
    /// The names of the arguments, shortened.
    pub names: Vec<String>,
}

impl Ignored {
    /// Returns what a call ignored; `None` if that is nothing. Arguments that were refused are not among them.
    pub(super) fn of_call<Q>(
        tool: Option<ResolvedTool<'_>>,
        arguments: &Map<String, Value>,
        result: &CallResult<Q>,
    ) -> Option<Self> {
        let tool = tool?;
        let is_refused = |name: &str| match result {
            CallResult::Failed(CallError::InvalidArguments { violations, .. }) => {
                violations.iter().any(|violation| violation.argument == name)
            }
            CallResult::Failed(_) | CallResult::Ran(_) | CallResult::InputRequired(_) => false,
        };
        Self::of(tool.name(), keys_ignored_from_agents(tool, arguments).filter(|name| !is_refused(name)))
    }

    /// Returns what the calls of several tools ignored, each sentence once.
    pub(super) fn of_calls<'a>(calls: impl Iterator<Item = (ResolvedTool<'a>, &'a Map<String, Value>)>) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for (tool, arguments) in calls {
            let found = Self::of(tool.name(), keys_ignored_from_agents(tool, arguments));
            all.extend(found.filter(|one| !all.contains(one)));
        }
        all
    }

    /// Returns the arguments of a meta-tool that are none of `known`; `None` if there are none.
    pub(super) fn of_meta_tool(name: &str, arguments: &Map<String, Value>, known: &[&str]) -> Option<Self> {
        let given = arguments.iter().filter(|(_, value)| !value.is_null()).map(|(key, _)| key.as_str());
        Self::of(name, given.filter(|key| !known.contains(key)).take(MAX_UNKNOWN_KEYS))
    }

    fn of<'n>(tool: &str, names: impl Iterator<Item = &'n str>) -> Option<Self> {
        let names: Vec<String> = names.map(echo).collect();
        (!names.is_empty()).then(|| Self { tool: tool.to_owned(), names })
    }

    /// The sentence that says it, such as `'limit' is no argument of git_log`.
    pub(super) fn sentence(&self) -> String {
        let verb = if self.names.len() == 1 { "is no argument" } else { "are no arguments" };
        format!("'{}' {verb} of {}", self.names.join("', '"), self.tool)
    }
}

/// The last block of a result's text.
pub(super) fn block(all: &[Ignored]) -> String {
    let sentences: Vec<String> = all.iter().map(Ignored::sentence).collect();
    format!("[ignored: {}]", sentences.join("; "))
}
