//! What a call is answered with: text for the model, and an `ErrorObject` for programs.
//!
//! The texts are part of the contract (seed 000, SPEC §5 and §7).

use std::time::Duration;

use serde_json::{Value, json};

use crate::call::CallError;
use crate::call::approval::Denial;
use crate::call::arguments::{Violation, echo};
use crate::exec::MAX_WHOLE_OUTPUT_BYTES;
use crate::exec::{Captured, Content, End, Outcome, Stop, Written};

/// The answer to one call.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// What the model reads.
    pub text: String,
    /// What went wrong, if anything did.
    pub error: Option<ErrorObject>,
    /// What the tool prints, if that is more than text, and the files that it writes.
    pub media: Vec<Media>,
    /// All of standard output, if the text shows a part of it.
    pub whole: Option<Vec<u8>>,
}

/// What a tool has printed, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media {
    /// The media type.
    pub mime: String,
    /// What was printed.
    pub bytes: Vec<u8>,
}

/// What results have blocks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaKind {
    /// A picture.
    Image,
    /// A sound.
    Audio,
    /// Anything else.
    Other,
}

impl Media {
    /// What it is shown as.
    #[must_use]
    pub fn kind(&self) -> MediaKind {
        match self.mime.split_once('/') {
            Some(("image", _)) => MediaKind::Image,
            Some(("audio", _)) => MediaKind::Audio,
            _ => MediaKind::Other,
        }
    }
}

impl Reply {
    fn text(text: String) -> Self {
        Self { text, error: None, media: Vec::new(), whole: None }
    }

    fn error(text: String, error: ErrorObject) -> Self {
        Self { text, error: Some(error), media: Vec::new(), whole: None }
    }
}

/// A failure in the form that programs can act on (seed 004).
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorObject {
    /// The kind of failure.
    pub code: ErrorCode,
    /// One line for people.
    pub message: String,
    /// The tool that was called.
    pub tool: String,
    /// One object per thing that is wrong.
    pub details: Vec<Value>,
    /// Names that may have been meant.
    pub suggestions: Vec<String>,
    /// Whether the same call may succeed later.
    pub retryable: bool,
}

/// The kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ErrorCode {
    /// No tool of this name is served.
    UnknownTool,
    /// Arguments were refused.
    InvalidArguments,
    /// The policy does not permit the arguments.
    PolicyDenied,
    /// Nobody approved the call.
    ApprovalDenied,
    /// The call took longer than the tool's timeout.
    TimedOut,
    /// The client, or the end of the server, ended the call.
    Cancelled,
    /// The program could not be started.
    SpawnFailed,
    /// The program ended with another status than zero.
    CommandFailed,
    /// It printed more than a result can hold, where only the whole is of use.
    OutputLimit,
}

impl ErrorCode {
    /// The code's word in an `ErrorObject`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl ErrorObject {
    /// The object as `structuredContent` holds it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "error": {
                "code": self.code.as_str(),
                "message": self.message,
                "tool": self.tool,
                "details": self.details,
                "suggestions": self.suggestions,
                "retryable": self.retryable,
            }
        })
    }
}

/// Words the result of a call of `tool`; `output` is the media type of what it prints, if that is more than text.
#[must_use]
pub fn reply(tool: &str, output: Option<&str>, result: Result<Outcome, CallError>) -> Reply {
    match result {
        Ok(outcome) => finished(tool, output, outcome),
        Err(CallError::UnknownTool { suggestions }) => {
            let message = format!("Unknown tool: {}", echo(tool));
            let error = ErrorObject { suggestions, ..error(ErrorCode::UnknownTool, tool, &message) };
            Reply::error(message, error)
        }
        Err(CallError::InvalidArguments { violations, suggestions, input_schema }) => {
            let schema = serde_json::from_str(&input_schema).unwrap_or_default();
            invalid_arguments(tool, &violations, suggestions, &schema)
        }
        Err(CallError::PolicyDenied { violations }) => {
            let message = format!("the policy does not permit {} of the arguments", violations.len());
            let details = violations.iter().map(violation_json).collect();
            let error = ErrorObject { details, ..error(ErrorCode::PolicyDenied, tool, &message) };
            Reply::error(format!("Policy validation failed:{}", listed(&violations)), error)
        }
        Err(CallError::ApprovalDenied(denial)) => {
            let message = match denial {
                Denial::ByUser => "the user did not approve the call",
                Denial::Headless => "the call needs approval, and this client has no way to ask for it (elicitation)",
                Denial::Unanswerable => {
                    let message =
                        "Not run: the user has to give some of the values, and cannot be asked here (elicitation)";
                    return Reply::error(message.to_owned(), error(ErrorCode::ApprovalDenied, tool, message));
                }
                Denial::Forged => "the call came with a state that was not made for it",
            };
            let error = error(ErrorCode::ApprovalDenied, tool, message);
            Reply::error(format!("Tool execution denied by user: {tool}"), error)
        }
        Err(CallError::Answer { question, unusable }) => {
            let message =
                format!("Not run: what the user has given for `{question}` cannot be used ({})", unusable.join(", "));
            let error = ErrorObject { retryable: true, ..error(ErrorCode::ApprovalDenied, tool, &message) };
            Reply::error(message, error)
        }
        Err(CallError::Unaudited(problem)) => {
            let message = format!("Not run: the audit file cannot be written: {problem}");
            let error = ErrorObject { retryable: true, ..error(ErrorCode::SpawnFailed, tool, &message) };
            Reply::error(message, error)
        }
        Err(CallError::Spawn(problem)) => {
            let message = problem.to_string();
            let retryable = problem.is_temporary();
            let error = ErrorObject { retryable, ..error(ErrorCode::SpawnFailed, tool, &message) };
            Reply::error(blocks("", &message, -1), error)
        }
    }
}

/// Words arguments that were refused.
#[must_use]
pub fn invalid_arguments(
    tool: &str,
    violations: &[Violation],
    suggestions: Vec<String>,
    input_schema: &Value,
) -> Reply {
    let details = violations.iter().map(violation_json).chain([json!({ "input_schema": input_schema })]).collect();
    let message = format!("{} of the arguments cannot be used", violations.len());
    let error = ErrorObject { details, suggestions, ..error(ErrorCode::InvalidArguments, tool, &message) };
    Reply::error(format!("Argument validation failed:{}", listed(violations)), error)
}

fn listed(violations: &[Violation]) -> String {
    violations.iter().fold(String::new(), |lines, violation| lines + &format!("\n  - {violation}"))
}

fn violation_json(violation: &Violation) -> Value {
    json!({ "argument": violation.argument, "message": violation.to_string() })
}

fn error(code: ErrorCode, tool: &str, message: &str) -> ErrorObject {
    ErrorObject {
        code,
        message: message.to_owned(),
        tool: echo(tool),
        details: Vec::new(),
        suggestions: Vec::new(),
        retryable: false,
    }
}

fn finished(tool: &str, output: Option<&str>, outcome: Outcome) -> Reply {
    if outcome.end == End::Exited(0) && (output.is_some() || !outcome.files.is_empty()) {
        return shown(tool, output, outcome).unwrap_or_else(|reply| *reply);
    }
    let stdout = outcome.stdout.text();
    let mut stderr = outcome.stderr.text().trim_end().to_owned();
    let (code, status, why) = match outcome.end {
        End::Exited(0) => {
            return Reply { whole: more(outcome.stdout), ..Reply::text(blocks(&stdout, &stderr, 0)) };
        }
        End::Exited(status) => (ErrorCode::CommandFailed, status, format!("{tool} exited with code {status}")),
        End::Signaled(signal) => (ErrorCode::CommandFailed, -signal, format!("{tool} was ended by signal {signal}")),
        End::TimedOut(time) => (ErrorCode::TimedOut, -1, format!("Command timed out after {}", seconds(time))),
        End::Stopped(Stop::Cancelled) => (ErrorCode::Cancelled, -1, "Command cancelled".to_owned()),
        End::Stopped(Stop::ShuttingDown) => {
            (ErrorCode::Cancelled, -1, "Command ended: the server is shutting down".to_owned())
        }
    };
    if code != ErrorCode::CommandFailed {
        if !stderr.is_empty() {
            stderr.push('\n');
        }
        stderr.push_str(&why);
    }
    let error = ErrorObject {
        details: vec![json!({ "exit_code": status })],
        retryable: code != ErrorCode::CommandFailed,
        ..error(code, tool, &why)
    };
    Reply { whole: more(outcome.stdout), ..Reply::error(blocks(&stdout, &stderr, status), error) }
}

/// The whole of an output of which a text shows a part.
fn more(output: Captured) -> Option<Vec<u8>> {
    if output.dropped_bytes() > 0 { output.into_bytes() } else { None }
}

/// What a program has printed that is more than text, and the files that it has written; the text is what it says besides.
///
/// # Errors
/// Something of it is too long for a result.
fn shown(tool: &str, output: Option<&str>, outcome: Outcome) -> Result<Reply, Box<Reply>> {
    let too_long = |bytes: u64, mime: &str, verb: &str| {
        let most = MAX_WHOLE_OUTPUT_BYTES >> 20;
        let message = format!("{tool} {verb} {bytes} bytes of {mime}; a result holds {most} MiB");
        Box::new(Reply::error(message.clone(), error(ErrorCode::OutputLimit, tool, &message)))
    };
    let mut notes = vec![outcome.stderr.text().trim_end().to_owned()];
    let mut media = Vec::new();
    let (mut text, mut whole) = (String::new(), None);
    let printed = outcome.stdout.total_bytes();
    if let Some(mime) = output {
        let bytes = outcome.stdout.into_bytes().ok_or_else(|| too_long(printed, mime, "printed"))?;
        media.extend(Some(bytes).filter(|bytes| !bytes.is_empty()).map(|bytes| Media { mime: mime.to_owned(), bytes }));
    } else {
        text = outcome.stdout.text();
        whole = more(outcome.stdout);
    }
    for Written { file, mime, content } in outcome.files {
        match content {
            Content::Whole(bytes) => media.push(Media { mime, bytes }),
            Content::TooLong(bytes) => return Err(too_long(bytes, &mime, "wrote")),
            Content::Missing => notes.push(format!("{file} was not written")),
        }
    }
    notes.retain(|note| !note.is_empty());
    let is_all_said = media.is_empty() || !notes.is_empty() || !text.trim().is_empty();
    let text = if is_all_said { blocks(&text, &notes.join("\n"), 0) } else { String::new() };
    Ok(Reply { media, whole, ..Reply::text(text) })
}

/// Stdout, stderr and exit code, as far as there is something to say, an empty line between two.
fn blocks(stdout: &str, stderr: &str, status: i32) -> String {
    let mut blocks = Vec::new();
    let [stdout, stderr] = [stdout, stderr].map(str::trim_end);
    if !stdout.is_empty() {
        blocks.push(stdout.to_owned());
    }
    if !stderr.is_empty() {
        blocks.push(format!("[stderr]\n{stderr}"));
    }
    if status != 0 {
        blocks.push(format!("[exit code: {status}]"));
    }
    if blocks.is_empty() { "(no output)".to_owned() } else { blocks.join("\n\n") }
}

/// `30s`, `0.5s`.
fn seconds(time: Duration) -> String {
    format!("{}s", time.as_secs_f64())
}
