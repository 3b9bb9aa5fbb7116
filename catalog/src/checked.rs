//! Checked configs: owned, with defaults, and one place per arg.

use crate::executor::Executor;
use crate::model::{Access, ArgRisk, Confine, GroupKind, Headless, Level, Order, Place, Risk, Shape, Type};
use crate::needs::Needs;
use crate::prompt::Prompt;
use crate::rule::ArgRule;
use crate::source::{Span, Spanned};

/// A config.
#[derive(Debug)]
pub(crate) struct CheckedCli {
    pub(crate) path: String,
    pub(crate) name: String,
    /// The location of the name; `None` if the name is the file's stem.
    pub(crate) name_span: Option<Span>,
    pub(crate) stem: String,
    pub(crate) description: String,
    pub(crate) category: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) words: Vec<CommandPart>,
    /// Other spellings of the program, each with the words that it stands for.
    pub(crate) programs: Vec<(String, String)>,
    /// Words that stand behind the base command in every call.
    pub(crate) always: Vec<String>,
    /// Values as tables hold them.
    pub(crate) env: Vec<(String, String)>,
    /// The needs of tools that say nothing of theirs.
    pub(crate) needs: Option<Needs>,
    pub(crate) working_dir: Option<String>,
    pub(crate) global_args: Vec<CheckedArg>,
    pub(crate) tools: Vec<CheckedTool>,
    pub(crate) prompts: Vec<Spanned<Prompt>>,
}

/// A tool.
#[derive(Debug)]
pub(crate) struct CheckedTool {
    pub(crate) name: String,
    pub(crate) name_span: Span,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    pub(crate) words: Vec<CommandPart>,
    /// Other spellings of the words of the command.
    pub(crate) aliases: Vec<String>,
    /// Options that every call has.
    pub(crate) always: Vec<String>,
    pub(crate) args: Vec<CheckedArg>,
    /// The args that policies took away. Calls and lines that give one are refused by its name.
    pub(crate) withheld: Vec<CheckedArg>,
    pub(crate) groups: Vec<CheckedGroup>,
    pub(crate) timeout_ms: u32,
    pub(crate) is_long: bool,
    /// As the config writes it.
    pub(crate) risk: Option<Risk>,
    /// What it has to reach, if its config says so here.
    pub(crate) needs: Option<Needs>,
    /// The least risk of calls that need approval by the compiled-in policy.
    pub(crate) approval_from: Option<Risk>,
    /// The exit codes that are answers, with their meanings.
    pub(crate) exit_codes: Vec<(u8, String)>,
    /// Requests that the tool serves, in users' words.
    pub(crate) phrases: Vec<String>,
    /// What it prints, if that is more than text.
    pub(crate) output: Option<CheckedOutput>,
    /// The URI template of the resource that it prints.
    pub(crate) resource: Option<Spanned<String>>,
    /// The questions that the user answers before each call, in this order.
    pub(crate) questions: Vec<CheckedQuestion>,
    pub(crate) confirm_message: Option<String>,
    pub(crate) resolve: Vec<CheckedResolve>,
}

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

/// A group of args with a rule.
#[derive(Debug)]
pub(crate) struct CheckedGroup {
    pub(crate) kind: GroupKind,
    pub(crate) args: Vec<String>,
}

/// What a tool prints, if that is more than text.
#[derive(Debug)]
pub(crate) struct CheckedOutput {
    /// The media type.
    pub(crate) mime: String,
    /// The schema of a JSON value, as JSON.
    pub(crate) schema: Option<String>,
}

impl CheckedTool {
    /// Returns the highest risk that a call can have, as annotations state it.
    pub(crate) fn promised_risk(&self) -> Risk {
        let args = self.args.iter().filter_map(|arg| arg.shape.highest_risk().max(arg.risk.highest()));
        args.chain([Risk::promised(self.risk)]).max().unwrap_or(Risk::Write)
    }
}

/// A question that the user answers.
#[derive(Debug)]
pub(crate) struct CheckedQuestion {
    pub(crate) name: String,
    pub(crate) message: String,
    /// The names of the args that the user fills in.
    pub(crate) args: Vec<String>,
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
    /// The rules of policies for its values.
    pub(crate) rules: Vec<ArgRule>,
    /// Whether a policy permits a positional value to start with a dash; `None` without a policy.
    pub(crate) leading_dash: Option<bool>,
    /// Whether the user gives it, not the agent.
    pub(crate) asked: bool,
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

/// A look-up of a readable name, by a subcommand of the program.
#[derive(Debug)]
pub(crate) struct CheckedResolve {
    pub(crate) name: String,
    pub(crate) words: Vec<String>,
    pub(crate) args: Vec<(String, String)>,
    pub(crate) timeout_ms: u32,
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
    pub(crate) executor: Executor,
}
