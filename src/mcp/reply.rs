//! What a call is answered with: text for the model, and an `ErrorObject` for programs.
//!
//! The texts are part of the contract (seed 000, SPEC §5 and §7).

use std::time::Duration;

use serde_json::{Value, json};

use crate::approval::Denial;
use crate::arguments::{Violation, echo};
use crate::call::CallError;
use crate::exec::{End, Outcome, Stop};

/// The answer to one call.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// What the model reads.
    pub text: String,
    /// What went wrong, if anything did.
    pub error: Option<ErrorObject>,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

impl ErrorCode {
    /// The code's word in an `ErrorObject`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnknownTool => "unknown_tool",
            Self::InvalidArguments => "invalid_arguments",
            Self::PolicyDenied => "policy_denied",
            Self::ApprovalDenied => "approval_denied",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::SpawnFailed => "spawn_failed",
            Self::CommandFailed => "command_failed",
        }
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

/// Words the result of a call of `tool`.
#[must_use]
pub fn reply(tool: &str, result: Result<Outcome, CallError>) -> Reply {
    match result {
        Ok(outcome) => finished(tool, &outcome),
        Err(CallError::UnknownTool { suggestions }) => {
            let message = format!("Unknown tool: {}", echo(tool));
            let error = ErrorObject { suggestions, ..error(ErrorCode::UnknownTool, tool, &message) };
            Reply { text: message, error: Some(error) }
        }
        Err(CallError::InvalidArguments { violations, suggestions, input_schema }) => {
            let schema = serde_json::from_str(&input_schema).unwrap_or_default();
            invalid_arguments(tool, &violations, suggestions, &schema)
        }
        Err(CallError::PolicyDenied { violations }) => {
            let message = format!("the policy does not permit {} of the arguments", violations.len());
            let details = violations.iter().map(violation_json).collect();
            let error = ErrorObject { details, ..error(ErrorCode::PolicyDenied, tool, &message) };
            Reply { text: format!("Policy validation failed:{}", listed(&violations)), error: Some(error) }
        }
        Err(CallError::ApprovalDenied(denial)) => {
            let message = match denial {
                Denial::ByUser => "the user did not approve the call",
                Denial::Headless => "the call needs approval, and this client has no way to ask for it (elicitation)",
                Denial::Forged => "the call came with a state that was not made for it",
            };
            let error = error(ErrorCode::ApprovalDenied, tool, message);
            Reply { text: format!("Tool execution denied by user: {tool}"), error: Some(error) }
        }
        Err(CallError::Unaudited(problem)) => {
            let message = format!("Not run: the audit file cannot be written: {problem}");
            let error = ErrorObject { retryable: true, ..error(ErrorCode::SpawnFailed, tool, &message) };
            Reply { text: message, error: Some(error) }
        }
        Err(CallError::Spawn(problem)) => {
            let message = problem.to_string();
            let retryable = problem.is_temporary();
            let error = ErrorObject { retryable, ..error(ErrorCode::SpawnFailed, tool, &message) };
            Reply { text: blocks("", &message, -1), error: Some(error) }
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
    Reply { text: format!("Argument validation failed:{}", listed(violations)), error: Some(error) }
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

fn finished(tool: &str, outcome: &Outcome) -> Reply {
    let stdout = outcome.stdout.text();
    let mut stderr = outcome.stderr.text().trim_end().to_owned();
    let (code, status, why) = match outcome.end {
        End::Exited(0) => return Reply { text: blocks(&stdout, &stderr, 0), error: None },
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
    Reply { text: blocks(&stdout, &stderr, status), error: Some(error) }
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
