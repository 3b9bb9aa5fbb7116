//! One call of a tool, from name and JSON to what the process did: the one path that MCP and the command line take.

use std::future::Future;

use climax_catalog::{ResolvedTool, ToolIndex, near_misses};
use serde_json::{Map, Value};
use tokio::sync::Semaphore;

use crate::arguments::{self, Violation};
use crate::argv;
use crate::exec::{self, Outcome, SpawnError, Stop};
use crate::limits::{Limits, MAX_SUGGESTIONS, MAX_UNKNOWN_KEYS};

/// A call that did not run.
#[derive(Debug)]
pub enum CallError {
    /// No tool of this name is served.
    UnknownTool {
        /// Names that may have been meant, nearest first.
        suggestions: Vec<String>,
    },
    /// Arguments were refused.
    InvalidArguments {
        /// Everything that is wrong with them.
        violations: Vec<Violation>,
        /// The tool's argument names that unknown keys may have been meant to be.
        suggestions: Vec<String>,
        /// What the tool takes, as JSON.
        input_schema: String,
    },
    /// The program could not be started.
    Spawn(SpawnError),
}

/// Calls the tool `name`; `stop` completing ends it early.
///
/// A program is started when one of `slots` is free, in the order of the calls; its timeout starts then.
///
/// # Errors
/// The call did not run. Whatever a started process did is an [`Outcome`].
pub async fn call(
    index: &ToolIndex,
    name: &str,
    arguments: &Map<String, Value>,
    limits: &Limits,
    slots: &Semaphore,
    stop: impl Future<Output = Stop>,
) -> Result<Outcome, CallError> {
    let tool = index.get(name).ok_or_else(|| CallError::UnknownTool { suggestions: suggest_tools(index, name) })?;
    let bound = arguments::bind(tool, arguments).map_err(|violations| CallError::InvalidArguments {
        violations,
        suggestions: misspelt_arguments(tool, arguments),
        input_schema: tool.input_schema().to_owned(),
    })?;
    let invocation = argv::plan(tool, &bound, &exec::variable);
    let mut stop = std::pin::pin!(stop);
    let _slot = tokio::select! {
        biased;
        why = stop.as_mut() => return Ok(Outcome::not_started(why)),
        slot = slots.acquire() => slot,
    };
    tracing::info!(tool = name, program = invocation.argv[0], "running");
    let outcome = exec::run(&invocation, limits, stop).await.map_err(CallError::Spawn)?;
    tracing::info!(tool = name, end = ?outcome.end, "ended");
    Ok(outcome)
}

/// Names of served tools that `name` may have been meant to be, nearest first.
#[must_use]
pub fn suggest_tools(index: &ToolIndex, name: &str) -> Vec<String> {
    let near = near_misses(name, index.tools().map(ResolvedTool::name), MAX_SUGGESTIONS);
    near.into_iter().map(str::to_owned).collect()
}

/// Unknown keys are ignored, but when a call fails they may be why.
fn misspelt_arguments(tool: ResolvedTool<'_>, arguments: &Map<String, Value>) -> Vec<String> {
    let known = || tool.args().map(climax_catalog::ArgView::name);
    let unknown = arguments.keys().filter(|key| known().all(|name| name != key.as_str())).take(MAX_UNKNOWN_KEYS);
    let mut near: Vec<String> = unknown.flat_map(|key| near_misses(key, known(), 1)).map(str::to_owned).collect();
    near.sort();
    near.dedup();
    near
}
