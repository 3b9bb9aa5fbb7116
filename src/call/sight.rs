//! Which files a line sees without a command: by globs, and by the tests of `[ ]` and `[[ ]]`.
//!
//! A policy that permits redirections to read files (`file_read`) permits to see which there are. Under any other, a line
//! sees those of its project.

use std::path::{Path, PathBuf};

use climax_catalog::Policy;
use climax_shell::Globs;

use crate::call::files;
use crate::exec;

/// The files that a line sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sight {
    /// All that its user may see.
    #[default]
    Everything,
    /// Those below this directory, which has no links.
    Below(PathBuf),
}

impl Sight {
    /// Returns what lines see under a policy. `project` returns the directory of the project without links; without one, lines
    /// see the directory of this process.
    pub(crate) fn under(policy: &Policy, project: impl FnOnce() -> Option<PathBuf>) -> Self {
        if files::reading().is_some_and(|tool| policy.permits(tool)) {
            return Self::Everything;
        }
        let own = exec::directory();
        Self::Below(project().unwrap_or_else(|| exec::real_path(&own).unwrap_or(own)))
    }

    /// Returns the paths that match a glob, sorted.
    ///
    /// # Errors
    /// The reason why there are too many, or why they are not seen.
    pub(crate) fn paths(&self, pattern: &str, directory: &Path, globs: Globs) -> Result<Vec<String>, String> {
        // What stands before the first sign of a glob says where it looks, whatever is there.
        let plain = &pattern[..pattern.find(['*', '?', '[', '\\']).unwrap_or(pattern.len())];
        self.check(&directory.join(&plain[..plain.rfind('/').map_or(0, |slash| slash + 1)]), pattern)?;

        let found = exec::glob::expand(pattern, directory, globs)?;
        found.iter().try_for_each(|path| self.check(&directory.join(path), pattern))?;
        Ok(found)
    }

    /// Checks that a line sees a file, or that there is none. `word` is how the line names it.
    ///
    /// # Errors
    /// The reason.
    pub(crate) fn check(&self, path: &Path, word: &str) -> Result<(), String> {
        let Self::Below(top) = self else { return Ok(()) };
        // Where a directory is missing, nothing is seen beyond it.
        let path = exec::directory().join(path);
        let real = path.ancestors().find_map(|path| exec::paths::real(path).ok());
        if real.is_some_and(|real| real.starts_with(top)) {
            return Ok(());
        }
        Err(format!(
            "the policy lets lines look for files in {} alone, and `{word}` lies elsewhere (`file_read` among its tools \
             permits it)",
            top.display()
        ))
    }
}
