//! Small types that configs, policies, tables and views share. They refer to no row and no text.

use strum::{EnumString, IntoStaticStr, VariantArray, VariantNames};

mod judgement;

pub use judgement::{Bypass, Judgement, ProjectFiles, SensitiveRule};

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

/// How much an argument can change beyond its tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ArgRisk {
    /// No more than its tool.
    #[default]
    OfTool,
    /// At least this, whatever its value.
    Always(Risk),
    /// At least this, by its value.
    ByValue {
        /// Values with their risks.
        values: Vec<(String, Risk)>,
        /// The risk of all other values.
        otherwise: Risk,
    },
}

/// Whether a call that gives an argument prints secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Sensitive {
    /// No.
    #[default]
    Never,
    /// Yes.
    Always,
    /// With these values. `*` stands for any characters.
    Values(Vec<String>),
}

impl Sensitive {
    /// Returns whether a value makes the call print secrets. Values of enums of the world, such as kinds of resources, are
    /// often written in lists and in any case, so `secrets,pods` and `Secret` count as `secret*` does.
    #[must_use]
    pub fn of(&self, value: &str) -> bool {
        match self {
            Self::Never => false,
            Self::Always => true,
            Self::Values(values) => value.split([',', '/']).any(|part| {
                let part = part.to_lowercase();
                values.iter().any(|known| match known.split_once('*') {
                    Some((start, end)) => {
                        part.len() >= start.len() + end.len() && part.starts_with(start) && part.ends_with(end)
                    }
                    None => part == *known,
                })
            }),
        }
    }
}

impl ArgRisk {
    /// Returns the highest risk that a value can have; `None` if no value adds one.
    #[must_use]
    pub fn highest(&self) -> Option<Risk> {
        match self {
            Self::OfTool => None,
            Self::Always(risk) => Some(*risk),
            Self::ByValue { values, otherwise } => values.iter().map(|(_, risk)| *risk).chain([*otherwise]).max(),
        }
    }

    /// Returns the risk of a value, as it stands on the command line; `None` if it adds none.
    #[must_use]
    pub fn of(&self, value: &str) -> Option<Risk> {
        match self {
            Self::OfTool => None,
            Self::Always(risk) => Some(*risk),
            Self::ByValue { values, otherwise } => {
                Some(values.iter().find(|(known, _)| known == value).map_or(*otherwise, |(_, risk)| *risk))
            }
        }
    }
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
    #[must_use]
    pub fn promised(written: Option<Self>) -> Self {
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
