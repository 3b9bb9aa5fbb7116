//! The environment of this process: its variables and its directory.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// Reads a variable of the server's environment, for the expansion of config words.
///
/// Returns `None` if it is unset or not UTF-8.
#[must_use]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The directory of this process; empty if it has been removed.
#[must_use]
pub fn directory() -> PathBuf {
    std::env::current_dir().unwrap_or_default()
}

/// Makes another directory that of this process, before any call has run.
///
/// # Errors
/// It is none, or cannot be entered.
pub fn enter(directory: &Path) -> io::Result<()> {
    std::env::set_current_dir(directory)
}

/// Returns whether a variable is among `names`, of which one may end in `*`.
pub(super) fn is_named(variable: impl AsRef<OsStr>, names: &[String]) -> bool {
    let variable = variable.as_ref();
    names.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(start) => variable.as_encoded_bytes().starts_with(start.as_bytes()),
        None => variable == pattern.as_str(),
    })
}

/// Returns the number of the user who runs this process.
#[must_use]
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Returns the name of this machine.
#[must_use]
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
