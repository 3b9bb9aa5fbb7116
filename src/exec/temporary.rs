//! Directories for temporary files of confined programs.

use std::collections::HashMap;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use tempfile::TempDir;

use super::process::Janitor;
use crate::lock::Unpoisoned as _;

/// Variables that lead programs to their caches, by the name of a directory among the temporary files.
const CACHES: [(&str, &str); 6] = [
    ("XDG_CACHE_HOME", "cache"),
    ("GOCACHE", "go-build"),
    ("MYPY_CACHE_DIR", "mypy"),
    ("npm_config_cache", "npm"),
    ("PIP_CACHE_DIR", "pip"),
    ("RUFF_CACHE_DIR", "ruff"),
];

/// The directory that all calls of a session share, made for the first one. It goes with the session.
#[derive(Debug, Default)]
pub(super) struct SessionFiles {
    directory: OnceLock<TempDir>,
    /// The files that lines of the session have made, with their device and inode.
    made: Mutex<HashMap<PathBuf, (u64, u64)>>,
}

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

    /// Notes that the session has made a file.
    pub(super) fn note_made(&self, path: &Path) {
        let Ok(path) = path.canonicalize() else { return };
        if let Some(identity) = identity(&path) {
            self.made.lock().unpoisoned().insert(path, identity);
        }
    }

    /// Returns the files that the session has made, and that nobody has replaced since.
    pub(super) fn made(&self) -> Vec<PathBuf> {
        let made = self.made.lock().unpoisoned();
        made.iter().filter(|(path, known)| identity(path) == Some(**known)).map(|(path, _)| path.clone()).collect()
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

/// The device and inode of a regular file.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let found = path.symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
    Some((found.dev(), found.ino()))
}

fn make() -> io::Result<TempDir> {
    // Other users of the machine are not to read what programs write there.
    tempfile::Builder::new().prefix("climax-").permissions(Permissions::from_mode(0o700)).tempdir()
}

/// Returns the variables that lead a caged program to a directory for its temporary files, and for its caches in there.
pub(super) fn variables(directory: &Path) -> Vec<(String, String)> {
    let text = directory.display().to_string();
    let mut variables: Vec<(String, String)> =
        ["TMPDIR", "TMP", "TEMP"].map(|name| (name.to_owned(), text.clone())).into();
    variables.extend(CACHES.map(|(name, below)| (name.to_owned(), directory.join(below).display().to_string())));
    variables
}
