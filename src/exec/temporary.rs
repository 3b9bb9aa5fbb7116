//! Directories for temporary files of confined programs.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tempfile::TempDir;

/// Variables that lead programs to their caches, by the name of a directory among the temporary files.
const CACHES: [(&str, &str); 4] =
    [("XDG_CACHE_HOME", "cache"), ("GOCACHE", "go-build"), ("npm_config_cache", "npm"), ("PIP_CACHE_DIR", "pip")];

/// The directory that all calls of a session share, made for the first one. It goes with the session.
#[derive(Debug, Default)]
pub(super) struct SessionFiles(OnceLock<TempDir>);

/// The directory of a call.
#[derive(Debug)]
pub(super) enum CallFiles<'s> {
    /// It goes with the call.
    Own(TempDir),
    /// It goes with the session.
    OfSession(&'s TempDir),
}

impl SessionFiles {
    /// Returns the directory.
    ///
    /// # Errors
    /// It cannot be made.
    pub(super) fn directory(&self) -> io::Result<CallFiles<'_>> {
        if let Some(made) = self.0.get() {
            return Ok(CallFiles::OfSession(made));
        }
        let made = make()?;
        Ok(CallFiles::OfSession(self.0.get_or_init(|| made)))
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
