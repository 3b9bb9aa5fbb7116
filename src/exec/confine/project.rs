//! Finds what a cage hides and keeps in a project: secrets, and files that programs outside load.

use std::fs;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

use super::rights::{CageRights, SecretDepth};
use super::secret_lists::{FOREIGN, SYSTEM_SECRETS};
use super::secret_names::SecretNames;
use crate::exec::files::{PROTECTED, has_entry, hooks_directory, repository_index};

/// Maximum number of paths by which a directory is granted without its secrets.
const MAX_ENTRIES: usize = 1000;

/// Returns the secrets of the system that this user may read.
pub(super) fn system_secrets() -> Vec<PathBuf> {
    let readable =
        |path: &PathBuf| if path.is_dir() { fs::read_dir(path).is_ok() } else { fs::File::open(path).is_ok() };
    SYSTEM_SECRETS.iter().map(PathBuf::from).filter(readable).collect()
}

/// Returns the secrets of the project that a cage hides.
pub(super) fn secrets(rights: &CageRights) -> Vec<PathBuf> {
    let Some(project) = &rights.project else { return Vec::new() };
    let names = SecretNames::new(rights);
    let mut found = match rights.depth {
        SecretDepth::Near => near_secrets(project, &names),
        SecretDepth::Whole => names.below(project),
    };
    if rights.tracked {
        let index = repository_index(project);
        found.retain(|path| !path.strip_prefix(project).is_ok_and(|path| has_entry(&index, path)));
    }
    // What a link leads to has another name, by which it could be read.
    let targets = found.iter().filter(|path| path.is_symlink()).filter_map(|path| path.canonicalize().ok());
    let targets: Vec<PathBuf> = targets.filter(|path| path != project && path.starts_with(project)).collect();
    found.extend(targets);
    found
}

/// Returns the secrets at the top of a project and one level below.
fn near_secrets(project: &Path, names: &SecretNames) -> Vec<PathBuf> {
    // A link that leads nowhere hides nothing, and nothing can be mounted over it.
    let is_secret = |entry: &Entry| names.has(&entry.name, &entry.path) && entry.path.exists();
    let mut found = Vec::new();
    for entry in entries(project) {
        if is_secret(&entry) {
            found.push(entry.path);
        } else if entry.is_dir && !FOREIGN.contains(&entry.name.as_str()) {
            found.extend(entries(&entry.path).into_iter().filter(is_secret).map(|entry| entry.path));
        }
    }
    found
}

/// Returns whether something is at a path, and whether the path leads there without a detour through a project: whoever may
/// write in the project would choose where a detour ends.
pub(super) fn leads_past(path: &Path, project: Option<&Path>) -> bool {
    // Most paths have no link and no `..`, and then say themselves where they lead.
    let has_parent = path.components().any(|part| part == Component::ParentDir);
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let opened = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
    let Some(project) = project else { return opened.err() != Some(Errno::NOENT) };
    match opened {
        Ok(_) if !has_parent => return path == project || !path.starts_with(project),
        Err(Errno::NOENT) => return false,
        _ => {}
    }

    let is_inside = |path: &Path| path.canonicalize().is_ok_and(|path| path.starts_with(project));
    match path.canonicalize() {
        _ if path == project => true,
        // No link is in it, so none is in what is above it.
        Ok(real) if real == path => !path.starts_with(project),
        _ => path.symlink_metadata().is_err() || !path.ancestors().any(is_inside),
    }
}

/// Returns what a program may not change in a project, as far as it exists: the protected names at its top, the directory
/// of its hooks, and `more`. Of a link in the project it is what the link leads to.
pub(super) fn frozen(project: &Path, more: &[PathBuf]) -> Vec<PathBuf> {
    let hooks = hooks_directory(project);
    let all = PROTECTED.iter().map(|name| project.join(name)).chain(hooks).chain(more.iter().cloned());
    let found = all.filter_map(|path| path.canonicalize().ok());
    found.filter(|path| path != project && path.starts_with(project)).collect()
}

/// Returns the paths that grant a directory without what is hidden in it.
///
/// # Errors
/// There are too many.
pub(super) fn around(directory: &Path, hidden: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    if hidden.iter().any(|path| path == directory) {
        return Ok(Vec::new());
    }
    if !hidden.iter().any(|path| path.starts_with(directory)) {
        return Ok(vec![directory.to_owned()]);
    }

    let mut granted = Vec::new();
    for Entry { path, is_link, .. } in entries(directory) {
        // The right would be for what a link leads to: a secret, or anything outside.
        if is_link {
            continue;
        }
        granted.extend(around(&path, hidden)?);
        if granted.len() > MAX_ENTRIES {
            let directory = directory.display();
            return Err(format!(
                "{directory} holds secrets beside more than {MAX_ENTRIES} other files, and this kernel cannot hide single \
                 files: move the secrets, or run climax where user namespaces are permitted"
            ));
        }
    }
    Ok(granted)
}

/// An entry of a directory.
struct Entry {
    /// Its name. What is no text in it is replaced.
    name: String,
    path: PathBuf,
    /// Whether it is a directory, and no link to one.
    is_dir: bool,
    is_link: bool,
}

/// Returns the entries of a directory. Their kinds are in it, so none is looked up.
fn entries(directory: &Path) -> Vec<Entry> {
    let Ok(found) = fs::read_dir(directory) else { return Vec::new() };
    let entry = |entry: fs::DirEntry| {
        let kind = entry.file_type().ok();
        Entry {
            name: entry.file_name().to_string_lossy().into_owned(),
            path: entry.path(),
            is_dir: kind.is_some_and(|kind| kind.is_dir()),
            // What cannot be told is not granted.
            is_link: kind.is_none_or(|kind| kind.is_symlink()),
        }
    };
    found.flatten().map(entry).collect()
}
