//! What a policy says of command lines.

use strum::{EnumString, IntoStaticStr, VariantNames};

use super::Cage;

/// What becomes of a program of a line that no config describes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum UnknownProgram {
    /// It is refused.
    Refuse,
    /// It runs in the cage `read`.
    #[default]
    Read,
    /// It runs in the cage `workspace`.
    Workspace,
}

impl UnknownProgram {
    /// Returns the name in policies and on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns the cage that it runs in; `None` if it does not run.
    #[must_use]
    pub fn cage(self) -> Option<Cage> {
        match self {
            Self::Refuse => None,
            Self::Read => Some(Cage::Read),
            Self::Workspace => Some(Cage::Workspace),
        }
    }
}

/// How what programs outside load is kept from a program that may write in the project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Protection {
    /// Where the kernel cannot keep it, it is put back after the run.
    #[default]
    Restore,
    /// By the kernel, or no program may write in the project.
    Kernel,
}

impl Protection {
    /// Returns the name in policies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The widest cage that a call may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum WidestCage {
    /// The cage `read`.
    Read,
    /// The cage `workspace`.
    Workspace,
}

impl WidestCage {
    /// Returns the name in policies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns whether a call may ask for a cage.
    #[must_use]
    pub fn permits(self, cage: Cage) -> bool {
        match cage {
            Cage::Read => true,
            Cage::Workspace => self == Self::Workspace,
        }
    }
}

/// What a policy says about the programs of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRules {
    /// What becomes of programs that no config describes, if it is stated.
    pub unknown: Option<UnknownProgram>,
    /// The widest cage that a call may ask for.
    pub widest: WidestCage,
    /// How protected names are kept.
    pub protect: Protection,
}

impl Default for LineRules {
    fn default() -> Self {
        Self { unknown: None, widest: WidestCage::Workspace, protect: Protection::default() }
    }
}

impl LineRules {
    /// Returns the stricter of both, rule by rule.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        let unknown = [self.unknown, other.unknown].into_iter().flatten().min();
        Self { unknown, widest: self.widest.min(other.widest), protect: self.protect.max(other.protect) }
    }
}
