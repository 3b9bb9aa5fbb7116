//! The reply to a chain. Source: `docs/contract.md`, "Chains".

use serde_json::{Value, json};

use super::reply::Reply;
use crate::call::arguments::echo;
use crate::call::chain::StepResult;
use crate::call::visible::TextForm;

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
