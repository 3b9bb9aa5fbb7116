//! Names that programs outside load or run without being asked, and what becomes of new ones in a project.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::secret_names::FOREIGN;
use crate::exec::files::PROTECTED;
use crate::exec::outcome::Kept;

/// Most entries of directories that are looked at for names below the top of a project.
const MAX_ENTRIES: usize = 20_000;

/// By how much the times of files may lag behind the clock. Linux takes them from its last tick.
const TICK: Duration = Duration::from_millis(20);

/// Most names under which a file is moved aside, before it is left where it is.
const MAX_ASIDE: usize = 100;

/// The protected names that a project lacks.
pub(crate) struct Missing<'p> {
    project: &'p Path,
    names: Vec<&'static str>,
    /// When it was looked at.
    looked: SystemTime,
}

impl<'p> Missing<'p> {
    /// Looks at a project before a program runs that may write in it.
    pub(crate) fn before(project: &'p Path) -> Self {
        let is_missing = |name: &&str| project.join(name).symlink_metadata().is_err();
        let names = PROTECTED.iter().copied().filter(is_missing).collect();
        Self { project, names, looked: SystemTime::now() }
    }

    /// Moves those aside that exist after the run, so that no program loads them before a person has seen them. Those
    /// below the top are named alone: a project may hold others, as a repository with examples does.
    pub(crate) fn keep(self) -> Vec<Kept> {
        let Self { project, names, looked } = self;
        let paths = names.into_iter().map(|name| project.join(name));
        let moved = paths.filter_map(|path| Some(Kept::MovedAside(path.clone(), moved(&path)?)));
        let since = looked.duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(TICK);
        moved.chain(changed_below(project, since).into_iter().map(Kept::Left)).collect()
    }
}

/// Returns the protected names below the top of a project that have been made or changed since a time.
fn changed_below(project: &Path, since: Duration) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![project.to_owned()];
    let mut left = MAX_ENTRIES;
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            left = left.saturating_sub(1);
            if left == 0 {
                return found;
            }
            let name = entry.file_name();
            let path = entry.path();
            if name.to_str().is_some_and(|name| PROTECTED.contains(&name)) {
                let is_new = path.symlink_metadata().is_ok_and(|about| changed(&about) >= since);
                found.extend((directory != project && is_new).then_some(path));
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) && !FOREIGN.iter().any(|one| name == *one) {
                open.push(path);
            }
        }
    }
    found
}

/// Returns when a file was changed last, its name included. No program can set this time.
fn changed(about: &fs::Metadata) -> Duration {
    let (seconds, nanoseconds) = (about.ctime().try_into().unwrap_or(0), about.ctime_nsec().try_into().unwrap_or(0));
    Duration::new(seconds, nanoseconds)
}

/// Moves a file or directory to a free name beside it, if there is one. Returns that name.
pub(super) fn moved(path: &Path) -> Option<PathBuf> {
    path.symlink_metadata().ok()?;
    let with_end = |number: usize| {
        let mut name = path.as_os_str().to_owned();
        name.push(if number == 1 { ".aside".to_owned() } else { format!(".aside-{number}") });
        PathBuf::from(name)
    };
    let free = (1..=MAX_ASIDE).map(with_end).find(|to| to.symlink_metadata().is_err())?;
    fs::rename(path, &free).ok()?;
    Some(free)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_names_are_moved_and_nothing_is_replaced() {
        let project = tempfile::tempdir().unwrap();
        let project = project.path();
        fs::create_dir(project.join(".git")).unwrap();
        fs::write(project.join(".envrc.aside"), "older").unwrap();
        let missing = Missing::before(project);
        fs::write(project.join(".envrc"), "new").unwrap();
        fs::create_dir(project.join(".vscode")).unwrap();
        fs::write(project.join("other"), "").unwrap();
        fs::create_dir_all(project.join("sub/deep/.git")).unwrap();
        fs::create_dir_all(project.join("target/.git")).unwrap();

        let path = |name: &str| project.join(name);
        let kept = [
            Kept::MovedAside(path(".envrc"), path(".envrc.aside-2")),
            Kept::MovedAside(path(".vscode"), path(".vscode.aside")),
            Kept::Left(path("sub/deep/.git")),
        ];
        let found = missing.keep();
        assert!(found.len() == kept.len() && kept.iter().all(|kept| found.contains(kept)), "{found:?}");
        assert_eq!(fs::read_to_string(path(".envrc.aside")).unwrap(), "older");
        assert!(path(".git").exists() && path("other").exists() && !path(".envrc").exists());
    }
}
