//! The audit file: one JSON line per call, written before the call is answered.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::approval::Denial;
use crate::arguments::echo;
use crate::call::{CallError, Called, Permission, Request};
use crate::exec::{End, Stop};
use crate::log;

/// The open file.
#[derive(Debug)]
pub struct Audit {
    path: PathBuf,
    /// `None` after a failed write: until the file is open again no call runs.
    file: Mutex<Option<File>>,
}

impl Audit {
    /// Opens the file for appending; a new one can be read by its owner only.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { file: Mutex::new(Some(open(path)?)), path: path.to_owned() })
    }

    /// Opens the file by its name again: what had been opened may have been renamed.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn reopen(&self) -> io::Result<()> {
        let mut file = self.lock();
        *file = None;
        *file = Some(open(&self.path)?);
        Ok(())
    }

    /// Whether a call can be written down, before it runs.
    pub(crate) fn check(&self) -> io::Result<()> {
        let mut file = self.lock();
        if file.is_none() {
            *file = Some(open(&self.path)?);
        }
        Ok(())
    }

    /// Writes a line, in one write: other servers may append to the same file.
    pub(crate) fn write(&self, line: &Value) -> io::Result<()> {
        let mut file = self.lock();
        let open = file.as_mut().ok_or(io::ErrorKind::NotFound)?;
        open.write_all(format!("{line}\n").as_bytes()).inspect_err(|_| *file = None)
    }

    fn lock(&self) -> MutexGuard<'_, Option<File>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

/// What a line tells. Values of arguments are not in it: they may be secrets.
pub(crate) struct Record<'a> {
    pub(crate) request: Request<'a>,
    pub(crate) permission: Permission,
    pub(crate) duration: Duration,
}

impl Record<'_> {
    pub(crate) fn to_json<Q>(&self, called: &Called<Q>) -> Value {
        let arguments = self.request.arguments.iter().map(|(name, value)| {
            let bytes = value.as_str().map_or_else(|| value.to_string().len(), str::len);
            json!({ "name": echo(name), "bytes": bytes })
        });
        let mut line = json!({
            "time": log::now(),
            "tool": echo(self.request.tool),
            "arguments": arguments.collect::<Vec<_>>(),
            "decision": self.decision(called),
            "end": end(called),
            "exit_code": exit_code(called),
            "duration_ms": u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX),
        });
        if let Called::Ran(outcome) = called {
            line["stdout_bytes"] = json!(outcome.stdout.total_bytes());
            line["stderr_bytes"] = json!(outcome.stderr.total_bytes());
        }
        line
    }

    fn decision<Q>(&self, called: &Called<Q>) -> &'static str {
        match called {
            Called::Asked(_) => "asked",
            Called::Failed(CallError::UnknownTool { .. }) => "unknown_tool",
            Called::Failed(CallError::InvalidArguments { .. }) => "invalid_arguments",
            Called::Failed(CallError::PolicyDenied { .. }) => "policy_denied",
            Called::Failed(CallError::ApprovalDenied(Denial::ByUser)) => "denied_by_user",
            Called::Failed(CallError::ApprovalDenied(Denial::Headless)) => "denied_headless",
            Called::Ran(_) | Called::Failed(CallError::Spawn(_) | CallError::Unaudited(_)) => match self.permission {
                Permission::Unasked => "permitted",
                Permission::Approved => "approved",
                Permission::Awaited => "asked",
            },
        }
    }
}

fn end<Q>(called: &Called<Q>) -> Option<&'static str> {
    match called {
        Called::Failed(CallError::Spawn(_)) => Some("spawn_failed"),
        Called::Asked(_) | Called::Failed(_) => None,
        Called::Ran(outcome) => Some(match outcome.end {
            End::Exited(_) => "exited",
            End::Signaled(_) => "signaled",
            End::TimedOut(_) => "timed_out",
            End::Stopped(Stop::Cancelled) => "cancelled",
            End::Stopped(Stop::ShuttingDown) => "shutdown",
        }),
    }
}

/// The exit status, negative for a signal.
fn exit_code<Q>(called: &Called<Q>) -> Option<i32> {
    match called {
        Called::Ran(outcome) => match outcome.end {
            End::Exited(code) => Some(code),
            End::Signaled(signal) => Some(-signal),
            End::TimedOut(_) | End::Stopped(_) => None,
        },
        Called::Asked(_) | Called::Failed(_) => None,
    }
}
