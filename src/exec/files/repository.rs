//! What a git repository tracks, and what it makes git run.

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

/// Returns the directory at or above another one that holds a repository in which git would run programs: hooks, or what
/// its configuration names. `None` if there is no repository, or one that names none.
pub(crate) fn running_programs(directory: &Path) -> Option<&Path> {
    let top = directory.ancestors().find(|path| path.join(".git").exists())?;
    let git = top.join(".git");
    // Where it leads elsewhere, more than the files in it would have to be looked at.
    if !git.is_dir() {
        return Some(top);
    }
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
    (has_hook || lines.any(names_program)).then_some(top)
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
