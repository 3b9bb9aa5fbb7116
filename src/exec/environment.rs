//! The environment of this process: its variables and its directory.

use std::path::PathBuf;

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
