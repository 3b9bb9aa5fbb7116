//! Names at the top of a project that programs outside load or run without being asked, and what becomes of new ones.

use std::fs;
use std::path::{Path, PathBuf};

use crate::exec::files::PROTECTED;

/// Most names under which a file is moved aside, before it is left where it is.
const MAX_ASIDE: usize = 100;

/// The protected names that a project lacks.
pub(crate) struct Missing<'p> {
    project: &'p Path,
    names: Vec<&'static str>,
}

/// A file or directory that has been moved: its path before, and now.
pub(crate) type Moved = (PathBuf, PathBuf);

impl<'p> Missing<'p> {
    /// Looks at a project before a program runs that may write in it.
    pub(crate) fn before(project: &'p Path) -> Self {
        let is_missing = |name: &&str| project.join(name).symlink_metadata().is_err();
        Self { project, names: PROTECTED.iter().copied().filter(is_missing).collect() }
    }

    /// Moves those aside that exist after the run, so that no program loads them before a person has seen them.
    pub(crate) fn move_aside(self) -> Vec<Moved> {
        let Self { project, names } = self;
        let made = names.into_iter().filter(|name| project.join(name).symlink_metadata().is_ok());
        made.filter_map(|name| moved(&project.join(name))).collect()
    }
}

/// Moves a file or directory to a free name beside it.
fn moved(path: &Path) -> Option<Moved> {
    let with_end = |number: usize| {
        let mut name = path.as_os_str().to_owned();
        name.push(if number == 1 { ".aside".to_owned() } else { format!(".aside-{number}") });
        PathBuf::from(name)
    };
    let free = (1..=MAX_ASIDE).map(with_end).find(|to| to.symlink_metadata().is_err())?;
    fs::rename(path, &free).ok()?;
    Some((path.to_owned(), free))
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

        let mut moved = missing.move_aside();
        moved.sort();
        let path = |name: &str| project.join(name);
        assert_eq!(moved, [(path(".envrc"), path(".envrc.aside-2")), (path(".vscode"), path(".vscode.aside"))]);
        assert_eq!(fs::read_to_string(path(".envrc.aside")).unwrap(), "older");
        assert!(path(".git").exists() && path("other").exists() && !path(".envrc").exists());
    }
}
