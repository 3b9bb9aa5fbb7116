//! By what means a cage holds a program, and which of its promises they keep.

use climax_catalog::Cage;
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

impl Isolation {
    /// Returns whether it holds a program in this cage.
    #[must_use]
    pub fn holds(self, cage: Cage) -> bool {
        match cage {
            Cage::Read => true,
            // Landlock cannot keep `.git` and the settings of other programs in a directory that may be written.
            Cage::Workspace => self == Self::Namespaces,
        }
    }

    /// Returns its name in orders, results and audit lines.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
