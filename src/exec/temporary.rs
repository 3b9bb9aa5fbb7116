//! Directories for temporary files of confined programs.

use std::collections::VecDeque;
use std::fs::{Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use tempfile::TempDir;

use super::environment::user;
use super::files::temporary_directories;
use super::process::Janitor;
use crate::lock::Unpoisoned as _;

/// The directory that all calls of a session share, made for the first one. It goes with the session.
#[derive(Debug, Default)]
pub(super) struct SessionFiles {
    directory: OnceLock<TempDir>,
    /// What lines of the session have made, the newest last.
    made: Mutex<VecDeque<Made>>,
}

/// A file or directory that a line has made.
#[derive(Debug)]
struct Made {
    /// Its path, without links.
    path: PathBuf,
    identity: Identity,
    /// Whether it lies at the top of a directory for temporary files, where no caged program can put a link in its place.
    /// The programs of the session may change it.
    is_temporary: bool,
}

/// What tells a file from another one that takes its place: device and inode.
type Identity = (u64, u64);

/// Maximum number of files and directories that a session is known to have made.
pub(super) const MAX_MADE_FILES: usize = 256;

/// The directory of a call.
#[derive(Debug)]
pub(super) enum CallFiles<'s> {
    /// It goes with the call.
    Own(TempDir),
    /// It goes with the session.
    OfSession(&'s TempDir),
}

impl SessionFiles {
    /// Returns the directory, which the janitor removes if this process is killed.
    ///
    /// # Errors
    /// It cannot be made.
    pub(super) fn directory(&self, janitor: Option<&Janitor>) -> io::Result<CallFiles<'_>> {
        if let Some(made) = self.directory.get() {
            return Ok(CallFiles::OfSession(made));
        }
        let made = make()?;
        if let Some(janitor) = janitor {
            janitor.register_directory(made.path());
        }
        Ok(CallFiles::OfSession(self.directory.get_or_init(|| made)))
    }

    /// Notes that the session has made a file or a directory, whose path has no links.
    ///
    /// If it has one by now, a program has put it in the place of what was made.
    pub(super) fn note_made(&self, path: &Path) {
        let Some(path) = path.canonicalize().ok().filter(|real| real == path) else { return };
        let Some(found) = own_entry(&path) else { return };

        let is_temporary = temporary_directories().any(|top| path.parent() == Some(&top));
        // What is in a directory elsewhere is not the session's, and a second name would open what the first one names.
        let is_own = if found.is_dir() { is_temporary } else { found.nlink() == 1 };
        if !is_own {
            return;
        }

        let mut made = self.made.lock().unpoisoned();
        made.retain(|known| known.path != path);
        if made.len() == MAX_MADE_FILES {
            made.pop_front();
        }
        made.push_back(Made { path, identity: identity(&found), is_temporary });
    }

    /// Returns where caged programs of the session write: its directory, and what it has made among the temporary files.
    pub(super) fn open_to_cages(&self) -> Vec<PathBuf> {
        let own = self.directory.get().map(|directory| directory.path().to_owned());
        own.and_then(|path| path.canonicalize().ok()).into_iter().chain(self.made_temporary()).collect()
    }

    /// Returns what the session has made, and nobody has replaced since.
    pub(super) fn made(&self) -> Vec<PathBuf> {
        self.still_made(|_| true)
    }

    /// Returns those among the temporary files of this machine.
    pub(super) fn made_temporary(&self) -> Vec<PathBuf> {
        self.still_made(|made| made.is_temporary)
    }

    fn still_made(&self, is_wanted: impl Fn(&Made) -> bool) -> Vec<PathBuf> {
        let made = self.made.lock().unpoisoned();
        let is_same = |made: &&Made| own_entry(&made.path).is_some_and(|found| identity(&found) == made.identity);
        made.iter().filter(|made| is_wanted(made)).filter(is_same).map(|made| made.path.clone()).collect()
    }
}

impl CallFiles<'_> {
    /// Makes a directory for one call.
    ///
    /// # Errors
    /// It cannot be made.
    pub(super) fn own() -> io::Result<Self> {
        make().map(Self::Own)
    }

    /// Returns its path, without links: mounts and rights are for the real one.
    pub(super) fn path(&self) -> PathBuf {
        let directory = match self {
            Self::Own(directory) => directory,
            Self::OfSession(directory) => *directory,
        };
        directory.path().canonicalize().unwrap_or_else(|_| directory.path().to_owned())
    }

    /// Removes a directory of one call.
    pub(super) async fn remove(self) {
        // Most programs leave it empty. The files of others take time.
        if let Self::Own(directory) = self
            && std::fs::remove_dir(directory.path()).is_err()
        {
            let _ = tokio::task::spawn_blocking(|| drop(directory)).await;
        }
    }
}

/// Returns what is known of a file or directory of this user; `None` if it is a link, or anything else.
fn own_entry(path: &Path) -> Option<Metadata> {
    let found = path.symlink_metadata().ok()?;
    ((found.is_file() || found.is_dir()) && found.uid() == user()).then_some(found)
}

fn identity(found: &Metadata) -> Identity {
    (found.dev(), found.ino())
}

/// Makes a directory that other users cannot read.
pub(super) fn make() -> io::Result<TempDir> {
    // Other users of the machine are not to read what programs write there.
    tempfile::Builder::new().prefix("climax-").permissions(Permissions::from_mode(0o700)).tempdir()
}

/// Returns the variables that lead a caged program to a directory for its temporary files.
pub(super) fn variables(directory: &Path) -> [(String, String); 3] {
    let text = directory.display().to_string();
    ["TMPDIR", "TMP", "TEMP"].map(|name| (name.to_owned(), text.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_become_a_link_has_not_been_made() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("real")).unwrap();
        std::fs::write(root.join("real/file"), "").unwrap();
        std::os::unix::fs::symlink("real", root.join("link")).unwrap();

        let files = SessionFiles::default();
        files.note_made(&root.join("link/file"));
        assert_eq!(files.made(), Vec::<PathBuf>::new());
        files.note_made(&root.join("real/file"));
        assert_eq!(files.made(), [root.join("real/file")]);
    }
}
