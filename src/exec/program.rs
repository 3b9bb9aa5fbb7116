//! Finds programs by name, as `execvp` does.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf, absolute};

/// Finds the absolute path of a program.
///
/// A name with a slash is relative to `dir`, or to the server's directory if that is `None`. Any other name is looked
/// up in `search_path`, or in the server's `PATH`. A file that is not executable is returned only if no other is
/// found: then the start fails with the system's own error.
pub(super) fn resolve(name: &str, search_path: Option<&OsStr>, dir: Option<&Path>) -> Option<PathBuf> {
    let base = absolute(dir.unwrap_or(Path::new("."))).ok()?;
    if name.contains('/') {
        let path = base.join(name);
        return path.exists().then_some(path);
    }
    let inherited = std::env::var_os("PATH");
    let search_path = search_path.or(inherited.as_deref()).unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"));
    let files =
        || std::env::split_paths(search_path).map(|dir| base.join(dir).join(name)).filter(|path| path.is_file());
    files().find(|path| is_executable(path)).or_else(|| files().next())
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}
