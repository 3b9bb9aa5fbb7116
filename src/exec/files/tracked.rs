//! Which files a git repository tracks.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::paths;

/// Returns whether the repository that a file lies in tracks it.
pub(crate) fn is_tracked(path: &Path) -> bool {
    let Ok(path) = paths::real(path) else { return false };
    let top = path.ancestors().skip(1).find(|directory| directory.join(".git").exists());
    top.is_some_and(|top| path.strip_prefix(top).is_ok_and(|name| has_entry(&repository_index(top), name)))
}

/// Returns the index of the repository of a project, also of a worktree; nothing if there is none.
pub(in crate::exec) fn repository_index(project: &Path) -> Vec<u8> {
    let git = project.join(".git");
    // Source: gitrepository-layout(5), "gitdir".
    let elsewhere = fs::read_to_string(&git).ok();
    let elsewhere =
        elsewhere.as_deref().and_then(|text| text.strip_prefix("gitdir:")).map(|path| project.join(path.trim()));
    fs::read(elsewhere.unwrap_or(git).join("index")).unwrap_or_default()
}

/// Returns whether an index has a path. In version 4, which cuts paths, none is found.
///
/// Source: gitformat-index(5): the length of a path stands in the 12 bits before it, and a NUL behind it.
pub(in crate::exec) fn has_entry(index: &[u8], path: &Path) -> bool {
    let name = path.as_os_str().as_bytes();
    let Ok(length) = u16::try_from(name.len()) else { return false };
    let entry = [name, b"\0"].concat();
    memchr::memmem::find_iter(index, &entry).any(|at| {
        let flags = at.checked_sub(2).and_then(|from| index.get(from..at));
        flags.is_some_and(|flags| u16::from_be_bytes([flags[0], flags[1]]) & 0xfff == length)
    })
}
