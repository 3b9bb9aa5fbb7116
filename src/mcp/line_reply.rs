//! The reply to a command line.

use climax_catalog::{Cage, OutputForm, ResolvedTool, ToolIndex};
use serde_json::{Map, Value, json};

use super::reply::{Ended, ErrorObject, NO_OUTPUT, Reply, reply};
use crate::call::visible::TextForm;
use crate::call::{ErrorCode, PlanFailure, PlanOutcome, StageOutcome};
use crate::call::{end_name, exit_code, shell_status};
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

    let ended_so = |stage: &StageOutcome| Some(shell_status(stage.outcome.end)) == status;
    let is_said = steps.last().is_some_and(|step| step.stages.iter().any(ended_so));
    let mut account = Account::default();
    for step in steps {
        account.error = None;
        let last = step.stages.len().saturating_sub(1);
        for (at, stage) in step.stages.into_iter().enumerate() {
            account.add(stage, at == last, form);
        }
    }
    if let Some(failure) = failure {
        let instead = status.is_some().then(|| failure.error.in_the_middle()).flatten();
        account.fail(failure, instead, form);
    } else if let Some(status) = status {
        account.end(status, is_said);
    }

    let Account { text, details, error, full_output } = account;
    let error = error.map(|error| ErrorObject { details, ..error });
    Reply { error, full_output, ..Reply::text(text.finish()) }
}
/// What is said of a line, so far.
#[derive(Default)]
struct Account {
    text: Blocks,
    /// What each command did that the text shows, for the details of an error.
    details: Vec<Value>,
    /// The error of the last pipeline, or of the line.
    error: Option<ErrorObject>,
    full_output: Option<Vec<u8>>,
}

impl Account {
    /// Adds what a command of a pipeline did. One before the last shows only if something is to be said of it.
    fn add(&mut self, stage: StageOutcome, is_last: bool, form: TextForm) {
        let StageOutcome { tool, text: written, outcome, .. } = stage;
        let has_ended_well = has_ended_well(&outcome.end, outcome.succeeded());
        let is_quiet = has_ended_well && outcome.stderr.total_bytes() == 0 && outcome.protected.is_empty();
        if is_quiet && !is_last {
            return;
        }

        self.details.push(stage_details(&tool, &written, &outcome, form));
        if is_quiet && outcome.answer.is_none() && outcome.stdout.dropped_bytes() == 0 {
            self.text.output(&form.apply(&outcome.stdout.text()));
            return;
        }

        let is_failure = !has_ended_well || (is_last && !outcome.succeeded());
        let rendered = reply(&tool, OutputForm::Text, Ok(outcome), form);
        self.error = self.error.take().or(rendered.error.filter(|_| is_failure));
        self.full_output = rendered.full_output.or(self.full_output.take());
        if !is_last {
            self.text.block(&format!(
                "[{written}]
{}",
                rendered.text
            ));
        } else if rendered.text != NO_OUTPUT {
            self.text.block(&rendered.text);
        }
    }

    /// Makes the exit status of the line what decides, and says it if no program of its last pipeline ended so: `exit 5`,
    /// `test -f FILE`.
    fn end(&mut self, status: i32, is_said: bool) {
        if status == 0 {
            self.error = None;
        } else if !is_said {
            let message = format!("The line exited with code {status}");
            self.error = Some(ErrorObject::new(ErrorCode::CommandFailed, "climax_run", &message));
            self.text.block(&format!("[exit code: {status}]"));
        }
    }

    /// Adds why the line ended early, in the words of `instead` if there are any.
    fn fail(&mut self, failure: PlanFailure, instead: Option<String>, form: TextForm) {
        let PlanFailure { tool, text: written, error: reason } = failure;
        let mut rendered = reply(tool.as_deref().unwrap_or("climax_run"), OutputForm::Text, Err(reason), form);
        if let Some(text) = instead {
            rendered.text.clone_from(&text);
            rendered.error = rendered.error.map(|error| ErrorObject { message: text, ..error });
        }
        self.error = rendered.error;
        self.details.extend(self.error.iter_mut().flat_map(|error| std::mem::take(&mut error.details)));
        self.text.block(&tool.map_or(rendered.text.clone(), |tool| format!("`{written}` ({tool}): {}", rendered.text)));
    }
}

/// A text of outputs, and of blocks with an empty line around each.
#[derive(Default)]
struct Blocks {
    text: String,
    ends_block: bool,
}

impl Blocks {
    /// Adds what a command printed, behind what is there.
    fn output(&mut self, text: &str) {
        if self.ends_block && !text.is_empty() {
            self.text.push_str("\n\n");
            self.ends_block = false;
        }
        self.text.push_str(text);
    }

    /// Adds a block, with an empty line before it.
    fn block(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.truncate(self.text.trim_end_matches('\n').len());
            self.text.push_str("\n\n");
        }
        self.text.push_str(text);
        self.ends_block = true;
    }

    /// Returns the text, without line breaks at its end.
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

/// What one program did, as JSON.
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
