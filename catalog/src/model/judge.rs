//! What policies say about calls beyond their risk: where files are replaced, what prints secrets, and hooks of agents.

use strum::{EnumString, IntoStaticStr, VariantNames};

use super::Risk;

/// The risk that approval counts for replacing, moving or removing single files of the project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum ProjectFiles {
    /// `write`: files of the project are the work itself, and mostly under version control.
    Write,
    /// `destructive`, as anywhere else.
    #[default]
    Destructive,
}

/// What becomes of calls that print secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum SensitiveRule {
    /// Their risk alone decides.
    Allow,
    /// They need approval.
    Ask,
    /// They are refused.
    Deny,
}

/// What the hook of an agent does where that agent asks nobody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Bypass {
    /// It denies what the policy denies, writes to protected paths, and data that a line has read and sends away.
    #[default]
    Usual,
    /// It denies also what is destructive or prints secrets.
    Strict,
}

/// What a policy says about calls beyond their risk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JudgeRules {
    /// The risk of replacing, moving or removing single files of the project.
    pub project: ProjectFiles,
    /// What becomes of calls that print secrets, if it is stated.
    pub sensitive: Option<SensitiveRule>,
    /// The highest risk of the lines that a hook allows.
    pub hook_allow: Risk,
    /// What a hook does where an agent asks nobody.
    pub bypass: Bypass,
}

impl Default for JudgeRules {
    fn default() -> Self {
        Self { project: ProjectFiles::default(), sensitive: None, hook_allow: Risk::Read, bypass: Bypass::default() }
    }
}

impl JudgeRules {
    /// Returns the stricter of both, rule by rule.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        Self {
            project: self.project.max(other.project),
            sensitive: self.sensitive.max(other.sensitive),
            hook_allow: self.hook_allow.min(other.hook_allow),
            bypass: self.bypass.max(other.bypass),
        }
    }
}

macro_rules! names {
    ($($kind:ident),*) => {
        $(impl $kind {
            /// Returns the name in policies.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                self.into()
            }
        })*
    };
}

names!(ProjectFiles, SensitiveRule, Bypass);
