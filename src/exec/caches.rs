//! Directories in which caged programs keep their caches.
//!
//! A caged program may not write the caches of its user, since programs outside of cages load what is in them. Each project
//! has caches of its own, and in it each cage: what a program leaves there that may only read the project must not become
//! part of what another one builds.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use climax_catalog::Cage;
use rustix::fs::{Access, access};
use sha2::{Digest as _, Sha256};

use super::confine::CageRights;
use super::platform::make_private_dir;

/// Variables that lead programs to their caches, by the name of a directory.
const CACHES: [(&str, &str); 6] = [
    ("XDG_CACHE_HOME", "cache"),
    ("GOCACHE", "go-build"),
    ("MYPY_CACHE_DIR", "mypy"),
    ("npm_config_cache", "npm"),
    ("PIP_CACHE_DIR", "pip"),
    ("RUFF_CACHE_DIR", "ruff"),
];

/// Variables that lead programs to what they have installed in caches below the home directory, which cages read.
/// Beside `XDG_CACHE_HOME` they would look for it in a cache that is empty.
const INSTALLED: [(&str, &str); 2] =
    [("DENO_DIR", ".cache/deno"), ("POETRY_VIRTUALENVS_PATH", ".cache/pypoetry/virtualenvs")];

/// How long the caches of a project stay that nobody uses.
const KEPT: Duration = Duration::from_hours(30 * 24);

/// Returns the directory for the caches of a cage, and makes it; `None` where it cannot be had, or where the programs of the
/// project could replace it. `all` holds those of all projects.
pub(super) fn directory(all: &Path, rights: &CageRights) -> Option<PathBuf> {
    let project = rights.project.as_deref()?;
    let own = all.join(name(project));
    let is_new = !own.exists();
    let directory = own.join(rights.cage.as_str());
    make_private_dir(&directory).ok()?;

    let directory = directory.canonicalize().ok()?;
    if directory.starts_with(project) || access(&directory, Access::WRITE_OK).is_err() {
        return None;
    }
    if is_new {
        // Others may be large, and no call waits for them.
        let all = all.to_owned();
        std::thread::spawn(move || remove_unused(&all));
    }
    let _ = fs::File::open(&own).and_then(|own| own.set_modified(SystemTime::now()));
    Some(directory)
}

/// Returns the variables that lead a program of a cage to its caches in a directory.
pub(super) fn variables(directory: &Path, cage: Cage) -> Vec<(String, String)> {
    let path = |below: &str| directory.join(below).display().to_string();
    let mut variables: Vec<(String, String)> =
        CACHES.iter().map(|(name, below)| ((*name).to_owned(), path(below))).collect();

    // It keeps its cache in the project, and warns where it cannot. It reads the variable as words of a shell.
    let of_pytest = path("pytest");
    if cage == Cage::Read && !of_pytest.contains('\'') {
        variables.push(("PYTEST_ADDOPTS".to_owned(), format!("-o 'cache_dir={of_pytest}'")));
    }
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    variables.extend(installed(home.as_deref(), |name| std::env::var_os(name).is_some()));
    variables
}

/// Returns the variables for what is installed in caches of the user, but for those that the user has set.
fn installed(home: Option<&Path>, is_set: impl Fn(&str) -> bool) -> impl Iterator<Item = (String, String)> {
    let unset = INSTALLED.iter().filter(move |(name, _)| !is_set(name));
    unset.filter_map(move |(name, below)| {
        let directory = home?.join(below);
        directory.is_dir().then(|| ((*name).to_owned(), directory.display().to_string()))
    })
}

/// Returns the name of a project's caches: that of its directory, for people, and a digest of its path.
fn name(project: &Path) -> String {
    let digest = Sha256::digest(project.as_os_str().as_encoded_bytes());
    let digest = digest.first_chunk().copied().map_or(0, u64::from_be_bytes);
    let name = project.file_name().unwrap_or_default().to_string_lossy();
    format!("{name}-{digest:016x}")
}

/// Removes the caches of projects that nobody has used for long.
fn remove_unused(all: &Path) {
    let is_unused = |entry: &fs::DirEntry| {
        let used = entry.metadata().and_then(|found| found.modified()).ok();
        used.and_then(|used| used.elapsed().ok()).is_some_and(|unused| unused > KEPT)
    };
    for entry in fs::read_dir(all).into_iter().flatten().flatten().filter(is_unused) {
        // What cannot be removed now is removed another time.
        let _ = fs::remove_dir_all(entry.path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::SecretDepth;

    fn rights(cage: Cage, project: Option<&Path>) -> CageRights {
        let project = project.map(Path::to_owned);
        CageRights {
            cage,
            project,
            frozen: Vec::new(),
            tracked: false,
            depth: SecretDepth::Near,
            secrets: Vec::new(),
            open: Vec::new(),
        }
    }

    #[test]
    fn each_project_and_cage_has_caches_of_its_own() {
        let all = tempfile::tempdir().unwrap();
        let of = |cage, project| directory(all.path(), &rights(cage, Some(Path::new(project)))).unwrap();
        let read = of(Cage::Read, "/srv/a/web");
        assert_eq!(read, of(Cage::Read, "/srv/a/web"));
        for (cage, project) in [(Cage::Workspace, "/srv/a/web"), (Cage::Read, "/srv/b/web")] {
            let other = of(cage, project);
            assert!(!other.starts_with(&read) && !read.starts_with(&other), "{}", other.display());
        }
        assert_eq!(directory(all.path(), &rights(Cage::Read, None)), None);
    }

    #[test]
    fn what_the_user_has_installed_in_a_cache_is_found_there() {
        let home = tempfile::tempdir().unwrap();
        let deno = home.path().join(".cache/deno");
        fs::create_dir_all(&deno).unwrap();
        let found: Vec<_> = installed(Some(home.path()), |_| false).collect();
        assert_eq!(found, [("DENO_DIR".to_owned(), deno.display().to_string())]);
        assert_eq!(installed(Some(home.path()), |name| name == "DENO_DIR").count(), 0);
        assert_eq!(installed(None, |_| false).count(), 0);
    }

    #[test]
    fn a_project_that_holds_the_caches_has_none() {
        let project = tempfile::tempdir().unwrap();
        let top = project.path().canonicalize().unwrap();
        assert_eq!(directory(&top.join(".cache"), &rights(Cage::Workspace, Some(&top))), None);
    }

    #[test]
    fn caches_go_that_nobody_has_used_for_long() {
        let all = tempfile::tempdir().unwrap();
        let of = |project| directory(all.path(), &rights(Cage::Read, Some(Path::new(project)))).unwrap();
        let [old, used] = ["/srv/old", "/srv/used"].map(of);
        let long_ago = SystemTime::now() - KEPT - Duration::from_mins(1);
        fs::File::open(old.parent().unwrap()).unwrap().set_modified(long_ago).unwrap();
        remove_unused(all.path());
        assert!(!old.exists() && used.exists());
    }
}
