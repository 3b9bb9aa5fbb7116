//! The reply to a command line.

use climax_catalog::{Cage, OutputForm, ResolvedTool, ToolIndex};
use serde_json::{Map, Value, json};

use super::reply::{Ended, ErrorObject, NO_OUTPUT, Reply, reply};
use crate::call::visible::TextForm;
use crate::call::{PlanFailure, PlanOutcome, StageOutcome};
use crate::call::{end_name, exit_code};
use crate::exec::{End, Outcome};

/// Characters of a program's standard error that the metadata of a line's result has.
const MAX_STAGE_STDERR_CHARS: usize = 1_000;

/// The signal by which a program ends whose reader has ended. Source: POSIX `signal.h`.
const SIGPIPE: i32 = 13;

/// Renders the reply to a command line.
///
/// A line of one command reads as its call does. Otherwise outputs follow one another as they were printed, and what went
/// wrong stands where it happened. The details of an error have each command that the text shows. It is an error if the
/// line's exit status is not 0.
pub(super) fn line_reply(done: PlanOutcome, index: &ToolIndex, form: TextForm) -> Reply {
    let PlanOutcome { mut steps, failure, status } = done;
    if let (None, [step]) = (&failure, steps.as_mut_slice())
        && step.stages.len() == 1
        && status.is_none_or(|status| status == step.status() || exit_code(step.stages[0].outcome.end).is_none())
        && let Some(StageOutcome { tool, outcome, .. }) = step.stages.pop()
    {
        let output = index.get(&tool).map_or(OutputForm::Text, ResolvedTool::output_form);
        return reply(&tool, output, Ok(outcome), form);
    }
    let mut text = Blocks::default();
    let mut details: Vec<Value> = Vec::new();
    let mut error = None;
    let mut full_output = None;

    for step in steps {
        error = None;
        let last = step.stages.len().saturating_sub(1);
        for (at, stage) in step.stages.into_iter().enumerate() {
            let StageOutcome { tool, text: written, outcome, .. } = stage;
            let is_quiet = has_ended_well(&outcome.end, outcome.succeeded()) && outcome.stderr.total_bytes() == 0;
            let has_notes = !outcome.protected.is_empty();
            if at < last && is_quiet && !has_notes {
                continue;
            }
            let is_failure = !has_ended_well(&outcome.end, outcome.succeeded()) || (at == last && !outcome.succeeded());
            details.push(stage_details(&tool, &written, &outcome, form));
            let is_plain = is_quiet && outcome.answer.is_none() && !has_notes;
            if is_plain && outcome.stdout.dropped_bytes() == 0 {
                text.output(&form.apply(&outcome.stdout.text()));
                continue;
            }
            let rendered = reply(&tool, OutputForm::Text, Ok(outcome), form);
            error = error.or(rendered.error.filter(|_| is_failure));
            full_output = rendered.full_output.or(full_output);
            if at < last {
                text.block(&format!("[{written}]\n{}", rendered.text));
            } else if rendered.text != NO_OUTPUT {
                text.block(&rendered.text);
            }
        }
    }

    if let Some(failure) = failure {
        let PlanFailure { tool, text: written, error: reason } = failure;
        let began = status.is_some().then(|| reason.in_the_middle()).flatten();
        let mut rendered = reply(tool.as_deref().unwrap_or("climax_run"), OutputForm::Text, Err(reason), form);
        if let Some(text) = began {
            rendered.text.clone_from(&text);
            rendered.error = rendered.error.map(|error| ErrorObject { message: text, ..error });
        }
        error = rendered.error;
        details.extend(error.iter_mut().flat_map(|error| std::mem::take(&mut error.details)));
        text.block(&tool.map_or(rendered.text.clone(), |tool| format!("`{written}` ({tool}): {}", rendered.text)));
    } else if status == Some(0) {
        error = None;
    }

    let error = error.map(|error| ErrorObject { details, ..error });
    Reply { error, full_output, ..Reply::text(text.finish()) }
}

/// A text of outputs, and of blocks with an empty line around each.
#[derive(Default)]
struct Blocks {
    text: String,
    ends_block: bool,
}

impl Blocks {
    fn output(&mut self, text: &str) {
        if self.ends_block && !text.is_empty() {
            self.text.push_str("\n\n");
            self.ends_block = false;
        }
        self.text.push_str(text);
    }

    fn block(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.truncate(self.text.trim_end_matches('\n').len());
            self.text.push_str("\n\n");
        }
        self.text.push_str(text);
        self.ends_block = true;
    }

    fn finish(mut self) -> String {
        if self.text.is_empty() {
            return NO_OUTPUT.to_owned();
        }
        self.text.truncate(self.text.trim_end_matches('\n').len());
        self.text
    }
}

/// What a command did and printed, for the details of an error.
fn stage_details(tool: &str, text: &str, outcome: &Outcome, form: TextForm) -> Value {
    let mut details = Map::from_iter([("command".to_owned(), text.into()), ("tool".to_owned(), tool.into())]);
    details.extend(Ended::of(tool, outcome, form).to_json());
    details.into()
}

/// Returns what each program of a line did, as JSON; `None` for a line of one command, whose result says it.
pub(super) fn stages_json(done: &PlanOutcome) -> Option<Value> {
    let stages =
        || done.steps.iter().enumerate().flat_map(|(at, step)| step.stages.iter().map(move |stage| (at, stage)));
    (stages().count() > 1).then(|| stages().map(|(pipeline, stage)| stage_json(pipeline, stage)).collect())
}

fn stage_json(pipeline: usize, stage: &StageOutcome) -> Value {
    let StageOutcome { tool, outcome, cage, duration, text: _, has_network: _, prefetch: _, tested: _ } = stage;
    let stderr: String = outcome.stderr.text().chars().take(MAX_STAGE_STDERR_CHARS).collect();
    json!({
        "pipeline": pipeline,
        "tool_name": tool,
        "cage": cage.map(Cage::as_str),
        "end": end_name(outcome.end),
        "exit_code": exit_code(outcome.end),
        "duration_ms": u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        "stdout_bytes": outcome.stdout.total_bytes(),
        "stderr_bytes": outcome.stderr.total_bytes(),
        "stderr": stderr,
    })
}

/// Whether a program of a pipeline ended as it should: by itself, or because its reader had enough.
fn has_ended_well(end: &End, succeeded: bool) -> bool {
    succeeded || matches!(end, End::Signaled(SIGPIPE)) || *end == End::Exited(128 + SIGPIPE)
}
