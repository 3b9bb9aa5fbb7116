//! `climax_chain`: its description and arguments, and the reply to a chain. Source: `docs/contract.md`, "Chains".

use climax_catalog::ToolIndex;
use serde_json::{Map, Value, json};

use super::meta::{self, CallArguments};
use super::reader::ArgumentReader;
use super::reply::Reply;
use super::surface::CallName;
use crate::call::arguments::{Problem, Violation, echo, type_problem};
use crate::call::chain::{ChainStep, MAX_CHAIN_STEPS, StepResult, misplaced_references};
use crate::call::visible::TextForm;

pub(super) const DESCRIPTION: &str = "Call several tools in order, without reading what the earlier ones print. A value in \
    args may be {\"$from\": \"/0/stdout\"}: the output of step 0. Also /0/lines, /0/exit_code and /0/json/KEY/0. Stops at the \
    first error.";

/// The names of the arguments of `climax_chain`.
pub(super) const CHAIN_KEYS: [&str; 1] = ["steps"];

/// The input schema of `climax_chain`.
pub(super) fn schema(name: CallName) -> Value {
    json!({
        "type": "object",
        "properties": {
            "steps": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": { (name.as_str()): { "type": "string" }, "args": { "type": "object" } },
                    "required": [name.as_str()]
                }
            }
        },
        "required": ["steps"]
    })
}

/// Reads the arguments of `climax_chain`.
pub(super) fn steps(
    index: &ToolIndex,
    name: CallName,
    arguments: &Map<String, Value>,
) -> Result<Vec<ChainStep>, Vec<Violation>> {
    let mut reader = ArgumentReader::new(arguments);
    reader.reject_misspelt(&CHAIN_KEYS);
    let items = reader.items("steps", MAX_CHAIN_STEPS);
    reader.finish()?;
    let mut violations = Vec::new();
    let mut steps = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        match step(index, name, item, at) {
            Ok(step) => steps.push(step),
            Err(found) => violations.extend(found),
        }
    }
    if violations.is_empty() { Ok(steps) } else { Err(violations) }
}

/// Reads the step at `at`.
fn step(index: &ToolIndex, name: CallName, item: &Value, at: usize) -> Result<ChainStep, Vec<Violation>> {
    let place = format!("steps[{at}]");
    let Value::Object(item) = item else {
        return Err(vec![Violation { problem: type_problem(item, "object"), argument: place }]);
    };
    let CallArguments { tool_name, arguments } = meta::call_request(index, name, item)
        .map_err(|violations| violations.into_iter().map(|violation| within(&place, violation)).collect::<Vec<_>>())?;
    let problems = misplaced_references(&arguments, at).into_iter();
    let problems: Vec<Violation> = problems
        .map(|reason| Violation { argument: format!("{place}.args"), problem: Problem::Reference { reason } })
        .collect();
    if problems.is_empty() { Ok(ChainStep { tool: tool_name, arguments }) } else { Err(problems) }
}

/// Names the place of a violation in the steps of a chain.
pub(super) fn within(place: &str, violation: Violation) -> Violation {
    Violation { argument: format!("{place}.{}", violation.argument), ..violation }
}

/// Adds what the steps before the last one did to the reply of the last. After a failure that is their output too.
///
/// `last` is the reply of the step at `at` that ended the chain: the last one, or the first that failed.
pub(super) fn chain_reply(
    mut last: Reply,
    (at, tool): (usize, &str),
    done: &[StepResult],
    steps: usize,
    form: TextForm,
) -> Reply {
    let mut blocks: Vec<String> = done.iter().enumerate().map(|(at, step)| heading(at, step)).collect();
    let Some(error) = &mut last.error else {
        if !blocks.is_empty() {
            last.text = format!("{}\n\n{}", blocks.join("\n"), last.text);
        }
        return last;
    };

    let shown: Vec<ShownStep<'_>> = done.iter().map(|step| ShownStep::of(step, form)).collect();
    for (block, step) in blocks.iter_mut().zip(&shown) {
        block.push_str(&step.text());
    }
    let others = match steps.saturating_sub(done.len() + 1) {
        1 => "1 other step".to_owned(),
        count => format!("{count} other steps"),
    };
    blocks.push(format!("[{at} {}: failed; {others} did not run]", echo(tool)));
    error.details.push(json!({ "step": at, "done": shown.iter().map(ShownStep::to_json).collect::<Vec<_>>() }));
    last.text = format!("{}\n\n{}", blocks.join("\n\n"), last.text);
    last
}

/// The line about a step that ran.
fn heading(at: usize, step: &StepResult) -> String {
    let StepResult { tool, exit_code, stdout_bytes, .. } = step;
    format!("[{at} {}: exit code {exit_code}, {stdout_bytes} bytes]", echo(tool))
}

/// A step that ran, with its output as results show it.
struct ShownStep<'a> {
    step: &'a StepResult,
    stdout: String,
    stderr: String,
}

impl<'a> ShownStep<'a> {
    fn of(step: &'a StepResult, form: TextForm) -> Self {
        let [stdout, stderr] = [&step.shown, &step.stderr].map(|text| form.apply(text.trim_end()).into_owned());
        Self { step, stdout, stderr }
    }

    /// The output, behind a line about the step.
    fn text(&self) -> String {
        let stderr = if self.stderr.is_empty() { String::new() } else { format!("[stderr]\n{}", self.stderr) };
        let parts = [&self.stdout, &stderr].into_iter().filter(|part| !part.is_empty());
        parts.fold(String::new(), |text, part| text + "\n" + part)
    }

    fn to_json(&self) -> Value {
        let StepResult { tool, exit_code, stdout_bytes, .. } = self.step;
        json!({
            "tool": tool,
            "exit_code": exit_code,
            "stdout_bytes": stdout_bytes,
            "stdout": self.stdout,
            "stderr": self.stderr,
        })
    }
}
