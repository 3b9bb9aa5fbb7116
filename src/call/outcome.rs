//! The result of a call, and its names in replies, metrics and audit lines.

use std::io;

use crate::call::arguments::Violation;
use crate::call::line::UnreadLine;
use crate::exec::{End, Outcome, SpawnError, Stop};
use crate::telemetry::{ASKED, OK};

/// The result of a call.
#[derive(Debug)]
pub enum CallResult<Q> {
    /// The program ran.
    Ran(Outcome),
    /// The program did not run.
    Failed(CallError),
    /// The client must ask its user first. The program did not run.
    InputRequired(Q),
}

/// The reason why a call did not run.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// No served tool has this name.
    #[error("no such tool is served")]
    UnknownTool {
        /// Names of served tools that resemble it, nearest first.
        suggestions: Vec<String>,
    },
    /// Arguments are invalid.
    #[error("{} of the arguments cannot be used", violations.len())]
    InvalidArguments {
        /// All violations.
        violations: Vec<Violation>,
        /// The tool's argument names that unknown keys resemble.
        suggestions: Vec<String>,
        /// The part of the tool's input schema that the violations are about, as JSON; empty if they are about none.
        input_schema: String,
    },
    /// The policy does not permit the arguments.
    #[error("the policy does not permit {} of the arguments", violations.len())]
    PolicyDenied {
        /// All violations.
        violations: Vec<Violation>,
    },
    /// The call prints secrets, and that is refused.
    #[error("{reason}")]
    Sensitive {
        /// What prints secrets, and who refuses that.
        reason: String,
    },
    /// The call was not approved.
    #[error("{0}")]
    ApprovalDenied(Denial),
    /// The user's answer to a form is invalid. The error does not contain the answer, which the agent must not learn.
    #[error("Not run: what the user has given for `{question}` cannot be used ({})", unusable.join(", "))]
    UnusableAnswer {
        /// The name of the form.
        question: String,
        /// The args with invalid values.
        unusable: Vec<String>,
    },
    /// The program could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// No tool takes a command of the line, or the line is not understood.
    #[error("Command line not read: {0}")]
    Unread(Box<UnreadLine>),
    /// The words of a command were known only while its line ran, and this client is asked before a line runs.
    #[error(
        "it needs approval, its words were not known before the line ran, and this client is asked before that: write \
         the words out, or run it as a line of its own"
    )]
    LateQuestion,
    /// The audit file cannot be written.
    #[error("Not run: the audit file cannot be written: {0}")]
    Unaudited(#[source] io::Error),
}

/// Why a call was not approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denial {
    /// The user was asked and did not approve.
    #[error("the user did not approve the call")]
    ByUser,
    /// The client cannot ask a user, and the policy denies such calls.
    #[error("it needs approval, and this client cannot ask anybody (policy: approval.headless is deny)")]
    Headless,
    /// The tool has a form, and the client cannot ask a user.
    #[error("Not run: the user has to give some of the values, and cannot be asked here (elicitation)")]
    Unanswerable,
    /// The answer came with a request state of another call.
    #[error("the call came with a state that was not made for it")]
    Forged,
    /// The question cannot be put, whatever the client can do.
    #[error("it needs an answer of the user, who cannot be asked here")]
    Unasked,
}

impl Denial {
    /// Returns the text of the refusal of a call of `tool`. It is the same in calls, lines, chains and code.
    #[must_use]
    pub fn text(self, tool: &str) -> String {
        match self {
            Self::ByUser => format!("Tool execution denied by user: {tool}"),
            Self::Headless => format!(
                "Tool execution needs approval, and this client cannot ask anybody: {tool} (policy: approval.headless is \
                 deny)"
            ),
            Self::Unanswerable => self.to_string(),
            Self::Forged | Self::Unasked => format!("Tool execution denied: {tool}: {self}"),
        }
    }
}

impl CallError {
    /// Returns the exit status of a command that lacks words which its expansions did not give; `None` of any other.
    pub(crate) fn lacking_status(&self) -> Option<i32> {
        let Self::Unread(line) = self else { return None };
        if let UnreadLine::Lacking { status, .. } = **line { Some(status) } else { None }
    }

    /// Returns the text of the error of a line that ended by it after a part of it had run; `None` if it stands at the
    /// start, or is another error. Whoever types the line again would do twice what stands before.
    pub(crate) fn in_the_middle(&self) -> Option<String> {
        let Self::Unread(line) = self else { return None };
        let has_begun = line.error().range.start > 0;
        has_begun.then(|| format!("The line has ended here, and the commands before have run. {line}"))
    }

    /// Returns all reasons: each violation, or the error itself.
    #[must_use]
    pub fn reasons(&self) -> Vec<String> {
        match self {
            Self::InvalidArguments { violations, .. } | Self::PolicyDenied { violations } => {
                violations.iter().map(ToString::to_string).collect()
            }
            other => vec![other.to_string()],
        }
    }
}

/// The kinds of failure, by their names in results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ErrorCode {
    /// No served tool has this name.
    UnknownTool,
    /// Arguments are invalid.
    InvalidArguments,
    /// The policy does not permit the arguments.
    PolicyDenied,
    /// The call was not approved.
    ApprovalDenied,
    /// The call took longer than the tool's timeout.
    TimedOut,
    /// The client cancelled the call, or the server shut down.
    Cancelled,
    /// The program could not be started.
    SpawnFailed,
    /// The program exited with a status other than 0, or by a signal.
    CommandFailed,
    /// The program printed more than a result can contain, and a part is of no use.
    OutputLimit,
}

/// Whether a call required approval, and whether it was approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permission {
    /// The call required no approval.
    NotNeeded,
    /// The user approved it, or the policy did for a client that cannot ask a user.
    Approved,
    /// The call ended before the user answered.
    Awaited,
}

/// The names of one result in metrics, traces and the audit file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Codes {
    /// In metrics and traces: `ok`, `asked`, or the code of the error.
    pub(crate) outcome: &'static str,
    /// In the audit file: the decision. `None` if the call was permitted.
    decision: Option<&'static str>,
    /// In the audit file: how the program ended. `None` if no start was attempted.
    pub(crate) end: Option<&'static str>,
}

impl Codes {
    /// Returns the decision in the audit file, for a call with this permission.
    pub(crate) fn decision(&self, permission: Permission) -> &'static str {
        self.decision.unwrap_or(permission.decision())
    }
}

impl Permission {
    /// Returns the decision in the audit file, for a call that ran.
    pub(crate) const fn decision(self) -> &'static str {
        match self {
            Self::NotNeeded => "permitted",
            Self::Approved => "approved",
            Self::Awaited => "asked",
        }
    }
}

/// How a call ended, as audit lines and metrics tell it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ending<'r> {
    /// The program ran.
    Ran(&'r Outcome),
    /// The program did not run.
    Failed(&'r CallError),
    /// The client must ask its user first.
    Asked,
}

impl<Q> CallResult<Q> {
    /// Returns how the call ended.
    pub(crate) fn ending(&self) -> Ending<'_> {
        match self {
            Self::Ran(outcome) => Ending::Ran(outcome),
            Self::Failed(error) => Ending::Failed(error),
            Self::InputRequired(_) => Ending::Asked,
        }
    }
}

impl Ending<'_> {
    /// Returns the exit status of the program; `None` if it did not run or did not end by itself.
    pub(crate) fn exit_code(self) -> Option<i32> {
        match self {
            Self::Ran(outcome) => exit_code(outcome.end),
            Self::Failed(_) | Self::Asked => None,
        }
    }

    /// Returns the bytes that the program printed.
    pub(crate) fn output_bytes(self) -> u64 {
        match self {
            Self::Ran(outcome) => outcome.stdout.total_bytes() + outcome.stderr.total_bytes(),
            Self::Failed(_) | Self::Asked => 0,
        }
    }

    /// Returns the names of this ending.
    pub(crate) fn codes(self) -> Codes {
        match self {
            Self::Asked => Codes { outcome: ASKED, decision: Some(ASKED), end: None },
            Self::Ran(outcome) => {
                let outcome_code = ErrorCode::of(outcome);
                Codes {
                    outcome: outcome_code.map_or(OK, ErrorCode::as_str),
                    decision: None,
                    end: Some(end_name(outcome.end)),
                }
            }
            Self::Failed(error) => {
                let (decision, end) = error.audit_codes();
                Codes { outcome: error.code().as_str(), decision, end }
            }
        }
    }
}

impl ErrorCode {
    /// Returns the code's name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns the code of a program's outcome; `None` if it succeeded.
    pub(crate) fn of(outcome: &Outcome) -> Option<Self> {
        match outcome.end {
            End::Exited(_) if outcome.succeeded() => None,
            End::Exited(_) | End::Signaled(_) => Some(Self::CommandFailed),
            End::TimedOut(_) => Some(Self::TimedOut),
            End::Stopped(_) => Some(Self::Cancelled),
        }
    }
}

impl CallError {
    /// Returns the code of this error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::UnknownTool { .. } => ErrorCode::UnknownTool,
            Self::Unread(line) if line.is_withheld() => ErrorCode::PolicyDenied,
            Self::InvalidArguments { .. } | Self::Unread(_) => ErrorCode::InvalidArguments,
            Self::PolicyDenied { .. } | Self::Sensitive { .. } => ErrorCode::PolicyDenied,
            Self::ApprovalDenied(_) | Self::UnusableAnswer { .. } | Self::LateQuestion => ErrorCode::ApprovalDenied,
            Self::Spawn(_) | Self::Unaudited(_) => ErrorCode::SpawnFailed,
        }
    }

    /// Returns the decision and the end in the audit file.
    fn audit_codes(&self) -> (Option<&'static str>, Option<&'static str>) {
        let decision = match self {
            Self::UnknownTool { .. }
            | Self::InvalidArguments { .. }
            | Self::Unread(_)
            | Self::PolicyDenied { .. }
            | Self::Sensitive { .. } => self.code().as_str(),
            Self::ApprovalDenied(Denial::ByUser) => "denied_by_user",
            Self::ApprovalDenied(Denial::Headless) => "denied_headless",
            Self::ApprovalDenied(Denial::Forged) => "denied_forged",
            Self::ApprovalDenied(Denial::Unasked) | Self::LateQuestion => "denied_unasked",
            Self::ApprovalDenied(Denial::Unanswerable) => "denied_unanswerable",
            Self::UnusableAnswer { .. } => "unusable_answer",
            Self::Spawn(_) => return (None, Some("spawn_failed")),
            Self::Unaudited(_) => return (None, None),
        };
        (Some(decision), None)
    }
}

/// Returns the exit status of a program; for a signal, its negated number.
pub(crate) const fn exit_code(end: End) -> Option<i32> {
    match end {
        End::Exited(code) => Some(code),
        End::Signaled(signal) => Some(-signal),
        End::TimedOut(_) | End::Stopped(_) => None,
    }
}

/// Returns the exit status of a program, as a shell counts it: 128 and the number for a signal.
pub(crate) const fn shell_status(end: End) -> i32 {
    match end {
        End::Exited(status) => status,
        End::Signaled(signal) => 128 + signal,
        End::TimedOut(_) => 124,
        End::Stopped(_) => 130,
    }
}

/// Returns the name of a program's end, as the audit file has it.
pub(crate) const fn end_name(end: End) -> &'static str {
    match end {
        End::Exited(_) => "exited",
        End::Signaled(_) => "signaled",
        End::TimedOut(_) => "timed_out",
        End::Stopped(Stop::Cancelled) => "cancelled",
        End::Stopped(Stop::ShuttingDown) => "shutdown",
    }
}
