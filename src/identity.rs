//! The name under which this program runs. A server with a catalog of its own has the name of its own file.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::OnceLock;

/// The name of the program that this package builds, and of a program whose file is unknown.
const DEFAULT_NAME: &str = "climax";

/// The name under which this program is a shell: `SHELL=…/climax-sh`.
pub(crate) const SHELL_NAME: &str = "climax-sh";

static NAME: OnceLock<String> = OnceLock::new();

/// Takes the name from the program's file. Later calls change nothing.
pub(crate) fn set_from(file: Option<&Path>) {
    let name = file.and_then(Path::file_name).and_then(OsStr::to_str).unwrap_or(DEFAULT_NAME);
    // A program that is replaced while it starts has a longer name on Linux.
    let name = name.strip_suffix(" (deleted)").unwrap_or(name);
    // A copy for use as a shell has the settings of the program itself.
    let name = if name == SHELL_NAME { DEFAULT_NAME } else { name };
    NAME.get_or_init(|| name.to_owned());
}

/// Returns the name of this program.
pub(crate) fn name() -> &'static str {
    NAME.get().map_or(DEFAULT_NAME, String::as_str)
}

/// Whether this program is a server of somebody's own, with a name of its own.
pub(crate) fn is_own() -> bool {
    name() != DEFAULT_NAME
}
