//! Runs chains for requests.

use std::time::Instant;

use climax_catalog::OutputForm;
use rmcp::model::{CallToolResponse, ErrorData, InputRequiredResult};
use serde_json::Value;

use super::super::chain_reply::chain_reply;
use super::super::client::Client;
use super::super::errors::{elicitation_required, unknown_log};
use super::super::ignored::Ignored;
use super::super::progress::Progress;
use super::super::replay_logs::{Done, WaitingRequest};
use super::super::reply::{Reply, invalid_arguments, reply};
use super::super::request_context;
use super::super::revision::is_modern;
use super::super::surface::{CHAIN_KEYS, within};
use super::Server;
use super::calls::{answerable, output_form};
use super::tool_request::ToolRequest;
use crate::call::arguments::{Problem, Violation};
use crate::call::chain::{self, ChainStep, MAX_CHAIN_BYTES, StepResult, has_references};
use crate::call::{CallError, CallResult, ErrorCode, Purpose, Request, Toolbox};
use crate::exec::{End, Outcome};

impl Server {
    /// Calls the tools of a chain in order, until one fails.
    ///
    /// Every step without references is checked before the first one runs. A step that needs approval is asked for when its
    /// turn comes, since its values are known then.
    ///
    /// # Errors
    /// The request came with a state that was not made for it, or whose chain is gone.
    pub(super) async fn call_chain(
        &self,
        steps: Vec<ChainStep>,
        call: &ToolRequest,
        client: &Client<'_>,
    ) -> Result<CallToolResponse, ErrorData> {
        let context = &call.context;
        let caller = request_context::caller_identity(context);
        let mut done = match client.sealed_state() {
            None => Vec::new(),
            Some(state) => match self.logs.take(state, &caller, &call.arguments) {
                Some(Done::Chain(done)) => done,
                _ => return Err(unknown_log()),
            },
        };

        if done.is_empty()
            && let Some((at, error)) = first_fault(&call.toolbox, &steps)
        {
            return Ok(self.end_chain(call, self.failed_step(at, &steps[at].tool, error), &steps, at, &done));
        }
        // Later it would be an error that says nothing about the steps before it.
        let has_form =
            |step: &ChainStep| call.toolbox.index.get(&step.tool).is_some_and(|tool| tool.questions().len() > 0);
        if is_modern(context) && !client.supports_forms() && steps.iter().any(has_form) {
            return Err(elicitation_required());
        }

        let progress = Progress::of(context);
        loop {
            let at = done.len();
            let name = &steps[at].tool;
            let result = match self.run_step(at, &steps[at], &done, call, (client, progress.as_ref())).await {
                Ok(result) => result,
                Err(failed) => return Ok(self.end_chain(call, *failed, &steps, at, &done)),
            };
            let outcome = match result {
                CallResult::InputRequired(question) => {
                    if let Some(state) = question.request_state.clone() {
                        let (arguments, done) = (call.arguments.clone(), Done::Chain(done));
                        self.logs.store(WaitingRequest { state, caller, arguments, done, asked_at: Instant::now() });
                    }
                    return Ok(question.into());
                }
                CallResult::Failed(error) => {
                    answerable(&error, context)?;
                    return Ok(self.end_chain(call, self.failed_step(at, name, error), &steps, at, &done));
                }
                CallResult::Ran(outcome) => outcome,
            };
            if !outcome.succeeded() || at + 1 == steps.len() {
                let form = output_form(call.toolbox.index.get(name));
                let last = reply(name, form, Ok(outcome), self.options.text_form);
                return Ok(self.end_chain(call, last, &steps, at, &done));
            }
            let held: usize = done.iter().filter_map(|step| step.stdout.as_ref()).map(String::len).sum();
            done.push(step_result(name, outcome, MAX_CHAIN_BYTES.saturating_sub(held)));
        }
    }

    /// Calls the tool of the step at `at`, with the results of those before it in the place of references.
    ///
    /// # Errors
    /// A reference leads to nothing. The reply says which.
    async fn run_step(
        &self,
        at: usize,
        step: &ChainStep,
        done: &[StepResult],
        call: &ToolRequest,
        (client, progress): (&Client<'_>, Option<&Progress>),
    ) -> Result<CallResult<InputRequiredResult>, Box<Reply>> {
        let ToolRequest { toolbox, context, .. } = call;
        let name = &step.tool;
        let arguments = chain::resolved(toolbox.index.get(name), &step.arguments, done).map_err(|reason| {
            let argument = format!("steps[{at}].args");
            let violation = Violation { argument, problem: Problem::Reference { reason } };
            Box::new(invalid_arguments(name, &[violation], Vec::new(), &Value::Null))
        })?;
        let asked = Request::Tool { name, arguments: &arguments };
        Ok(self.run(toolbox, asked, Purpose::Call, client, progress, context).await.into_call())
    }

    /// Renders the error of the step at `at`.
    fn failed_step(&self, at: usize, tool: &str, error: CallError) -> Reply {
        reply(tool, OutputForm::Text, Err(placed(at, error)), self.options.text_form)
    }

    /// Renders the result of a chain that ends with the step at `at`.
    fn end_chain(
        &self,
        call: &ToolRequest,
        last: Reply,
        steps: &[ChainStep],
        at: usize,
        done: &[StepResult],
    ) -> CallToolResponse {
        let tool = &steps[at].tool;
        let is_refused = last.error.as_ref().is_some_and(|error| error.code == ErrorCode::InvalidArguments);
        let made = &steps[..done.len()];
        let last_made = steps.get(at).filter(|_| !is_refused);
        let made = made.iter().chain(last_made);
        let index = &call.toolbox.index;
        let ignored = Ignored::of_calls(made.filter_map(|step| Some((index.get(&step.tool)?, &step.arguments))));
        let beside = Ignored::of_meta_tool(&call.name, &call.arguments, &CHAIN_KEYS);
        let reply = chain_reply(last, (at, tool), done, steps.len(), self.options.text_form);
        let reply = reply.ignoring(ignored.into_iter().chain(beside));

        self.respond(tool, None, reply, &call.context).into()
    }
}

/// Checks every step without references, and returns the first that cannot be called.
fn first_fault(toolbox: &Toolbox, steps: &[ChainStep]) -> Option<(usize, CallError)> {
    let whole = steps.iter().enumerate().filter(|(_, step)| !has_references(&step.arguments));
    whole.into_iter().find_map(|(at, step)| Some((at, toolbox.check(&step.tool, &step.arguments).err()?)))
}

/// Names the step in the violations of a call.
fn placed(at: usize, error: CallError) -> CallError {
    let place = |violations: Vec<Violation>| {
        violations.into_iter().map(|violation| within(&format!("steps[{at}].args"), violation)).collect()
    };
    match error {
        CallError::InvalidArguments { violations, suggestions, input_schema } => {
            CallError::InvalidArguments { violations: place(violations), suggestions, input_schema }
        }
        CallError::PolicyDenied { violations } => CallError::PolicyDenied { violations: place(violations) },
        other => other,
    }
}

/// Returns the result of a step that succeeded. Of standard output it holds at most `most` bytes, or nothing.
fn step_result(tool: &str, outcome: Outcome, most: usize) -> StepResult {
    let exit_code = if let End::Exited(code) = outcome.end { code } else { -1 };
    let (shown, stderr) = (outcome.stdout.text(), outcome.stderr.text());
    let stdout_bytes = outcome.stdout.total_bytes();
    let stdout = outcome.stdout.into_bytes().filter(|bytes| bytes.len() <= most);
    let stdout = stdout.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    StepResult { tool: tool.to_owned(), exit_code, stdout, shown, stderr, stdout_bytes }
}
