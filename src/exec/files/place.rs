//! Where a file lies that a redirection would write.

use std::path::{Component, Path, PathBuf};

use super::repository::hooks_directory;
use crate::exec::environment::variable;

/// Names at the top of a project that programs outside of it load or run without being asked.
pub(in crate::exec) const PROTECTED: [&str; 34] = [
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
    ".devcontainer.json",
    ".husky",
    ".githooks",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    ".lefthook.yml",
    "lefthook.yaml",
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
    "opencode.jsonc",
    ".github",
    ".bashrc",
    ".profile",
    ".zshrc",
    ".climax",
    "climax.yaml",
];

/// Names at the top of the home directory that programs load or run without being asked, beside those of a project.
const PROTECTED_AT_HOME: [&str; 24] = [
    ".ssh",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".kshrc",
    ".inputrc",
    ".gitconfig",
    ".npmrc",
    ".yarnrc",
    ".pypirc",
    ".netrc",
    ".gnupg",
    ".aws",
    ".kube",
    ".docker",
    ".copilot",
    ".vim",
    ".vimrc",
    ".pam_environment",
    ".xprofile",
    ".Xresources",
];

/// Directories below the home directory whose files programs load or run without being asked.
const PROTECTED_BELOW_HOME: [&str; 12] = [
    ".config/climax",
    ".config/git",
    ".config/fish",
    ".config/autostart",
    ".config/systemd",
    ".config/environment.d",
    ".config/opencode",
    ".config/gh",
    ".config/nvim",
    ".config/Code",
    ".local/bin",
    ".cargo/bin",
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

/// The part of this machine's files that a path belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {
    /// A name that other programs load or run without being asked.
    Protected,
    /// The project.
    Project,
    /// Temporary files.
    Temporary,
    /// Anything else.
    Elsewhere,
}

/// Returns where a file lies. `project` has no links.
pub(crate) fn place_of(path: &Path, project: Option<&Path>) -> Place {
    match (area_of(path, project), path.symlink_metadata()) {
        (Area::Protected | Area::Elsewhere, _) => Place::Protected,
        (Area::Project | Area::Temporary, Err(_)) => Place::New,
        (Area::Project | Area::Temporary, Ok(_)) => Place::Existing,
    }
}

/// Returns the part of the files that a path belongs to, whose file and directories may be missing. `project` has no links.
pub(crate) fn area_of(path: &Path, project: Option<&Path>) -> Area {
    let Some(real) = real(path) else { return Area::Elsewhere };
    let is_known = |name: Component<'_>| PROTECTED.iter().any(|known| name.as_os_str() == *known);
    if let Some(below) = project.and_then(|top| real.strip_prefix(top).ok()) {
        // A repository may lie anywhere in a project, as those of submodules and worktrees do.
        let is_protected = below.components().next().is_some_and(is_known)
            || below.components().any(|name| name.as_os_str() == ".git")
            || project.and_then(hooks_directory).is_some_and(|hooks| real.starts_with(hooks));
        return if is_protected { Area::Protected } else { Area::Project };
    }

    let home = variable("HOME").and_then(|home| Path::new(&home).canonicalize().ok());
    if let Some(below) = home.and_then(|home| real.strip_prefix(home).map(Path::to_owned).ok()) {
        let at_home = |name: Component<'_>| PROTECTED_AT_HOME.iter().any(|known| name.as_os_str() == *known);
        let is_protected = below.components().next().is_some_and(|name| is_known(name) || at_home(name))
            || PROTECTED_BELOW_HOME.iter().any(|known| below.starts_with(known));
        if is_protected {
            return Area::Protected;
        }
    }
    if temporary_directories().any(|top| real.starts_with(top)) { Area::Temporary } else { Area::Elsewhere }
}

/// The directories for temporary files of this machine, without links.
pub(crate) fn temporary_directories() -> impl Iterator<Item = PathBuf> {
    let named = ["/tmp", "/var/tmp"].map(PathBuf::from).into_iter().chain(variable("TMPDIR").map(PathBuf::from));
    named.filter_map(|path| path.canonicalize().ok()).filter(|top| top.parent().is_some())
}

/// Whether something is at a path, be it a link that leads nowhere.
pub(crate) fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The path without links, of a file that may be missing together with the directories around it.
fn real(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    // A link that leads nowhere would be followed.
    if path.symlink_metadata().is_ok() {
        return None;
    }
    let parent = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    Some(real(parent)?.join(path.file_name()?))
}
