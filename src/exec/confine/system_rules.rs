//! Grants the files of the system before an order comes, since all cages have them in common and they are most of the rules.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::landlock::CageRules;
use super::project;
use super::rights::SYSTEM_FILES;
use crate::exec::files::changed;

/// Rules of a cage that grant the files of the system, and nothing else.
pub(super) struct SystemRules {
    rules: CageRules,
    network: bool,
    /// What is granted, by the names that orders have for it.
    granted: Vec<Granted>,
    /// What is not, though it lies among the files of the system.
    hidden: Vec<PathBuf>,
    /// The directories whose entries are granted one by one, with the times of their last changes.
    parts: Vec<(PathBuf, Option<Duration>)>,
}

/// A file or directory of the system.
struct Granted {
    name: PathBuf,
    /// Its path without links.
    real: PathBuf,
}

impl SystemRules {
    /// Makes rules that grant the files of the system without what is `hidden`.
    ///
    /// # Errors
    /// The kernel lacks a restriction, or too many files lie beside what is hidden.
    pub(super) fn new(network: bool, hidden: Vec<PathBuf>) -> Result<Self, String> {
        Self::granting(SYSTEM_FILES.iter().map(PathBuf::from), network, hidden)
    }

    fn granting(names: impl Iterator<Item = PathBuf>, network: bool, hidden: Vec<PathBuf>) -> Result<Self, String> {
        let found = names.filter_map(|name| Some(Granted { real: name.canonicalize().ok()?, name }));
        let granted: Vec<Granted> = found.collect();

        let is_part = |path: &&Path| granted.iter().any(|one| path.starts_with(&one.name));
        let parts: BTreeSet<&Path> = hidden.iter().flat_map(|path| path.ancestors().skip(1)).filter(is_part).collect();
        // Before their entries are read, so that a later change is noticed.
        let parts: Vec<_> = parts.into_iter().map(|path| (path.to_owned(), changed_at(path))).collect();

        let around = granted.iter().map(|one| project::around(&one.name, &hidden)).collect::<Result<Vec<_>, _>>()?;
        let listed: Vec<&Path> = parts.iter().map(|(path, _)| path.as_path()).collect();
        let rules = CageRules::new(network)?.reading(&around.concat())?.listing(&listed)?;
        Ok(Self { rules, network, granted, hidden, parts })
    }

    /// Returns the rules for an order about a project, and the paths among those to `read` that are still to be granted.
    ///
    /// They are made anew if the files of the system have changed, or if the project is among them: then its own secrets
    /// count, and what it may have put there.
    ///
    /// # Errors
    /// The kernel lacks a restriction.
    pub(super) fn for_order<'p>(
        self,
        read: Vec<&'p Path>,
        project: Option<&Path>,
        hidden: &[PathBuf],
    ) -> Result<(CageRules, Vec<&'p Path>), String> {
        let touches = |path: &Path, project: &Path| path.starts_with(project) || project.starts_with(path);
        let is_apart =
            |project: &Path| !self.granted.iter().any(|one| touches(&one.name, project) || touches(&one.real, project));
        let is_known =
            |path: &PathBuf| self.hidden.contains(path) || !self.granted.iter().any(|one| path.starts_with(&one.name));
        let is_unchanged =
            || hidden.iter().all(is_known) && self.parts.iter().all(|(path, at)| changed_at(path) == *at);
        if !project.is_none_or(is_apart) || !is_unchanged() {
            return Ok((CageRules::new(self.network)?, read));
        }

        let is_granted = |path: &&Path| self.granted.iter().any(|one| one.name == *path);
        Ok((self.rules, read.into_iter().filter(|path| !is_granted(path)).collect()))
    }
}

fn changed_at(path: &Path) -> Option<Duration> {
    path.metadata().ok().map(|about| changed(&about))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A directory that stands for the system, with a secret in it, and a project beside it.
    struct Places {
        _all: tempfile::TempDir,
        system: PathBuf,
        secret: PathBuf,
        project: PathBuf,
    }

    impl Places {
        fn new() -> Self {
            let all = tempfile::tempdir().unwrap();
            let top = all.path().canonicalize().unwrap();
            let [system, project] = ["system", "project"].map(|name| top.join(name));
            let secret = system.join("private/key");
            fs::create_dir_all(system.join("private")).unwrap();
            fs::create_dir(&project).unwrap();
            fs::write(&secret, "key").unwrap();
            Self { _all: all, system, secret, project }
        }

        /// Returns whether the system is granted already when an order comes, after something has happened.
        fn is_granted(&self, project: Option<&Path>, hidden: &[PathBuf], happens: impl FnOnce()) -> bool {
            let names = [self.system.clone()].into_iter();
            let rules = SystemRules::granting(names, true, vec![self.secret.clone()]).unwrap();
            happens();
            let (_, read) = rules.for_order(vec![&self.system, &self.project], project, hidden).unwrap();
            assert!(read.contains(&self.project.as_path()));
            !read.contains(&self.system.as_path())
        }
    }

    #[test]
    fn the_files_of_the_system_are_granted_beforehand() {
        let places = Places::new();
        let hidden = [places.secret.clone(), places.project.join(".env")];

        assert!(places.is_granted(Some(&places.project), &hidden, || {}));
        assert!(places.is_granted(None, &hidden, || {}));
    }

    #[test]
    fn they_are_granted_anew_after_a_change() {
        let places = Places::new();
        let hidden = [places.secret.clone()];
        let granted = |happens: &dyn Fn()| places.is_granted(Some(&places.project), &hidden, happens);

        assert!(!granted(&|| fs::write(places.system.join("new"), "").unwrap()));
        assert!(!granted(&|| fs::write(places.system.join("private/new"), "").unwrap()));
        assert!(!granted(&|| fs::rename(places.system.join("new"), places.system.join("other")).unwrap()));
    }

    #[test]
    fn they_are_granted_anew_if_more_is_hidden_among_them() {
        let places = Places::new();
        let [hidden, more] = [places.secret.clone(), places.system.join("other")].map(|path| vec![path]);
        let more = [hidden.clone(), more].concat();

        assert!(!places.is_granted(Some(&places.project), &more, || {}));
        assert!(!places.is_granted(Some(&places.system.join("project")), &hidden, || {}));
        assert!(!places.is_granted(places.system.parent(), &hidden, || {}));
    }
}
