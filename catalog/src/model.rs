//! The words that configs, policies, tables and views share: small enums and bounds that name no row and no text.

/// The type of an arg's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// All types, in the order of their documentation.
    pub const ALL: [Self; 4] = [Self::String, Self::Integer, Self::Number, Self::Boolean];

    /// The type's name in configs and JSON Schema.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }
}

/// Where an arg's value goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// All places, in the order of their documentation.
    pub const ALL: [Self; 6] = [Self::Flag, Self::Joined, Self::Switch, Self::Positional, Self::Stdin, Self::Cwd];

    /// The place's name in listings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Flag => "flag",
            Self::Joined => "joined",
            Self::Switch => "switch",
            Self::Positional => "positional",
            Self::Stdin => "stdin",
            Self::Cwd => "cwd",
        }
    }
}

/// What a tool may do to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// Changes nothing.
    Read,
    /// Creates or changes something.
    Write,
    /// Deletes, overwrites, or cannot be undone.
    Destructive,
}

impl Risk {
    /// All levels, from harmless to harmful.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Destructive];

    /// The level's name in configs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Destructive => "destructive",
        }
    }
}

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// Both roles.
    pub const ALL: [Self; 2] = [Self::User, Self::Assistant];

    /// The role's name in configs and MCP.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// What holds for tools that a policy does not name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// They can be called.
    #[default]
    Enabled,
    /// They cannot.
    Disabled,
}

impl Access {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Enabled, Self::Disabled];

    /// The word in policies.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enabled => "enabled",
            Self::Disabled => "disabled",
        }
    }
}

/// The tools whose calls are asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// None.
    #[default]
    None,
    /// Those that may destroy.
    Destructive,
    /// Those that may change something.
    Write,
    /// All.
    All,
}

impl Level {
    /// All levels.
    pub const ALL: [Self; 4] = [Self::None, Self::Destructive, Self::Write, Self::All];

    /// The level's name in policies.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Destructive => "destructive",
            Self::Write => "write",
            Self::All => "all",
        }
    }

    pub(crate) fn covers(self, risk: Risk) -> bool {
        match self {
            Self::None => false,
            Self::Destructive => risk >= Risk::Destructive,
            Self::Write => risk >= Risk::Write,
            Self::All => true,
        }
    }
}

/// What becomes of a call that needs approval where nobody can be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Headless {
    /// It is refused.
    #[default]
    Deny,
    /// It runs.
    Approve,
}

impl Headless {
    /// Both rules.
    pub const ALL: [Self; 2] = [Self::Deny, Self::Approve];

    /// The rule's name in policies.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Approve => "approve",
        }
    }
}

/// A program that runs containers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// All runtimes.
    pub const ALL: [Self; 3] = [Self::Docker, Self::Podman, Self::Nerdctl];

    /// The program's name, in policies and on `PATH`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Podman => "podman",
            Self::Nerdctl => "nerdctl",
        }
    }
}

/// Bounds on what a sandboxed program uses; `None` is what the server itself has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SandboxLimits {
    /// Address space of each process, in MiB.
    pub memory_mb: Option<u32>,
    /// Processor time of each process, in seconds.
    pub cpu_s: Option<u32>,
    /// Processes and threads that the user has.
    pub processes: Option<u32>,
    /// Size of each file that is written, in MiB.
    pub file_mb: Option<u32>,
}
