//! What a git repository tracks, and what it makes git run.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::paths;

/// Returns whether the repository that a file lies in tracks it.
pub(crate) fn is_tracked(path: &Path) -> bool {
    let Ok(path) = paths::real(path) else { return false };
    let top = path.ancestors().skip(1).find(|directory| directory.join(".git").exists());
    top.is_some_and(|top| path.strip_prefix(top).is_ok_and(|name| has_entry(&repository_index(top), name)))
}

/// Keys of git's configuration whose values are programs, or lead to such. Source: git-config(1).
const PROGRAM_KEYS: [&str; 20] = [
    "askpass",
    "clean",
    "command",
    "driver",
    "editor",
    "fsmonitor",
    "gitproxy",
    "helper",
    "hookspath",
    "insteadof",
    "pager",
    "process",
    "program",
    "receivepack",
    "smudge",
    "sshcommand",
    "textconv",
    "uploadpack",
    "vcs",
    "worktreeconfig",
];

/// Returns the git directory of the repository that a directory lies in, without links, also where `.git` is a file that
/// leads to it.
pub(crate) fn git_directory(directory: &Path) -> Option<PathBuf> {
    let top = directory.ancestors().find(|path| path.join(".git").exists())?;
    linked_git_directory(top).or_else(|| top.join(".git").canonicalize().ok())
}

/// Returns where the `.git` of a directory leads, if it is a file. Source: gitrepository-layout(5), "gitdir".
pub(super) fn linked_git_directory(top: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(top.join(".git")).ok()?;
    top.join(text.strip_prefix("gitdir:")?.trim()).canonicalize().ok()
}

/// Returns whether git would run programs because of what is in a git directory: hooks, or what its configuration names.
pub(crate) fn runs_programs(git: &Path) -> bool {
    let is_hook = |entry: fs::DirEntry| !entry.file_name().as_bytes().ends_with(b".sample");
    let has_hook = fs::read_dir(git.join("hooks")).into_iter().flatten().flatten().any(is_hook);
    let config = fs::read_to_string(git.join("config")).unwrap_or_default().to_lowercase();
    let names_program = |line: &str| {
        let line = line.trim_start();
        let key = line.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        line.contains("[include") || line.contains("[alias") || line.ends_with('\\') || PROGRAM_KEYS.contains(&key)
    };

    // A key may stand behind the name of its section.
    let mut lines =
        config.lines().flat_map(|line| std::iter::once(line).chain(line.split_once(']').map(|(_, key)| key)));
    // One that shares another one's hooks and configuration has a `commondir`.
    has_hook || git.join("commondir").exists() || lines.any(names_program)
}

/// Returns the index of the repository at a directory; nothing if there is none.
pub(in crate::exec) fn repository_index(top: &Path) -> Vec<u8> {
    git_directory(top).and_then(|git| fs::read(git.join("index")).ok()).unwrap_or_default()
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
