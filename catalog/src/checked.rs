//! Checked args and policies: owned, with defaults, and one place per arg. [`crate::table`] has tools and CLIs.

use crate::executor::Executor;
use crate::model::{
    Access, ArgRisk, Confine, Headless, JudgeRules, Level, LineRules, Order, Place, Sensitive, Shape, Type,
};
use crate::rule::ArgRule;

/// A part of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CommandPart {
    /// A word.
    Word(String),
    /// The words of the arg of this name.
    Arg(String),
    /// The options that have no place of their own.
    Options,
}

/// An arg.
#[derive(Clone, Debug)]
pub(crate) struct CheckedArg {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) kind: Type,
    pub(crate) required: bool,
    pub(crate) default: Option<DefaultValue>,
    pub(crate) place: Place,
    pub(crate) flag: String,
    pub(crate) shape: Shape,
    /// The separator of a joined list or map.
    pub(crate) separator: Option<String>,
    /// Other spellings of the flag.
    pub(crate) aliases: Vec<String>,
    /// The flag of a boolean that is false.
    pub(crate) off: Option<String>,
    /// The name of the environment variable.
    pub(crate) variable: Option<String>,
    pub(crate) choices: Vec<CheckedChoice>,
    /// The config's own rule for its values.
    pub(crate) constraint: ArgRule,
    pub(crate) min_items: Option<u32>,
    pub(crate) max_items: Option<u32>,
    /// Whether the published schema has it.
    pub(crate) shown: bool,
    /// Its order among other options.
    pub(crate) order: Order,
    pub(crate) risk: ArgRisk,
    /// Whether a call that gives it prints secrets.
    pub(crate) sensitive: Sensitive,
    /// The rules of policies for its values.
    pub(crate) rules: Vec<ArgRule>,
    /// Whether a policy permits a positional value to start with a dash; `None` without a policy.
    pub(crate) leading_dash: Option<bool>,
    /// Whether the user gives it, not the agent.
    pub(crate) from_user: bool,
    /// The file that the program writes to the path in this arg.
    pub(crate) output: Option<CheckedOutputFile>,
}

/// An allowed value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckedChoice {
    pub(crate) value: String,
    /// The name that users see.
    pub(crate) title: Option<String>,
    /// The words that stand for it on the command line.
    pub(crate) words: Option<String>,
}

/// A file that a program writes, whose content is part of the result.
#[derive(Clone, Debug)]
pub(crate) struct CheckedOutputFile {
    pub(crate) mime: String,
    /// The last part of its path.
    pub(crate) file: String,
}

/// A default, as it stands on the command line and in a schema.
#[derive(Clone, Debug)]
pub(crate) struct DefaultValue {
    pub(crate) word: String,
    pub(crate) json: String,
}

/// The parts of a policy that are compiled in with a catalog. Tools and args hold the others.
#[derive(Debug)]
pub(crate) struct CheckedPolicy {
    /// The rule for tools that are added at run time.
    pub(crate) access: Access,
    /// The approval level for tools that are added at run time.
    pub(crate) level: Level,
    pub(crate) headless: Headless,
    /// Selectors of the tools that are not permitted at run time, as their four texts.
    pub(crate) deny: Vec<String>,
    /// Values as tables hold them.
    pub(crate) env: Vec<(String, String)>,
    pub(crate) confine: Confine,
    pub(crate) lines: LineRules,
    /// Hosts to which lines may send what they have read.
    pub(crate) send: Vec<String>,
    pub(crate) judgement: JudgeRules,
    pub(crate) executor: Executor,
}
