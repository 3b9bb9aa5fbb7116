//! The audit file: one JSON line per call, written before the call is answered.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use climax_catalog::{ArgView, Cage, ResolvedTool};
use serde_json::{Map, Value, json};

use crate::call::arguments::{echo, unknown_keys};
use crate::call::outcome::{Ending, Permission};
use crate::call::request::Session;
use crate::exec::open_for_append;
use crate::lock::Unpoisoned as _;
use crate::telemetry::log;

/// Maximum arguments of a call that an audit line names.
const MAX_AUDITED_ARGUMENTS: usize = 64;

/// Minimum free space on the file system of the audit file, in bytes.
const MIN_AUDIT_SPACE_BYTES: u64 = 1 << 20;

/// The open audit file.
#[derive(Debug)]
pub struct Audit {
    path: PathBuf,
    inner: Mutex<Inner>,
    calls: AtomicU64,
}

#[derive(Debug)]
struct Inner {
    file: File,
    /// Whether the file may end with a partial line, because the last write failed.
    has_partial_line: bool,
}

impl Audit {
    /// Opens the file for appending. A new file is readable by its owner only.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        let inner = Inner { file: open_for_append(path)?, has_partial_line: false };
        Ok(Self { inner: Mutex::new(inner), path: path.to_owned(), calls: AtomicU64::new(0) })
    }

    /// Opens the file by its path again, because the open file may have been renamed (log rotation).
    ///
    /// # Errors
    /// The file cannot be opened. The old one stays open.
    pub fn reopen(&self) -> io::Result<()> {
        let file = open_for_append(&self.path)?;
        *self.lock() = Inner { file, has_partial_line: false };
        Ok(())
    }

    /// Checks, before calls run, that their lines can be written. Returns the number of the first; the others follow it.
    ///
    /// # Errors
    /// The file cannot be opened or written, or there is less than 1 MiB of free space.
    pub(crate) fn begin_calls(&self, count: u64) -> io::Result<u64> {
        let mut inner = self.lock();
        if !is_same_file(&self.path, &inner.file) {
            *inner = Inner { file: open_for_append(&self.path)?, has_partial_line: false };
        }

        if inner.has_partial_line {
            inner.file.write_all(b"\n")?;
            inner.has_partial_line = false;
        }

        let space = rustix::fs::fstatvfs(&inner.file)?;
        // Pipes and devices take no space.
        if inner.file.metadata()?.is_file() && space.f_bavail.saturating_mul(space.f_frsize) < MIN_AUDIT_SPACE_BYTES {
            return Err(io::ErrorKind::StorageFull.into());
        }

        Ok(self.calls.fetch_add(count, Ordering::Relaxed))
    }

    /// Appends a line in one write, because other servers may append to the same file.
    ///
    /// # Errors
    /// The line could not be written, or only a part of it.
    pub(crate) fn write(&self, line: &Value) -> io::Result<()> {
        let mut inner = self.lock();
        let written = inner.file.write_all(format!("{line}\n").as_bytes());
        inner.has_partial_line |= written.is_err();
        written
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unpoisoned()
    }
}

/// Whether the path still names the open file.
fn is_same_file(path: &Path, file: &File) -> bool {
    let identity = |found: std::fs::Metadata| (found.dev(), found.ino());
    let named = std::fs::metadata(path).map(identity);
    matches!((named, file.metadata().map(identity)), (Ok(named), Ok(open)) if named == open)
}

/// The content of an audit line. It has no values of arguments, because they may be secrets.
pub(crate) struct Record<'a> {
    /// The number of the call, counted from the start of the server.
    pub(crate) call: u64,
    /// The number that the calls of one command line share; `None` for other calls.
    pub(crate) line: Option<u64>,
    /// The digest of the catalog and the policy.
    pub(crate) catalog: &'a str,
    pub(crate) session: Session<'a>,
    /// The name of the tool, as it was given.
    pub(crate) tool_name: &'a str,
    /// The tool; `None` if no served tool has the name.
    pub(crate) tool: Option<ResolvedTool<'a>>,
    /// The arguments as they were given.
    pub(crate) arguments: &'a Map<String, Value>,
    /// The cage of its program.
    pub(crate) cage: Option<Cage>,
    /// The names of the tools whose programs it starts by way of its own.
    pub(crate) starts: Vec<String>,
    pub(crate) permission: Permission,
    pub(crate) duration: Duration,
}

impl Record<'_> {
    /// Returns the line of a call that has ended.
    pub(crate) fn to_json(&self, ending: Ending<'_>) -> Value {
        let codes = ending.codes();
        let mut line = self.line(codes.decision(self.permission), codes.end);
        line["exit_code"] = json!(ending.exit_code());
        if let Ending::Ran(outcome) = ending {
            line["stdout_bytes"] = json!(outcome.stdout.total_bytes());
            line["stderr_bytes"] = json!(outcome.stderr.total_bytes());
        }
        line
    }

    /// Returns the line of a running call, which the janitor writes if this process is killed.
    pub(crate) fn unfinished(&self) -> Value {
        self.line(self.permission.decision(), Some("server_killed"))
    }

    fn line(&self, decision: &str, end: Option<&str>) -> Value {
        // Values of the agent for args of the user or the server are ignored, so they are not logged either.
        let is_ignored = |name: &str| {
            let mut args = self.tool.into_iter().flat_map(ResolvedTool::args);
            args.any(|arg| arg.name() == name && (arg.is_from_user() || arg.output().is_some()))
        };
        let given: Vec<_> = self.arguments.iter().filter(|(name, _)| !is_ignored(name)).collect();
        let asked = self.tool.into_iter().flat_map(ResolvedTool::args).filter(|arg| arg.is_from_user());
        let ignored = self.tool.into_iter().flat_map(|tool| unknown_keys(tool, self.arguments));
        let arguments = given.iter().take(MAX_AUDITED_ARGUMENTS).map(|(name, value)| {
            let bytes = value.as_str().map_or_else(|| value.to_string().len(), str::len);
            json!({ "name": echo(name), "bytes": bytes })
        });
        json!({
            "time": log::now(),
            "server": std::process::id(),
            "call": self.call,
            "line": self.line,
            "code": self.session.purpose.run(),
            "catalog": self.catalog,
            "caller": self.session.caller.map(echo),
            "tool": echo(self.tool_name),
            "starts": self.starts,
            "cage": self.cage.map(Cage::as_str),
            "arguments": arguments.collect::<Vec<_>>(),
            "more_arguments": given.len().saturating_sub(MAX_AUDITED_ARGUMENTS),
            "ignored": ignored.map(echo).collect::<Vec<_>>(),
            "asked": asked.map(ArgView::name).collect::<Vec<_>>(),
            "via": self.session.purpose.as_str(),
            "decision": decision,
            "end": end,
            "exit_code": null,
            "duration_ms": u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX),
        })
    }
}
