//! By what means a cage holds a program, and which of its promises they keep.

use climax_catalog::Cage;
use climax_catalog::policy::Protection;
use strum::{EnumString, IntoStaticStr};

/// The means by which a cage holds a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Isolation {
    /// Namespaces of users, mounts, processes, networks and IPC, with Landlock and seccomp inside of them.
    Namespaces,
    /// Landlock and seccomp.
    Landlock,
}

/// Finds the means by which programs are held in cages; `None` if there are none. The first time it tries them, which takes
/// about 0.7 ms.
pub type FindIsolation = fn() -> Option<Isolation>;

impl Isolation {
    /// Returns whether it holds a program in this cage, under a policy that demands this protection.
    #[must_use]
    pub fn holds(self, cage: Cage, protection: Protection) -> bool {
        !self.restores(cage) || protection == Protection::Restore
    }

    /// Returns whether protected names are put back after the run, because the program could change them.
    ///
    /// Landlock cannot keep `.git` and the settings of other programs in a directory that may be written.
    #[must_use]
    pub fn restores(self, cage: Cage) -> bool {
        cage == Cage::Workspace && self == Self::Landlock
    }

    /// Returns its name in orders, results and audit lines.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
