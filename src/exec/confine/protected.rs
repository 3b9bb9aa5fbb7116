//! Names that programs outside load or run without being asked, and what becomes of new ones in a project.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::secret_lists::FOREIGN;
use crate::exec::files::{PROTECTED, changed, from_now_on};
use crate::exec::outcome::Kept;
use crate::lock::Unpoisoned as _;

/// Most entries of directories that are looked at for names below the top of a project.
const MAX_ENTRIES: usize = 20_000;

/// Most names under which a file is moved aside, before it is left where it is.
const MAX_ASIDE: usize = 100;

/// The protected names that a project lacks, or has as links, before a program runs that may write in it.
pub(crate) struct Missing<'p> {
    project: &'p Path,
    names: Vec<Name>,
    /// The time of what is changed after the look.
    since: Duration,
    /// Its number among the runs.
    number: u64,
}

/// A protected name at the top of a project, as it was before.
enum Name {
    Missing(&'static str),
    /// A link, which nothing is mounted over: where it leads, and whether nothing is there.
    Link {
        name: &'static str,
        target: PathBuf,
        leads_nowhere: bool,
    },
}

/// A run of a program that may write in a project.
struct Run {
    number: u64,
    project: PathBuf,
    /// The names that were there at its start, and that have been moved aside since, as what another program had made.
    freed: Vec<&'static str>,
}

/// The runs that have not ended.
static RUNS: Mutex<Vec<Run>> = Mutex::new(Vec::new());

impl<'p> Missing<'p> {
    /// Looks at a project before a program runs that may write in it.
    pub(crate) fn before(project: &'p Path) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        RUNS.lock().unpoisoned().push(Run { number, project: project.to_owned(), freed: Vec::new() });
        let names = PROTECTED.into_iter().filter_map(|name| Name::at(project, name)).collect();
        Self { project, names, since: from_now_on(), number }
    }

    /// Moves those aside that exist after the run, so that no program loads them before a person has seen them. Those
    /// below the top are named alone: a project may hold others, as a repository with examples does.
    pub(crate) fn keep(mut self) -> Vec<Kept> {
        // No other run may end between the look and the move.
        let mut runs = RUNS.lock().unpoisoned();
        let own = runs.iter_mut().find(|run| run.number == self.number);
        let freed = own.map(|run| std::mem::take(&mut run.freed)).unwrap_or_default();
        self.names.extend(freed.into_iter().map(Name::Missing));

        let mut kept = Vec::new();
        for name in &self.names {
            let Some(done) = name.put_back(self.project) else { continue };
            if let Name::Missing(name) = name {
                let others = runs.iter_mut().filter(|run| run.number != self.number && run.project == self.project);
                others.for_each(|run| run.freed.push(name));
            }
            kept.push(done);
        }
        drop(runs);

        kept.extend(changed_below(self.project, self.since).into_iter().map(Kept::Left));
        kept
    }
}

impl Drop for Missing<'_> {
    fn drop(&mut self) {
        RUNS.lock().unpoisoned().retain(|run| run.number != self.number);
    }
}

impl Name {
    /// Looks at a name; `None` if a file or directory has it, which is frozen while programs run.
    fn at(project: &Path, name: &'static str) -> Option<Self> {
        let path = project.join(name);
        match path.symlink_metadata() {
            Err(_) => Some(Self::Missing(name)),
            Ok(found) if found.is_symlink() => {
                Some(Self::Link { name, target: path.read_link().ok()?, leads_nowhere: !path.exists() })
            }
            Ok(_) => None,
        }
    }

    /// Moves aside what a program has put there. Returns what became of it; `None` if it is as it was.
    fn put_back(&self, project: &Path) -> Option<Kept> {
        match self {
            Self::Missing(name) => {
                let path = project.join(name);
                let aside = moved(&path)?;
                Some(Kept::MovedAside(path, aside))
            }
            Self::Link { name, target, leads_nowhere } => {
                let path = project.join(name);
                if path.read_link().is_ok_and(|found| found == *target) {
                    // What lies elsewhere has been made by others.
                    let is_inside = |made: &PathBuf| project.canonicalize().is_ok_and(|top| made.starts_with(top));
                    let made = path.canonicalize().ok().filter(|made| *leads_nowhere && is_inside(made))?;
                    let aside = moved(&made)?;
                    return Some(Kept::MovedAside(made, aside));
                }

                let aside = moved(&path);
                Some(match symlink(target, &path) {
                    Ok(()) => Kept::PutBack(path, aside),
                    Err(error) => Kept::NotPutBack(path, error.to_string()),
                })
            }
        }
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

    #[test]
    fn names_that_one_program_makes_are_new_to_another_one_that_starts_meanwhile() {
        let project = tempfile::tempdir().unwrap();
        let project = project.path();
        let path = project.join(".envrc");
        let first = Missing::before(project);
        fs::write(&path, "first").unwrap();
        let second = Missing::before(project);
        assert_eq!(first.keep(), [Kept::MovedAside(path.clone(), project.join(".envrc.aside"))]);
        fs::write(&path, "second").unwrap();
        assert_eq!(second.keep(), [Kept::MovedAside(path.clone(), project.join(".envrc.aside-2"))]);

        fs::write(&path, "by a person").unwrap();
        assert_eq!(Missing::before(project).keep(), []);
        assert!(path.exists());
    }

    #[test]
    fn links_at_protected_names_stay_what_they_are() {
        let project = tempfile::tempdir().unwrap();
        let project = project.path();
        let [link, dangling] = [".envrc", ".profile"].map(|name| project.join(name));
        fs::write(project.join("own"), "own").unwrap();
        symlink("own", &link).unwrap();
        symlink("gone", &dangling).unwrap();
        let missing = Missing::before(project);
        fs::remove_file(&link).unwrap();
        fs::write(&link, "other").unwrap();
        fs::write(project.join("gone"), "new").unwrap();

        let kept = missing.keep();
        assert!(kept.contains(&Kept::PutBack(link.clone(), Some(project.join(".envrc.aside")))), "{kept:?}");
        assert!(matches!(kept.as_slice(), [_, _]), "{kept:?}");
        assert_eq!(fs::read_to_string(&link).unwrap(), "own");
        assert!(!dangling.exists() && dangling.is_symlink());
        assert_eq!(fs::read_to_string(project.join(".envrc.aside")).unwrap(), "other");
    }
}
