//! Where a file lies that a redirection would write.

use std::path::{Component, Path, PathBuf};

use crate::exec::environment::variable;

/// Names at the top of a project that programs outside of it load or run without being asked.
pub(in crate::exec) const PROTECTED: [&str; 30] = [
    ".git",
    ".gitmodules",
    ".hg",
    ".svn",
    ".envrc",
    ".vscode",
    ".idea",
    ".zed",
    ".fleet",
    ".devcontainer",
    ".husky",
    ".githooks",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    ".claude",
    ".claude.json",
    ".mcp.json",
    ".cursor",
    ".cursorrules",
    ".gemini",
    ".codex",
    ".qwen",
    ".opencode",
    "opencode.json",
    ".github",
    ".bashrc",
    ".profile",
    ".zshrc",
    ".climax",
    "climax.yaml",
];

/// Where a file lies that is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the project or among temporary files, and it does not exist.
    New,
    /// In the project or among temporary files, and it exists.
    Existing,
    /// Elsewhere, or under a name that other programs load or run without being asked.
    Protected,
}

/// Returns where a file lies. `project` has no links.
pub(crate) fn place_of(path: &Path, project: Option<&Path>) -> Place {
    let Some(real) = real(path) else { return Place::Protected };
    let temporary = ["/tmp", "/var/tmp"].map(PathBuf::from).into_iter().chain(variable("TMPDIR").map(PathBuf::from));
    let is_temporary = temporary
        .filter_map(|path| path.canonicalize().ok())
        .any(|top| top.parent().is_some() && real.starts_with(top));
    let in_project = project.and_then(|top| real.strip_prefix(top).ok());
    let is_known = |name: Component<'_>| PROTECTED.iter().any(|known| name.as_os_str() == *known);

    let is_protected = match in_project {
        // A repository may lie anywhere in a project, as those of submodules and worktrees do.
        Some(below) => {
            below.components().next().is_some_and(is_known) || below.components().any(|name| name.as_os_str() == ".git")
        }
        None => !is_temporary,
    };
    match (is_protected, path.symlink_metadata()) {
        (true, _) => Place::Protected,
        (false, Err(_)) => Place::New,
        (false, Ok(_)) => Place::Existing,
    }
}

/// Whether something is at a path, be it a link that leads nowhere.
pub(crate) fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The path without links, of a file that may be missing.
fn real(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    // A link that leads nowhere would be followed.
    if path.symlink_metadata().is_ok() {
        return None;
    }
    let parent = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    Some(parent.canonicalize().ok()?.join(path.file_name()?))
}
