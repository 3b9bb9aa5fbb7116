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

/// What a call may ask its programs to be held by, from the narrowest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum AskedCage {
    /// The cage `read`.
    Read,
    /// The cage `workspace`.
    Workspace,
    /// No cage, about which the user is always asked.
    None,
}

impl AskedCage {
    /// Returns the name in policies and on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns the names of this one and of the narrower ones.
    #[must_use]
    pub fn names_up_to(self) -> &'static [&'static str] {
        &Self::VARIANTS[..=self as usize]
    }
}

/// What a policy says about the programs of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRules {
    /// What becomes of programs that no config describes, if it is stated.
    pub unknown: Option<UnknownProgram>,
    /// The widest that a call may ask for.
    pub widest: AskedCage,
    /// How protected names are kept.
    pub protect: Protection,
}

impl Default for LineRules {
    fn default() -> Self {
        Self { unknown: None, widest: AskedCage::Workspace, protect: Protection::default() }
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
