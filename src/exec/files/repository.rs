//! What a git repository tracks, and what it makes git run.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::change_time::is_changed_since;
use super::paths;
use crate::exec::environment::variable;

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

/// Returns the directory from which git runs the hooks of the repository that a directory lies in, without links: that of
/// `core.hooksPath`, else `hooks` in the git directory. Source: githooks(5).
pub(in crate::exec) fn hooks_directory(directory: &Path) -> Option<PathBuf> {
    let top = directory.ancestors().find(|path| path.join(".git").exists())?;
    let own = git_directory(top)?;
    // All worktrees of a repository share its configuration and its hooks.
    let shared = fs::read_to_string(own.join("commondir")).ok().map(|path| own.join(path.trim()));
    let git = shared.unwrap_or(own);

    let home = variable("HOME").map(PathBuf::from).unwrap_or_default();
    let configs = [git.join("config"), home.join(".gitconfig"), home.join(".config/git/config")];
    let named = configs.iter().find_map(|config| hooks_path(&fs::read_to_string(config).ok()?));
    let path = match named.as_deref() {
        None => git.join("hooks"),
        Some(path) => path.strip_prefix("~/").map_or_else(|| top.join(path), |path| home.join(path)),
    };
    path.canonicalize().ok()
}

/// Returns the last value of `core.hooksPath` in a configuration. Source: git-config(1), "Syntax".
fn hooks_path(config: &str) -> Option<String> {
    let mut is_core = false;
    let mut found = None;
    for line in config.lines().map(str::trim) {
        let mut key = line;
        if let Some((section, rest)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            is_core = section.trim().eq_ignore_ascii_case("core");
            key = rest.trim();
        }
        if let Some((name, value)) = key.split_once('=').filter(|_| is_core)
            && name.trim().eq_ignore_ascii_case("hookspath")
        {
            found = Some(value.trim().trim_matches('"').to_owned());
        }
    }
    found.filter(|path| !path.is_empty())
}

/// Returns whether the repository that a directory lies in has hooks of which one has been made or changed since a time.
pub(in crate::exec) fn hooks_changed_since(directory: &Path, since: Duration) -> bool {
    let Some(hooks) = hooks_directory(directory) else { return false };
    // A directory that has been moved there has its hooks from elsewhere.
    let is_new = is_changed_since(&hooks, since);
    let mut entries = fs::read_dir(&hooks).into_iter().flatten().flatten().filter(is_hook);
    entries.any(|entry| is_new || is_changed_since(&entry.path(), since))
}

/// Returns whether git takes an entry of the directory of hooks for one.
fn is_hook(entry: &fs::DirEntry) -> bool {
    !entry.file_name().as_bytes().ends_with(b".sample")
}

/// Returns whether git would run programs because of what is in a git directory: hooks, or what its configuration names.
pub(crate) fn runs_programs(git: &Path) -> bool {
    let has_hook = fs::read_dir(git.join("hooks")).into_iter().flatten().flatten().any(|entry| is_hook(&entry));
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
