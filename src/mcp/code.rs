//! What the calls of a program return, and the reply to a program.
//!
//! Source: `docs/contract.md`, "Code".

pub(super) mod programs;
pub(super) mod signature;

use std::borrow::Cow;

use serde_json::{Value, json};

use super::ignored::Ignored;
use super::reply::{ErrorObject, NO_OUTPUT, Reply, full_output};
use super::surface::CODE;
use crate::call::arguments::{Violation, echo};
use crate::call::visible::TextForm;
use crate::call::{CallError, ErrorCode, PlanFailure, PlanOutcome, end_name, exit_code};
use crate::code::{Answer, CodeEnd, CodeOutcome, Failure, MAX_CODE_CALLS, Printed, Program, Request, Thrown};
use crate::exec::{End, FileContent, Outcome, ResultFile};

/// Maximum characters of the message of an error that a program has thrown. What it prints has a limit of its own.
const MAX_THROWN_CHARS: usize = 4_000;

/// The result of a call whose program ran. `ignored` has the arguments that the tool does not have.
pub(super) fn outcome_answer(tool: &str, outcome: Outcome, ignored: Vec<String>, form: TextForm) -> Answer {
    let (end, stderr) = (outcome.end, form.apply(&outcome.stderr.text()).into_owned());
    let Some(status) = exit_code(end) else {
        let stdout = form.apply(&outcome.stdout.text()).into_owned();
        return Err(stopped(tool, end, Printed { stdout, stderr }));
    };
    let mut value = json!({ "exit_code": status, "stderr": stderr });
    if !ignored.is_empty() {
        value["ignored"] = ignored.into();
    }
    if let Some(answer) = &outcome.answer {
        value["answer"] = answer.as_ref().into();
    }
    if !outcome.files.is_empty() {
        value["files"] = outcome.files.iter().map(|file| file_value(file, form)).collect();
    }
    add_stdout(&mut value, vec![outcome], form);
    Ok(value)
}

/// A result file: its text, or how long it is if it is too long or no text. A file that was not written has neither.
fn file_value(file: &ResultFile, form: TextForm) -> Value {
    let ResultFile { file, mime, content } = file;
    let mut value = json!({ "file": file, "mime": mime });
    match content {
        FileContent::Whole(bytes) => match str::from_utf8(bytes) {
            Ok(text) => value["text"] = form.apply(text).into(),
            Err(_) => value["bytes"] = bytes.len().into(),
        },
        FileContent::TooLong(bytes) => value["bytes"] = (*bytes).into(),
        FileContent::Missing => {}
    }

    value
}

/// The result of a command line: the output of each pipeline in order, and the exit code of the last one.
pub(super) fn line_answer(done: PlanOutcome, form: TextForm) -> Answer {
    let mut status = Some(0);
    let mut ended = None;
    let (mut stdout, mut stderr) = (Vec::new(), String::new());
    for mut step in done.steps {
        let stages = step.stages.iter();
        stderr.extend(stages.map(|stage| form.apply(&stage.outcome.stderr.text()).into_owned()));
        let Some(last) = step.stages.pop() else { continue };
        status = exit_code(last.outcome.end);
        if status.is_none() {
            ended = Some((last.tool, last.outcome.end));
        }
        stdout.push(last.outcome);
    }

    let printed = |stderr: String| {
        let stdout = stdout.iter().map(|outcome| form.apply(&outcome.stdout.text()).into_owned()).collect();
        Printed { stdout, stderr }
    };
    if let Some(failed) = done.failure {
        let failure = line_failure(failed);
        return Err(if stdout.is_empty() { failure } else { Failure { printed: Some(printed(stderr)), ..failure } });
    }
    if let Some((tool, end)) = ended {
        return Err(stopped(&tool, end, printed(stderr)));
    }
    let mut value = json!({ "exit_code": status, "stderr": stderr });
    add_stdout(&mut value, stdout, form);
    Ok(value)
}

/// The failure of a line one of whose commands did not run.
fn line_failure(PlanFailure { tool, text, error }: PlanFailure) -> Failure {
    match (&error, tool) {
        (CallError::ApprovalDenied(denial), Some(tool)) => {
            let message = format!("{}: {}", echo(&text), denial.text(&tool));
            Failure { message, ..failure(&tool, error) }
        }
        _ => failure(&text, error),
    }
}

/// Adds standard output, whole if it is short enough, else with a note.
fn add_stdout(value: &mut Value, outcomes: Vec<Outcome>, form: TextForm) {
    let mut text = String::new();
    for outcome in outcomes {
        let cut = outcome.stdout.text();
        if let Some(bytes) = outcome.stdout.into_bytes() {
            text.push_str(&form.apply(&String::from_utf8_lossy(&bytes)));
        } else {
            text.push_str(&form.apply(&cut));
            value["truncated"] = true.into();
        }
    }

    value["stdout"] = text.into();
}

/// The failure of a call that was ended before its program had ended.
fn stopped(tool: &str, end: End, printed: Printed) -> Failure {
    let (message, code) = match end {
        End::TimedOut(time) => (format!("{tool} timed out after {} s", time.as_secs_f64()), ErrorCode::TimedOut),
        end => (format!("{tool} was ended: {}", end_name(end)), ErrorCode::Cancelled),
    };
    Failure { message, code: code.as_str(), suggestions: Vec::new(), printed: Some(printed) }
}

/// The failure of a call of `tool` that did not run.
pub(super) fn failure(tool: &str, error: CallError) -> Failure {
    let code = error.code().as_str();
    let message = match &error {
        CallError::UnknownTool { .. } => format!("Unknown tool: {}", echo(tool)),
        CallError::ApprovalDenied(denial) => denial.text(&echo(tool)),
        error => format!("{}: {}", echo(tool), error.reasons().join("; ")),
    };
    let suggestions = match error {
        CallError::UnknownTool { suggestions } | CallError::InvalidArguments { suggestions, .. } => suggestions,
        _ => Vec::new(),
    };
    Failure { message, code, suggestions, printed: None }
}

/// The failure of a call that did not run. `ignored` has the arguments that the tool does not have.
pub(super) fn refusal(tool: &str, error: CallError, ignored: &[String]) -> Failure {
    let mut failure = failure(tool, error);
    if !ignored.is_empty() {
        failure.message = format!("{}; it has no such arguments: {}", failure.message, ignored.join(", "));
    }
    failure
}

/// The failure of a call with arguments that the function does not take.
pub(super) fn wrong_arguments(name: &str, violations: &[Violation]) -> Failure {
    let reasons: Vec<String> = violations.iter().map(ToString::to_string).collect();
    let message = format!("{name}: {}", reasons.join("; "));
    Failure { message, code: ErrorCode::InvalidArguments.as_str(), suggestions: Vec::new(), printed: None }
}

/// The name of a call in messages.
fn name(request: &Request) -> String {
    match request {
        Request::Tool { name, .. } => format!("tools.{}", echo(name)),
        Request::Line(given) => {
            format!("run({})", given.get("command").map(Value::to_string).map_or_else(String::new, |line| echo(&line)))
        }
        Request::Search(_) => "search".to_owned(),
        Request::Describe(_) => "describe".to_owned(),
    }
}

/// Renders the reply to a program: what it printed, then what it should know, then its error and what was ignored.
///
/// `beside` has the ignored arguments of `climax_code` itself.
pub(super) fn code_reply(outcome: CodeOutcome, beside: Option<Ignored>, program: Program<'_>, form: TextForm) -> Reply {
    let CodeOutcome { printed, end, forgotten, ignored } = outcome;
    let shown = form.apply(printed.text().trim_end()).into_owned();
    let forgotten: Vec<String> = forgotten.iter().map(name).collect();
    let mut error = error(end, program);
    let mut blocks = vec![shown.clone()];
    if !forgotten.is_empty() {
        blocks.push(format!("[without await, so the results are lost: {}]", forgotten.join(", ")));
    }

    if let Some(ErrorObject { message, suggestions, details, .. }) = &mut error {
        let near =
            if suggestions.is_empty() { String::new() } else { format!(". Did you mean: {}?", suggestions.join(", ")) };
        blocks.push(format!("[error]\n{message}{near}"));
        let mut about = details.pop().unwrap_or_else(|| json!({}));
        about["stdout"] = shown.into();
        if !forgotten.is_empty() {
            about["lost"] = forgotten.into();
        }
        details.push(about);
    }

    blocks.retain(|block| !block.is_empty());
    let text = if blocks.is_empty() { NO_OUTPUT.to_owned() } else { blocks.join("\n\n") };
    let reply = Reply { error, full_output: full_output(printed), ..Reply::text(text) };

    reply.ignoring(ignored.into_iter().map(|(tool, names)| Ignored { tool, names }).chain(beside))
}

/// The error of a program; `None` if it ended by itself.
fn error(end: CodeEnd, program: Program<'_>) -> Option<ErrorObject> {
    let object = |code: ErrorCode, message: &str| Some(ErrorObject::new(code, CODE.name(), message));
    let failed = |message: &str| object(ErrorCode::CommandFailed, message);
    match end {
        CodeEnd::Returned => None,
        CodeEnd::Threw(thrown) => Some(thrown_error(thrown)),
        CodeEnd::TimedOut => {
            let seconds = program.time.as_secs();
            let message =
                format!("the code computed for more than {seconds} s, without its calls: give a longer timeout");
            object(ErrorCode::TimedOut, &message)
        }
        CodeEnd::Stuck => failed("the code awaits a promise that nothing resolves: only calls can be awaited"),
        CodeEnd::TooManyCalls => failed(&format!("the code made more than {MAX_CODE_CALLS} calls: divide it")),
        CodeEnd::TooMuchLogged => failed(
            "a call has to wait for the user, and the results before it are too long to be stored until then: make that \
             call first",
        ),
        CodeEnd::Differed => failed("the code did not do the same again after the user had answered: call it anew"),
        CodeEnd::Crashed(Some(End::Signaled(signal))) => failed(&format!("the engine was ended by signal {signal}")),
        CodeEnd::Crashed(_) => failed("the engine has ended without a result"),
        CodeEnd::Refused(reason) => object(ErrorCode::SpawnFailed, &format!("the code cannot be isolated: {reason}")),
        CodeEnd::Stopped(why) => object(ErrorCode::Cancelled, end_name(End::Stopped(why))),
    }
}

/// A message of at most 4,000 characters.
fn shortened(message: &str) -> Cow<'_, str> {
    match message.char_indices().nth(MAX_THROWN_CHARS) {
        Some((end, _)) => format!("{}…", &message[..end]).into(),
        None => message.into(),
    }
}

/// The error that a program has thrown, with its place.
fn thrown_error(thrown: Thrown) -> ErrorObject {
    let Thrown { message, line, column, suggestions } = thrown;
    let message = shortened(&message);
    let place = line.zip(column).map(|(line, column)| format!("line {line}, column {column}: ")).unwrap_or_default();
    let error = ErrorObject::new(ErrorCode::CommandFailed, CODE.name(), &format!("{place}{message}"));
    ErrorObject { details: vec![json!({ "line": line, "column": column })], suggestions, ..error }
}
