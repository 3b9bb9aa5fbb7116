//! The policy of the user, or of a project, which installed servers get unless another one is given.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::client::Places;
use super::file;
use crate::identity;

/// The text of a new policy. `PROGRAM` stands for the name of this one.
const POLICY: &str = "\
# PROGRAM asks the user before calls that may destroy something. Change it as you like: it is not written again.
# `PROGRAM validate --policy FILE` checks it, and `PROGRAM policy explain` says what it permits.
default: enabled
approval:
  global: destructive
  # What happens where the client cannot ask: `deny` or `approve`.
  headless: deny
  # Single files of the project are the work itself: replacing, moving or removing them is not asked about.
  project: write
";

/// The file of the policy.
#[derive(Debug)]
pub(super) struct OwnPolicy {
    path: PathBuf,
    /// The path in settings.
    word: PathBuf,
}

fn new_policy() -> String {
    POLICY.replace("PROGRAM", identity::name())
}

impl OwnPolicy {
    /// Returns that in the user's configuration directory.
    pub(super) fn of_user(places: &Places) -> Self {
        let path = places.config().join(identity::name()).join("policy.yaml");
        Self { word: path.clone(), path }
    }

    /// Returns that of a project. Its settings go to other machines, and clients start servers in its directory, so they
    /// hold the name of the file.
    pub(super) fn of_project(project: &Path) -> Self {
        let word = PathBuf::from(format!("{}-policy.yaml", identity::name()));
        Self { path: project.join(&word), word }
    }

    /// Returns the path as settings have it.
    pub(super) fn word(&self) -> &Path {
        &self.word
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path if the file exists.
    pub(super) fn existing(&self) -> Option<PathBuf> {
        fs::symlink_metadata(&self.path).is_ok().then(|| self.path.clone())
    }

    /// Writes the policy if there is none. Returns what it did.
    ///
    /// # Errors
    /// The directory or the file cannot be written.
    pub(super) fn write(&self) -> io::Result<String> {
        let path = self.path.display();
        let is_new = file::write_new(&self.path, &new_policy())?;
        Ok(if is_new {
            format!("{path}: written; {} asks before destructive calls", identity::name())
        } else {
            format!("{path}: kept as it is")
        })
    }

    /// Returns what would be written.
    pub(super) fn shown(&self) -> String {
        let text = if self.existing().is_some() { "(kept as it is)\n".to_owned() } else { new_policy() };
        format!("{}:\n\n{text}", self.path.display())
    }
}
