//! Copies of what a program should not change, to put it back where the kernel cannot keep it.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};

use super::project;
use super::protected::moved;
use super::rights::CageRights;
use crate::exec::files::PROTECTED;
use crate::exec::outcome::Kept;

/// Most files that are copied before a program may write in the project.
const MAX_FILES: usize = 20_000;

/// Most bytes of these files together.
const MAX_BYTES: u64 = 256 << 20;

/// Copies of the protected names of a project, and of its secrets.
pub(crate) struct Copies {
    project: PathBuf,
    /// Where the copies are, each under its path in the project.
    directory: tempfile::TempDir,
    /// What is copied, as paths in the project. None is in another.
    roots: Vec<PathBuf>,
    /// The state of each file at the time of its copy.
    states: HashMap<PathBuf, State>,
    bytes: u64,
}

/// What changes with a file. No program can set the time of its last change.
#[derive(PartialEq, Eq)]
struct State {
    identity: (u64, u64),
    kind_and_mode: u32,
    bytes: u64,
    changed: (i64, i64),
}

impl State {
    fn of(about: &Metadata) -> Self {
        Self {
            identity: (about.dev(), about.ino()),
            kind_and_mode: about.mode(),
            bytes: about.len(),
            changed: (about.ctime(), about.ctime_nsec()),
        }
    }
}

impl Copies {
    /// Copies what a program in a cage should not change, before it runs.
    ///
    /// # Errors
    /// There is too much of it, or a copy fails.
    pub(crate) fn before(rights: &CageRights, project: &Path) -> Result<Self, String> {
        let at_top = PROTECTED.iter().map(|name| project.join(name)).filter(|path| path.symlink_metadata().is_ok());
        let targets = project::frozen(project, &rights.frozen);
        let all: BTreeSet<PathBuf> = at_top.chain(targets).chain(project::secrets(rights)).collect();
        // A path sorts behind those that it is in.
        let mut roots: Vec<PathBuf> = Vec::new();
        for path in all {
            if !roots.iter().any(|root| path.starts_with(root)) {
                roots.push(path);
            }
        }

        let failed = |error: io::Error| format!("protected names cannot be copied before the run: {error}");
        let directory = tempfile::Builder::new().prefix("climax-copies-").tempdir().map_err(failed)?;
        let (project, states) = (project.to_owned(), HashMap::new());
        let mut copies = Self { project, directory, roots: Vec::new(), states, bytes: 0 };
        for root in &roots {
            copies.copy(root).map_err(failed)?;
        }
        Ok(Self { roots, ..copies })
    }

    /// Puts back what has changed.
    pub(crate) fn put_back(self) -> Vec<Kept> {
        let changed = self.roots.iter().filter(|root| !self.is_unchanged(root));
        changed.map(|root| self.put_root_back(root)).collect()
    }

    /// The path of the copy of a file in the project.
    fn copy_of(&self, path: &Path) -> PathBuf {
        self.directory.path().join(path.strip_prefix(&self.project).unwrap_or(path))
    }

    /// Copies a file, or a directory with what is in it.
    fn copy(&mut self, path: &Path) -> io::Result<()> {
        let about = path.symlink_metadata()?;
        self.bytes += about.len();
        if self.bytes > MAX_BYTES || self.states.len() >= MAX_FILES {
            let most = MAX_BYTES >> 20;
            let text = format!(
                "{} is beyond {MAX_FILES} files or {most} MiB, and this kernel cannot keep it otherwise: run climax where user \
                 namespaces are permitted",
                path.display()
            );
            return Err(io::Error::other(text));
        }

        let copy = self.copy_of(path);
        if let Some(parent) = copy.parent() {
            fs::create_dir_all(parent)?;
        }
        self.states.insert(path.to_owned(), State::of(&about));
        replicate(path, &copy, &about)?;
        if about.is_dir() {
            for entry in fs::read_dir(path)? {
                self.copy(&entry?.path())?;
            }
        }
        Ok(())
    }

    /// Returns whether a file, or a directory with all that is in it, is as it was.
    fn is_unchanged(&self, path: &Path) -> bool {
        let Ok(about) = path.symlink_metadata() else { return false };
        let copy = self.copy_of(path);
        let Some(state) = self.states.get(path) else { return false };
        if about.mode() != state.kind_and_mode {
            return false;
        }

        if about.is_dir() {
            let names = |path: &Path| {
                let entries = fs::read_dir(path).into_iter().flatten().flatten();
                entries.map(|entry| entry.file_name()).collect::<BTreeSet<_>>()
            };
            let now = names(path);
            // What is neither file, directory nor link has no copy.
            let copied = names(&copy);
            let is_known = |name| copied.contains(name) || self.states.contains_key(&path.join(name));
            return copied.is_subset(&now)
                && now.iter().all(|name| is_known(name) && self.is_unchanged(&path.join(name)));
        }
        *state == State::of(&about)
            || (about.is_file() && has_same_bytes(path, &copy))
            || (about.is_symlink() && fs::read_link(path).ok() == fs::read_link(&copy).ok())
    }

    fn put_root_back(&self, root: &Path) -> Kept {
        // What was on the way may have become a link to elsewhere.
        let within =
            root.ancestors().skip(1).take_while(|path| path.starts_with(&self.project) && *path != self.project);
        let mut ways: Vec<&Path> = within.collect();
        ways.reverse();
        for way in ways {
            if !way.symlink_metadata().is_ok_and(|about| about.is_dir()) {
                let _ = moved(way);
                if let Err(error) = fs::create_dir(way) {
                    return Kept::NotPutBack(root.to_owned(), error.to_string());
                }
            }
        }

        let aside = moved(root);
        if aside.is_none() && root.symlink_metadata().is_ok() {
            return Kept::NotPutBack(root.to_owned(), "it cannot be moved".to_owned());
        }
        match replicate_all(&self.copy_of(root), root) {
            Ok(()) => Kept::PutBack(root.to_owned(), aside),
            Err(error) => Kept::NotPutBack(root.to_owned(), error.to_string()),
        }
    }
}

/// Copies a directory with all that is in it, or a file.
fn replicate_all(from: &Path, to: &Path) -> io::Result<()> {
    let about = from.symlink_metadata()?;
    replicate(from, to, &about)?;
    if about.is_dir() {
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            replicate_all(&entry.path(), &to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// Copies a file, a link, or a directory without what is in it. Nothing may be at `to`.
fn replicate(from: &Path, to: &Path, about: &Metadata) -> io::Result<()> {
    let permissions = about.permissions();
    if about.is_dir() {
        return DirBuilder::new().mode(0o700).create(to).and_then(|()| fs::set_permissions(to, permissions));
    }
    if about.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if about.is_file() {
        let mut copy = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
        io::copy(&mut File::open(from)?, &mut copy)?;
        copy.set_permissions(permissions)?;
    }
    Ok(())
}

fn has_same_bytes(path: &Path, copy: &Path) -> bool {
    let lengths = [path, copy].map(|path| path.symlink_metadata().map(|about| about.len()).ok());
    lengths[0] == lengths[1] && matches!((fs::read(path), fs::read(copy)), (Ok(now), Ok(before)) if now == before)
}

#[cfg(test)]
mod tests {
    use climax_catalog::Cage;

    use super::*;
    use crate::exec::SecretDepth;

    #[test]
    fn what_has_changed_is_put_back_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let project = root.path().join("project");
        let path = |name: &str| project.join(name);
        for name in [".git/hooks", ".vscode", "conf"] {
            fs::create_dir_all(path(name)).unwrap();
        }
        for name in [".git/config", ".vscode/tasks.json", ".envrc", "conf/.env", "plain"] {
            fs::write(path(name), "before").unwrap();
        }
        fs::create_dir(root.path().join("outside")).unwrap();
        symlink("plain", path(".mcp.json")).unwrap();
        let rights = CageRights {
            cage: Cage::Workspace,
            project: Some(project.clone()),
            frozen: Vec::new(),
            tracked: false,
            depth: SecretDepth::Near,
            secrets: Vec::new(),
            open: Vec::new(),
        };

        let copies = Copies::before(&rights, &project).unwrap();
        fs::write(path(".git/hooks/pre-commit"), "new").unwrap();
        fs::remove_file(path(".envrc")).unwrap();
        fs::rename(path("conf"), path("elsewhere")).unwrap();
        symlink("../outside", path("conf")).unwrap();
        // Written anew with the same bytes.
        fs::remove_file(path(".vscode/tasks.json")).unwrap();
        fs::write(path(".vscode/tasks.json"), "before").unwrap();
        fs::write(path("other"), "new").unwrap();

        let kept: Vec<Kept> = copies.put_back();
        let back = |name: &str, aside: Option<&str>| Kept::PutBack(path(name), aside.map(path));
        let expected = [back(".envrc", None), back(".git", Some(".git.aside")), back("conf/.env", None)];
        assert!(kept.len() == 3 && expected.iter().all(|one| kept.contains(one)), "{kept:?}");
        assert!(path(".git.aside/hooks/pre-commit").exists() && !path(".git/hooks/pre-commit").exists());
        for name in [".git/config", ".envrc", "conf/.env"] {
            assert_eq!(fs::read_to_string(path(name)).unwrap(), "before", "{name}");
        }
        assert!(fs::read_dir(root.path().join("outside")).unwrap().next().is_none(), "a link was followed");
        assert!(path("other").exists() && path(".mcp.json").is_symlink());
    }
}
