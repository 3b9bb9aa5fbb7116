//! Opens the audit file, makes the async runtime and finds the user's directories, for commands that call tools.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use super::output::FAILURE;
use super::terminal;
use crate::call::audit::Audit;
use crate::call::visible::TextForm;
use crate::exec::Runner;
use crate::identity;

/// Opens the audit file, if there is a path. Reports errors on standard error.
pub(super) fn audit(path: Option<&Path>) -> Result<Option<Arc<Audit>>, ExitCode> {
    path.map(|path| Audit::open(path).map(Arc::new)).transpose().map_err(|error| {
        let path = path.unwrap_or(Path::new("")).display();
        terminal::complain(&format!("cannot open the audit file {path}: {error}"));
        ExitCode::from(FAILURE)
    })
}

/// Makes a single-threaded runtime, because it starts and serves faster than one with several threads.
pub(super) fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

/// Returns the form of text that `--raw-output` asks for.
pub(super) fn text_form(raw_output: bool) -> TextForm {
    if raw_output { TextForm::Raw } else { TextForm::Visible }
}

/// Reads a path from a variable; `None` if it is unset or empty.
pub(super) fn set(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Returns the directory of this program in a base directory of the user. Source: XDG Base Directory Specification 0.8.
pub(super) fn user_directory(variable: &str, below_home: &str) -> Option<PathBuf> {
    let base = set(variable).or_else(|| Some(set("HOME")?.join(below_home)))?;
    Some(base.join(identity::name()))
}

/// Gives a runner what the programs of one person at this machine share: temporary files while it lasts, and caches that
/// stay.
pub(super) fn for_one_person(runner: Runner) -> Runner {
    let caches = user_directory("XDG_CACHE_HOME", ".cache").map(|directory| directory.join("projects"));
    runner.for_one_session().with_caches(caches)
}
