//! Where settings of agents are.

use std::fs;
use std::path::{Path, PathBuf};

use crate::exec;

/// The directory that a variable names, or one in the home directory.
pub(super) fn own_directory(variable: &str, in_home: &str) -> Option<PathBuf> {
    let home = exec::variable("HOME").map(PathBuf::from);
    exec::variable(variable).map(PathBuf::from).or(home.map(|home| home.join(in_home)))
}

/// The files of a directory whose names end so; none if it cannot be listed.
pub(super) fn files_of(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.to_string_lossy().ends_with(ending)).collect()
}
