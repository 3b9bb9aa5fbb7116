//! Small types that configs, policies, tables and views share. They refer to no row and no text.

use strum::{EnumString, IntoStaticStr, VariantArray, VariantNames};

/// The type of an arg's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Type {
    /// Any text without NUL.
    String,
    /// A whole number that fits `i64`.
    Integer,
    /// A finite number.
    Number,
    /// `true` or `false`.
    Boolean,
}

impl Type {
    /// Returns the type's name in configs and JSON Schema.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The place of an arg's value in the child process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Place {
    /// Two words: the flag, then the value.
    Flag,
    /// One word: the flag, which ends in `=`, and the value.
    Joined,
    /// The flag alone, if the value is true.
    Switch,
    /// The bare value, before all flags.
    Positional,
    /// The program's standard input.
    Stdin,
    /// The program's working directory.
    Cwd,
}

impl Place {
    /// Returns the place's name in listings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// How much a tool can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Risk {
    /// Changes nothing.
    Read,
    /// Creates or changes something.
    Write,
    /// Deletes, overwrites, or cannot be undone.
    Destructive,
}

impl Risk {
    /// Returns the level's name in configs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns the risk that annotations state: a tool without a written risk may write.
    pub(crate) fn promised(written: Option<Self>) -> Self {
        written.unwrap_or(Self::Write)
    }
}

/// The role of a prompt's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// Returns the role's name in configs and MCP.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The rule for tools that a policy does not name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Access {
    /// They can be called.
    #[default]
    Enabled,
    /// They cannot.
    Disabled,
}

impl Access {
    /// Returns the word in policies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The tools whose calls need approval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Level {
    /// None.
    #[default]
    None,
    /// Tools of risk `destructive`.
    Destructive,
    /// Tools of risk `write` and `destructive`.
    Write,
    /// All.
    All,
}

impl Level {
    /// Returns the level's name in policies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether calls of tools of this risk need approval.
    pub(crate) fn covers(self, risk: Risk) -> bool {
        match self {
            Self::None => false,
            Self::Destructive => risk >= Risk::Destructive,
            Self::Write => risk >= Risk::Write,
            Self::All => true,
        }
    }
}

/// The rule for calls that need approval if the client cannot ask the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Headless {
    /// It is refused.
    #[default]
    Deny,
    /// It runs.
    Approve,
}

impl Headless {
    /// Returns the rule's name in policies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A program that runs containers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Runtime {
    /// Docker.
    #[default]
    Docker,
    /// Podman.
    Podman,
    /// nerdctl, of containerd.
    Nerdctl,
}

impl Runtime {
    /// Returns the program's name, in policies and on `PATH`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Resource limits of a sandboxed program; `None` inherits the server's limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SandboxLimits {
    /// Address space of each process, in MiB.
    pub memory_mb: Option<u32>,
    /// Processor time of each process, in seconds.
    pub cpu_s: Option<u32>,
    /// Processes and threads of the user.
    pub processes: Option<u32>,
    /// Size of each file that is written, in MiB.
    pub file_mb: Option<u32>,
}
