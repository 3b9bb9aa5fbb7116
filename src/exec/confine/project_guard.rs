//! The protected names and secrets of a project that a caged program may write: they are noted before the program runs, and
//! put back as they were after it.

use climax_catalog::Cage;

use super::Isolation;
use super::copies::Copies;
use super::protected::Missing;
use super::rights::CageRights;
use crate::exec::outcome::Kept;

/// What a project had before a program ran.
pub(crate) struct ProjectGuard<'p> {
    /// The contents, where the system cannot keep the program from changing them.
    copies: Option<Copies>,
    /// The protected names at which nothing was.
    missing: Option<Missing<'p>>,
}

impl<'p> ProjectGuard<'p> {
    /// Notes what the project of a cage has. That is nothing if the cage does not write its project.
    ///
    /// # Errors
    /// What is there cannot be copied; the message.
    pub(crate) fn before(cage: &'p CageRights, isolation: Isolation) -> Result<Self, String> {
        let project = cage.project.as_deref().filter(|_| cage.cage == Cage::Workspace);
        let restored = project.filter(|_| isolation.restores(cage.cage));
        let copies = restored.map(|project| Copies::before(cage, project)).transpose()?;
        Ok(Self { copies, missing: project.map(Missing::before) })
    }

    /// Puts back what the program has changed, and returns what became of each name.
    pub(crate) fn put_back(self) -> Vec<Kept> {
        // What is missing is looked for first: what the copies put aside is not new.
        let mut kept = self.missing.map(Missing::keep).unwrap_or_default();
        let put_back = self.copies.map(Copies::put_back).unwrap_or_default();
        kept.retain(|new| {
            !put_back.iter().any(|one| matches!((one, new), (Kept::PutBack(root, _), Kept::Left(path)) if path == root))
        });
        kept.extend(put_back);
        kept
    }
}
