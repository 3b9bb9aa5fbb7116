//! The result of a call, and the one table of the names that results have in replies, metrics and audit lines.

use std::io;

use crate::call::approval::Denial;
use crate::call::arguments::Violation;
use crate::exec::{End, Outcome, SpawnError, Stop};

/// The result of a call.
#[derive(Debug)]
pub enum CallResult<Q> {
    /// The program ran.
    Ran(Outcome),
    /// The program did not run.
    Failed(CallError),
    /// The client has to ask its user first; the program did not run.
    InputRequired(Q),
}

/// Why a call did not run.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// No tool of this name is served.
    #[error("no such tool is served")]
    UnknownTool {
        /// Names of served tools that resemble it, nearest first.
        suggestions: Vec<String>,
    },
    /// Arguments were refused.
    #[error("{} of the arguments cannot be used", violations.len())]
    InvalidArguments {
        /// Everything that is wrong with them.
        violations: Vec<Violation>,
        /// The tool's argument names that unknown keys resemble.
        suggestions: Vec<String>,
        /// The tool's input schema, as JSON.
        input_schema: String,
    },
    /// The policy does not permit the arguments.
    #[error("the policy does not permit {} of the arguments", violations.len())]
    PolicyDenied {
        /// Every rule that they break.
        violations: Vec<Violation>,
    },
    /// The call was not approved.
    #[error("{0}")]
    ApprovalDenied(Denial),
    /// The user's answer to a form cannot be used. The agent does not learn the answer.
    #[error("Not run: what the user has given for `{question}` cannot be used ({})", unusable.join(", "))]
    UnusableAnswer {
        /// The name of the form.
        question: String,
        /// The args that the answer cannot be used for.
        unusable: Vec<String>,
    },
    /// The program could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The audit file cannot be written.
    #[error("Not run: the audit file cannot be written: {0}")]
    Unaudited(#[source] io::Error),
}

/// The kinds of failure, as an `ErrorObject` names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ErrorCode {
    /// No tool of this name is served.
    UnknownTool,
    /// Arguments were refused.
    InvalidArguments,
    /// The policy does not permit the arguments.
    PolicyDenied,
    /// The call was not approved.
    ApprovalDenied,
    /// The call took longer than the tool's timeout.
    TimedOut,
    /// The client, or the end of the server, ended the call.
    Cancelled,
    /// The program could not be started.
    SpawnFailed,
    /// The program ended with another status than zero.
    CommandFailed,
    /// The program printed more than a result can hold, where only the whole is of use.
    OutputLimit,
}

/// Whether a call needed approval, and whether it got it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permission {
    /// The call needs no approval.
    NotNeeded,
    /// The user approved it, or the policy does where no user can be asked.
    Approved,
    /// The user was asked and had not answered when the call ended.
    Awaited,
}

/// The names of one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Codes {
    /// In metrics and traces: `ok`, `asked`, or the code of the error.
    pub(crate) outcome: &'static str,
    /// In the audit file: what was decided about the call. `None` if it was permitted.
    decision: Option<&'static str>,
    /// In the audit file: how the program ended. `None` if none was to be started.
    pub(crate) end: Option<&'static str>,
}

impl Codes {
    /// What was decided about a call that this permission was given to.
    pub(crate) fn decision(&self, permission: Permission) -> &'static str {
        self.decision.unwrap_or(permission.decision())
    }
}

impl Permission {
    /// The decision about a call that went on to run.
    pub(crate) const fn decision(self) -> &'static str {
        match self {
            Self::NotNeeded => "permitted",
            Self::Approved => "approved",
            Self::Awaited => "asked",
        }
    }
}

impl<Q> CallResult<Q> {
    /// The names of this result.
    pub(crate) fn codes(&self) -> Codes {
        match self {
            Self::InputRequired(_) => Codes { outcome: "asked", decision: Some("asked"), end: None },
            Self::Ran(outcome) => {
                let outcome_code = ErrorCode::of(outcome.end);
                Codes {
                    outcome: outcome_code.map_or("ok", ErrorCode::as_str),
                    decision: None,
                    end: Some(end(outcome.end)),
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
    /// The code's word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The code of a program that ended like this; `None` for exit status 0.
    pub(crate) const fn of(end: End) -> Option<Self> {
        match end {
            End::Exited(0) => None,
            End::Exited(_) | End::Signaled(_) => Some(Self::CommandFailed),
            End::TimedOut(_) => Some(Self::TimedOut),
            End::Stopped(_) => Some(Self::Cancelled),
        }
    }
}

impl CallError {
    /// The code of this error.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::UnknownTool { .. } => ErrorCode::UnknownTool,
            Self::InvalidArguments { .. } => ErrorCode::InvalidArguments,
            Self::PolicyDenied { .. } => ErrorCode::PolicyDenied,
            Self::ApprovalDenied(_) | Self::UnusableAnswer { .. } => ErrorCode::ApprovalDenied,
            Self::Spawn(_) | Self::Unaudited(_) => ErrorCode::SpawnFailed,
        }
    }

    /// The decision and the end in the audit file.
    fn audit_codes(&self) -> (Option<&'static str>, Option<&'static str>) {
        let decision = match self {
            Self::UnknownTool { .. } | Self::InvalidArguments { .. } | Self::PolicyDenied { .. } => {
                self.code().as_str()
            }
            Self::ApprovalDenied(Denial::ByUser) => "denied_by_user",
            Self::ApprovalDenied(Denial::Headless) => "denied_headless",
            Self::ApprovalDenied(Denial::Forged) => "denied_forged",
            Self::ApprovalDenied(Denial::Unanswerable) => "denied_unanswerable",
            Self::UnusableAnswer { .. } => "unusable_answer",
            Self::Spawn(_) => return (None, Some("spawn_failed")),
            Self::Unaudited(_) => return (None, None),
        };
        (Some(decision), None)
    }
}

/// The end of a program in the audit file.
const fn end(end: End) -> &'static str {
    match end {
        End::Exited(_) => "exited",
        End::Signaled(_) => "signaled",
        End::TimedOut(_) => "timed_out",
        End::Stopped(Stop::Cancelled) => "cancelled",
        End::Stopped(Stop::ShuttingDown) => "shutdown",
    }
}
