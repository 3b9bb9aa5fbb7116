//! Finds the project that a directory belongs to.

use std::fs;
use std::path::{Path, PathBuf};

use super::repository::linked_git_directory;
use crate::exec::environment::variable;

/// The directory whose files a cage is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The nearest directory that holds `.git`, else the directory itself.
    pub directory: PathBuf,
    /// Where its `.git` leads, if that lies elsewhere, as in a worktree.
    pub repository: Vec<PathBuf>,
}

/// Returns the project of a directory, for the user who runs this process.
#[must_use]
pub fn project_of(directory: &Path) -> Option<Project> {
    project(directory, variable("HOME").as_deref().map(Path::new))
}

/// Returns the project of a directory: the nearest one at or above it that holds `.git`, else the directory itself.
///
/// `None` if that would be `/`, the home directory or one above it, since a cage would then hold hardly anything.
fn project(start: &Path, home: Option<&Path>) -> Option<Project> {
    let start = start.canonicalize().ok()?;
    let directory = start.ancestors().find(|path| path.join(".git").exists()).unwrap_or(&start).to_owned();

    let home = home.and_then(|home| home.canonicalize().ok());
    if directory.parent().is_none() || home.is_some_and(|home| home.starts_with(&directory)) {
        return None;
    }
    let repository = repository(&directory);
    Some(Project { directory, repository })
}

/// Returns the directories to which a `.git` that is a file leads: that of the worktree, and that which all share.
fn repository(project: &Path) -> Vec<PathBuf> {
    let text = |path: &Path| fs::read_to_string(path).ok();
    let Some(own) = linked_git_directory(project) else { return Vec::new() };

    // A program in a cage may have written the file, so the directory has to say itself that it belongs to this one: in
    // `gitdir` as that of a worktree, or in `config` as that of a submodule.
    let names_project = |path: &Path| path.canonicalize().is_ok_and(|path| path == project);
    let is_worktree =
        text(&own.join("gitdir")).is_some_and(|path| own.join(path.trim()).parent().is_some_and(names_project));
    let has_worktree = |line: &str| {
        let path = line.trim().strip_prefix("worktree")?.trim_start().strip_prefix('=')?;
        Some(names_project(&own.join(path.trim().trim_matches('"'))))
    };
    let is_submodule =
        || text(&own.join("config")).is_some_and(|text| text.lines().filter_map(has_worktree).any(|names| names));
    if !is_worktree && !is_submodule() {
        return Vec::new();
    }

    // What all worktrees share holds their directories. Any other repository says nothing of this one.
    let holds_own = |shared: &PathBuf| own.parent().is_some_and(|worktrees| worktrees == shared.join("worktrees"));
    let shared = text(&own.join("commondir")).and_then(|path| own.join(path.trim()).canonicalize().ok());
    let shared = shared.filter(holds_own);
    let is_repository = |path: &PathBuf| path.join("HEAD").is_file();
    [Some(own), shared].into_iter().flatten().filter(is_repository).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_repository_above_and_never_the_home_directory() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let [home, inner, plain] = ["home", "home/code/src", "home/plain"].map(|name| root.join(name));
        for path in [&inner, &plain] {
            fs::create_dir_all(path).unwrap();
        }
        fs::create_dir(home.join("code/.git")).unwrap();

        let found = |start: &Path| project(start, Some(&home)).map(|project| project.directory);
        assert_eq!(found(&inner), Some(home.join("code")));
        assert_eq!(found(&plain), Some(plain.clone()));
        assert_eq!(found(&home), None);
        assert_eq!(found(&root), None);
        fs::create_dir(home.join(".git")).unwrap();
        assert_eq!(found(&plain), None, "a repository of the whole home directory is no project");
    }

    #[test]
    fn a_worktree_reads_the_repository_that_it_belongs_to() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let own = root.join("main/.git/worktrees/w");
        fs::create_dir_all(&own).unwrap();
        fs::create_dir(root.join("w")).unwrap();
        for (path, text) in [
            ("w/.git", format!("gitdir: {}\n", own.display())),
            ("main/.git/HEAD", String::new()),
            ("main/.git/worktrees/w/HEAD", String::new()),
            ("main/.git/worktrees/w/commondir", "../..\n".to_owned()),
            ("main/.git/worktrees/w/gitdir", format!("{}\n", root.join("w/.git").display())),
        ] {
            fs::write(root.join(path), text).unwrap();
        }
        let found = project(&root.join("w"), None).unwrap();
        assert_eq!(found.repository, [own.clone(), root.join("main/.git")]);
        fs::write(root.join("w/.git"), format!("gitdir: {}\n", root.display())).unwrap();
        assert_eq!(project(&root.join("w"), None).unwrap().repository, Vec::<PathBuf>::new());

        // Nor does one that the directory of a worktree names, but that does not hold it.
        fs::write(root.join("w/.git"), format!("gitdir: {}\n", own.display())).unwrap();
        fs::create_dir_all(root.join("other/.git")).unwrap();
        fs::write(root.join("other/.git/HEAD"), "").unwrap();
        fs::write(own.join("commondir"), "../../../../other/.git\n").unwrap();
        assert_eq!(project(&root.join("w"), None).unwrap().repository, std::slice::from_ref(&own));
        fs::write(own.join("commondir"), "../..\n").unwrap();

        // The repository of somebody else says nothing of this directory.
        fs::create_dir(root.join("forged")).unwrap();
        fs::write(root.join("forged/.git"), format!("gitdir: {}\n", root.join("main/.git").display())).unwrap();
        assert_eq!(project(&root.join("forged"), None).unwrap().repository, Vec::<PathBuf>::new());
        fs::write(root.join("forged/.git"), format!("gitdir: {}\n", found.repository[0].display())).unwrap();
        assert_eq!(project(&root.join("forged"), None).unwrap().repository, Vec::<PathBuf>::new());
    }

    #[test]
    fn a_submodule_reads_its_repository() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let own = root.join(".git/modules/sub");
        fs::create_dir_all(&own).unwrap();
        fs::create_dir(root.join("sub")).unwrap();
        fs::write(own.join("HEAD"), "").unwrap();
        fs::write(own.join("config"), "[core]\n\tworktree = ../../../sub\n").unwrap();
        fs::write(root.join("sub/.git"), "gitdir: ../.git/modules/sub\n").unwrap();
        assert_eq!(project(&root.join("sub"), None).unwrap().repository, [own]);
    }
}
