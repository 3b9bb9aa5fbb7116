//! Small types that configs, policies, tables and views share. They refer to no row and no text.

use strum::{EnumString, IntoStaticStr, VariantArray, VariantNames};

mod judge;
mod lines;
mod risk;

pub use judge::{Bypass, JudgeRules, ProjectFiles, SensitiveRule};
pub use lines::{AskedCage, LineRules, Protection, UnknownProgram};
pub(crate) use risk::fits;
pub use risk::{ArgRisk, Risk, Sensitive};

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
    /// An option: the words of a flag.
    Option,
    /// The bare value, before all options.
    Positional,
    /// The program's standard input.
    Stdin,
    /// The program's working directory.
    Cwd,
    /// A variable of the program's environment.
    Variable,
}

/// The number and form of an arg's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// One value.
    #[default]
    Single,
    /// How often its flag stands.
    Count,
    /// A list of values.
    List(Spread),
    /// Names with values.
    Map(Spread),
    /// All further words of the command line, options of another program included.
    Rest(Rest),
}

/// What the further words of a command line are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Any words.
    Words,
    /// A command that another tool takes. The program starts it here.
    Command,
}

/// How several values stand on a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// The flag stands before each value.
    Repeat,
    /// The flag stands once before all values.
    Words,
    /// The values are one word, with a separator between them.
    Joined,
}

impl Shape {
    /// Every shape, in the order of its number in tables.
    pub(crate) const ALL: [Self; 10] = [
        Self::Single,
        Self::Count,
        Self::List(Spread::Repeat),
        Self::List(Spread::Words),
        Self::List(Spread::Joined),
        Self::Map(Spread::Repeat),
        Self::Map(Spread::Words),
        Self::Map(Spread::Joined),
        Self::Rest(Rest::Words),
        Self::Rest(Rest::Command),
    ];

    /// Returns the shape's name in listings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Count => "count",
            Self::List(Spread::Repeat) => "list",
            Self::List(Spread::Words) => "list of words",
            Self::List(Spread::Joined) => "joined list",
            Self::Map(Spread::Repeat) => "map",
            Self::Map(Spread::Words) => "map of words",
            Self::Map(Spread::Joined) => "joined map",
            Self::Rest(Rest::Words) => "rest",
            Self::Rest(Rest::Command) => "command",
        }
    }

    /// Returns the highest risk that its words can add to a call; `None` if they add none.
    #[must_use]
    pub fn highest_risk(self) -> Option<Risk> {
        (self == Self::Rest(Rest::Command)).then_some(Risk::Destructive)
    }

    /// Returns whether the arg takes a list of values.
    #[must_use]
    pub fn is_list(self) -> bool {
        matches!(self, Self::List(_) | Self::Rest(_))
    }
}

/// The argument that lists the options whose order counts, each an object of one member.
pub const STEPS: &str = "steps";

/// The order of an option among others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// That of the definitions of args.
    Defined,
    /// That of the call, which gives the option in `steps`.
    Given,
}

/// The rule of a group of args.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum GroupKind {
    /// A call gives exactly one of them.
    ExactlyOne,
    /// A call gives one of them or none.
    AtMostOne,
    /// A call gives all of them or none.
    Together,
}

impl GroupKind {
    /// Returns the rule's key in configs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl Place {
    /// Returns the place's name in listings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
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

    /// Returns the least risk of calls that need approval.
    pub(crate) fn least(self) -> Option<Risk> {
        match self {
            Self::None => None,
            Self::Destructive => Some(Risk::Destructive),
            Self::Write => Some(Risk::Write),
            Self::All => Some(Risk::Read),
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

/// Which calls are held to the needs of their tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum ConfineLevel {
    /// None.
    Off,
    /// Calls that only read, of tools that say so and have needs.
    #[default]
    Read,
    /// All calls. A tool without needs has none.
    All,
}

impl ConfineLevel {
    /// Returns the level's name in policies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What a policy says about confinement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Confine {
    /// The level, if the policy has one.
    pub level: Option<ConfineLevel>,
    /// Whether nothing is served where the kernel cannot confine.
    pub required: bool,
}

impl Confine {
    /// Returns the stricter of both.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        Self { level: self.level.max(other.level), required: self.required || other.required }
    }
}

/// What holds a program that runs code which nobody described.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Cage {
    /// It reads the project and the system, and writes temporary files.
    Read,
    /// It also writes in the project.
    Workspace,
}

impl Cage {
    /// Returns the cage's name in configs, policies and calls.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns the risk of a program that it holds.
    #[must_use]
    pub fn risk(self) -> Risk {
        match self {
            Self::Read => Risk::Read,
            Self::Workspace => Risk::Write,
        }
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
