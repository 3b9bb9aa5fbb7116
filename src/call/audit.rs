//! The audit file: one JSON line per call, written before the call is answered.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use climax_catalog::{ArgView, ResolvedTool};
use serde_json::{Value, json};

use crate::call::arguments::echo;
use crate::call::outcome::{CallResult, Permission};
use crate::call::request::Request;
use crate::exec::{End, open_for_append};
use crate::telemetry::log;

/// Arguments of a call that a line of the audit file names.
const MAX_AUDITED_ARGUMENTS: usize = 64;

/// Room that there must be for the audit file, in bytes.
const MIN_AUDIT_SPACE_BYTES: u64 = 1 << 20;

/// The open file.
#[derive(Debug)]
pub struct Audit {
    path: PathBuf,
    inner: Mutex<Inner>,
    calls: AtomicU64,
}

#[derive(Debug)]
struct Inner {
    file: File,
    /// Whether the last write failed, so that half a line may stand at the end.
    is_torn: bool,
}

impl Audit {
    /// Opens the file for appending; a new one can be read by its owner only.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        let inner = Inner { file: open_for_append(path)?, is_torn: false };
        Ok(Self { inner: Mutex::new(inner), path: path.to_owned(), calls: AtomicU64::new(0) })
    }

    /// Opens the file by its name again: what had been opened may have been renamed.
    ///
    /// # Errors
    /// The file cannot be opened. What was open stays open for the calls that run.
    pub fn reopen(&self) -> io::Result<()> {
        let file = open_for_append(&self.path)?;
        *self.lock() = Inner { file, is_torn: false };
        Ok(())
    }

    /// Makes sure that a call can be written down, before it runs; its number.
    pub(crate) fn admit(&self) -> io::Result<u64> {
        let mut inner = self.lock();
        if !is_at(&self.path, &inner.file) {
            *inner = Inner { file: open_for_append(&self.path)?, is_torn: false };
        }
        if inner.is_torn {
            inner.file.write_all(b"\n")?;
            inner.is_torn = false;
        }
        let space = rustix::fs::fstatvfs(&inner.file)?;
        // What is no regular file takes no space.
        if inner.file.metadata()?.is_file() && space.f_bavail.saturating_mul(space.f_frsize) < MIN_AUDIT_SPACE_BYTES {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(self.calls.fetch_add(1, Ordering::Relaxed))
    }

    /// Writes a line, in one write: other servers may append to the same file.
    pub(crate) fn write(&self, line: &Value) -> io::Result<()> {
        let mut inner = self.lock();
        let written = inner.file.write_all(format!("{line}\n").as_bytes());
        inner.is_torn |= written.is_err();
        written
    }

    /// Where the file is, for whoever writes a line if this process cannot.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the open file is the one of this name.
fn is_at(path: &Path, file: &File) -> bool {
    let identity = |found: std::fs::Metadata| (found.dev(), found.ino());
    let named = std::fs::metadata(path).map(identity);
    matches!((named, file.metadata().map(identity)), (Ok(named), Ok(open)) if named == open)
}

/// What a line tells. Values of arguments are not in it: they may be secrets.
pub(crate) struct Record<'a> {
    /// Counts the calls of this server.
    pub(crate) call: u64,
    /// The digest of what is served.
    pub(crate) catalog: &'a str,
    pub(crate) request: Request<'a>,
    /// The tool, if there is one of this name.
    pub(crate) tool: Option<ResolvedTool<'a>>,
    pub(crate) permission: Permission,
    pub(crate) duration: Duration,
}

impl Record<'_> {
    /// The line of a call that is over.
    pub(crate) fn to_json<Q>(&self, result: &CallResult<Q>) -> Value {
        let codes = result.codes();
        let mut line = self.line(codes.decision(self.permission), codes.end);
        line["exit_code"] = json!(exit_code(result));
        if let CallResult::Ran(outcome) = result {
            line["stdout_bytes"] = json!(outcome.stdout.total_bytes());
            line["stderr_bytes"] = json!(outcome.stderr.total_bytes());
        }
        line
    }

    /// The line of a call that runs, for the case that this process does not see its end.
    pub(crate) fn unfinished(&self) -> Value {
        self.line(self.permission.decision(), Some("server_killed"))
    }

    fn line(&self, decision: &str, end: Option<&str>) -> Value {
        // What the agent says for what others give does not count.
        let others = |name: &str| {
            let mut args = self.tool.into_iter().flat_map(ResolvedTool::args);
            args.any(|arg| arg.name() == name && (arg.is_from_user() || arg.output().is_some()))
        };
        let given: Vec<_> = self.request.arguments.iter().filter(|(name, _)| !others(name)).collect();
        let asked = self.tool.into_iter().flat_map(ResolvedTool::args).filter(|arg| arg.is_from_user());
        let arguments = given.iter().take(MAX_AUDITED_ARGUMENTS).map(|(name, value)| {
            let bytes = value.as_str().map_or_else(|| value.to_string().len(), str::len);
            json!({ "name": echo(name), "bytes": bytes })
        });
        json!({
            "time": log::now(),
            "server": std::process::id(),
            "call": self.call,
            "catalog": self.catalog,
            "caller": self.request.caller.map(echo),
            "tool": echo(self.request.tool),
            "arguments": arguments.collect::<Vec<_>>(),
            "more_arguments": given.len().saturating_sub(MAX_AUDITED_ARGUMENTS),
            "asked": asked.map(ArgView::name).collect::<Vec<_>>(),
            "via": self.request.purpose.as_str(),
            "decision": decision,
            "end": end,
            "exit_code": null,
            "duration_ms": u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX),
        })
    }
}

/// The exit status, negative for a signal.
fn exit_code<Q>(result: &CallResult<Q>) -> Option<i32> {
    match result {
        CallResult::Ran(outcome) => match outcome.end {
            End::Exited(code) => Some(code),
            End::Signaled(signal) => Some(-signal),
            End::TimedOut(_) | End::Stopped(_) => None,
        },
        CallResult::InputRequired(_) | CallResult::Failed(_) => None,
    }
}
