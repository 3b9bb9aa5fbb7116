//! The user's policy, which installed servers get unless another one is given.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::client::Places;
use super::file;

/// The text of a new policy.
const POLICY: &str = "\
# climax asks the user before calls that may destroy something. Change it as you like: it is not written again.
# `climax validate --policy FILE` checks it, and `climax policy explain` says what it permits.
default: enabled
approval:
  global: destructive
  # What happens where the client cannot ask: `deny` or `approve`.
  headless: deny
";

/// The file of the user's policy.
#[derive(Debug)]
pub(super) struct UserPolicy {
    path: PathBuf,
}

impl UserPolicy {
    /// Returns that in the user's configuration directory.
    pub(super) fn of(places: &Places) -> Self {
        Self { path: places.config().join("climax/policy.yaml") }
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
        let is_new = file::write_new(&self.path, POLICY)?;
        let done = if is_new { "written; climax asks before destructive calls" } else { "kept as it is" };
        Ok(format!("{path}: {done}"))
    }

    /// Returns what would be written.
    pub(super) fn shown(&self) -> String {
        let text = if self.existing().is_some() { "(kept as it is)\n" } else { POLICY };
        format!("{}:\n\n{text}", self.path.display())
    }
}
