//! The config format: tree → [`Config`], with every structural mistake reported.
//!
//! Missing and ill-typed values are reported here and absent from the result. [`crate::read::check`] checks what the
//! values mean together.

use serde_json::Value;
use strum::VariantArray as _;

use crate::diagnostic::{Code, Diagnostic};
use crate::model::{GroupKind, Risk};
use crate::needs::Needs;
use crate::read::walk::{Fields, Walker};
use crate::read::yaml::{Node, NodeKind};
use crate::source::{Source, Spanned};

mod arg;
pub(crate) mod effects;
pub(crate) mod needs;
pub(crate) mod prompt;
pub(crate) mod schema;

pub(crate) use arg::{ALLOW_KEY, Allow, ArgConfig, ChoiceConfig, SpreadConfig};
#[cfg(test)]
pub(crate) use arg::{ARG_KEYS, CHOICE_KEYS, OUTPUT_FILE_KEYS};
use arg::{DESCRIPTION, allow, arg};
pub(crate) use effects::EffectsConfig;
use effects::effects;
use needs::{env_entry, needs};

/// A config file as written.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) description: Option<Spanned<String>>,
    pub(crate) command: Option<Spanned<String>>,
    /// Other spellings of the program, each with the words that it stands for if these are not the base command.
    pub(crate) programs: Vec<(Spanned<String>, Option<Spanned<String>>)>,
    pub(crate) always: Option<Spanned<String>>,
    pub(crate) boolean_values: Option<Spanned<bool>>,
    pub(crate) letter_equals: Option<Spanned<bool>>,
    pub(crate) variables: Vec<Spanned<String>>,
    pub(crate) native: Option<Spanned<bool>>,
    /// Values as tables hold them ([`crate::needs::EnvValue`]).
    pub(crate) env: Vec<(Spanned<String>, Spanned<String>)>,
    pub(crate) needs: Option<Spanned<Needs>>,
    pub(crate) effects: Option<Spanned<EffectsConfig>>,
    pub(crate) working_dir: Option<Spanned<String>>,
    pub(crate) category: Option<Spanned<String>>,
    pub(crate) tags: Vec<Spanned<String>>,
    pub(crate) global_args: Vec<ArgConfig>,
    pub(crate) common_args: Vec<ArgConfig>,
    pub(crate) tools: Vec<ToolConfig>,
    pub(crate) prompts: Vec<prompt::PromptConfig>,
    pub(crate) allow: Option<Allow>,
}

/// An item of `tools`.
#[derive(Debug)]
pub(crate) struct ToolConfig {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) title: Option<Spanned<String>>,
    pub(crate) description: Option<Spanned<String>>,
    pub(crate) command: Option<Spanned<String>>,
    pub(crate) aliases: Vec<Spanned<String>>,
    pub(crate) always: Option<Spanned<String>>,
    pub(crate) args: Vec<ArgConfig>,
    pub(crate) without: Vec<Spanned<String>>,
    pub(crate) ordered: Vec<Spanned<String>>,
    pub(crate) groups: Vec<GroupConfig>,
    pub(crate) timeout: Option<Spanned<f64>>,
    pub(crate) long: Option<Spanned<bool>>,
    pub(crate) risk: Option<Risk>,
    pub(crate) sensitive: Option<Spanned<bool>>,
    pub(crate) needs: Option<Spanned<Needs>>,
    pub(crate) effects: Option<Spanned<EffectsConfig>>,
    pub(crate) exit_codes: Vec<ExitCodeConfig>,
    pub(crate) phrases: Vec<Spanned<String>>,
    pub(crate) output: Option<OutputConfig>,
    pub(crate) resource: Option<Spanned<String>>,
    pub(crate) ask: Vec<QuestionConfig>,
    pub(crate) confirm_message: Option<Spanned<String>>,
    pub(crate) resolve: Vec<ResolveConfig>,
    pub(crate) allow: Option<Allow>,
}

/// An item of `exactly_one`, `at_most_one` or `together`: names of args.
#[derive(Debug)]
pub(crate) struct GroupConfig {
    pub(crate) kind: GroupKind,
    pub(crate) args: Spanned<Vec<Spanned<String>>>,
}

/// An `output` of a tool: what it prints.
#[derive(Debug)]
pub(crate) struct OutputConfig {
    pub(crate) mime: Spanned<String>,
    pub(crate) schema: Option<Spanned<Value>>,
}

/// An entry of `exit_codes`: a code that is an answer, and its meaning.
#[derive(Debug)]
pub(crate) struct ExitCodeConfig {
    pub(crate) code: Spanned<i64>,
    pub(crate) meaning: Spanned<String>,
}

/// An item of `ask`: a question that the user answers, not the agent.
#[derive(Debug)]
pub(crate) struct QuestionConfig {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) message: Option<Spanned<String>>,
    pub(crate) args: Option<Spanned<Vec<Spanned<String>>>>,
}

/// An entry of `resolve`.
#[derive(Debug)]
pub(crate) struct ResolveConfig {
    pub(crate) name: Spanned<String>,
    pub(crate) command: Option<Spanned<String>>,
    pub(crate) args: Vec<(Spanned<String>, Spanned<String>)>,
    pub(crate) timeout: Option<Spanned<f64>>,
}

pub(crate) const CONFIG_KEYS: &[&str] = &[
    "name",
    DESCRIPTION,
    "command",
    "programs",
    "always",
    "boolean_values",
    "letter_equals",
    "variables",
    "native",
    "env",
    "needs",
    "effects",
    "working_dir",
    "category",
    "tags",
    "global_args",
    "common_args",
    "tools",
    "prompts",
    ALLOW_KEY,
];
pub(crate) const TOOL_KEYS: &[&str] = &[
    "name",
    "title",
    DESCRIPTION,
    "command",
    "aliases",
    "always",
    "args",
    "without",
    "ordered",
    "exactly_one",
    "at_most_one",
    "together",
    "timeout",
    "long",
    "risk",
    "sensitive",
    "needs",
    "effects",
    "exit_codes",
    "phrases",
    "output",
    "resource",
    "ask",
    "confirm_message",
    "resolve",
    ALLOW_KEY,
];
pub(crate) const QUESTION_KEYS: &[&str] = &["name", "message", "args"];
pub(crate) const OUTPUT_KEYS: &[&str] = &["mime", "schema"];
pub(crate) const RESOLVE_KEYS: &[&str] = &["command", "args", "timeout"];

/// Reads the tree of one file.
pub(crate) fn parse(source: &Source, root: &Node, out: &mut Vec<Diagnostic>) -> Option<Config> {
    let mut walker = Walker::new(source, out);
    if root.is_null() {
        walker.report(
            Code::EmptyConfig,
            root.span,
            "config is empty".to_owned(),
            "write at least `command:` and `tools:`",
        );
        return None;
    }

    let mut fields = walker.mapping(root, "a config", CONFIG_KEYS)?;
    let native = fields.boolean(&mut walker, "native");
    let needs_command = !native.as_ref().is_some_and(|native| native.value);
    Some(Config {
        name: fields.string(&mut walker, "name"),
        description: fields.string(&mut walker, DESCRIPTION),
        command: if needs_command {
            let node = fields.required(&mut walker, "command", "the program to run");
            node.and_then(|node| walker.string(node, "command"))
        } else {
            fields.string(&mut walker, "command")
        },
        programs: programs(&mut walker, &mut fields),
        always: fields.optional_string(&mut walker, "always"),
        boolean_values: fields.boolean(&mut walker, "boolean_values"),
        letter_equals: fields.boolean(&mut walker, "letter_equals"),
        variables: fields.list(&mut walker, "variables", |walker, node| walker.string(node, "an item of `variables`")),
        native,
        env: fields.entries(&mut walker, "env", env_entry),
        needs: needs(&mut walker, &mut fields),
        effects: effects(&mut walker, &mut fields),
        working_dir: fields.optional_string(&mut walker, "working_dir"),
        category: fields.optional_string(&mut walker, "category"),
        tags: fields.list(&mut walker, "tags", |walker, node| walker.string(node, "an item of `tags`")),
        global_args: fields.list(&mut walker, "global_args", arg),
        common_args: fields.list(&mut walker, "common_args", arg),
        tools: tools(&mut walker, &mut fields),
        prompts: fields.list(&mut walker, "prompts", prompt::prompt),
        allow: allow(&mut fields),
    })
}

/// Reads the other spellings of the program: a list of them, or a map to the words that they stand for.
fn programs(walker: &mut Walker<'_>, fields: &mut Fields<'_>) -> Vec<(Spanned<String>, Option<Spanned<String>>)> {
    let Some(node) = fields.optional("programs") else { return Vec::new() };
    if matches!(node.kind, NodeKind::Mapping(_)) {
        return walker.entries(node, "programs", |walker, spelling, node| {
            Some((spelling, Some(walker.string(node, "the words that a program stands for")?)))
        });
    }
    walker.list(node, "programs", |walker, node| Some((walker.string(node, "an item of `programs`")?, None)))
}

fn tools(walker: &mut Walker<'_>, fields: &mut Fields<'_>) -> Vec<ToolConfig> {
    match fields.required(walker, "tools", "the list of tools") {
        Some(node) => walker.list(node, "tools", tool),
        None => Vec::new(),
    }
}

fn tool(walker: &mut Walker<'_>, node: &Node) -> Option<ToolConfig> {
    let mut fields = walker.mapping(node, "a tool", TOOL_KEYS)?;
    Some(ToolConfig {
        name: fields.required(walker, "name", "the tool's name").and_then(|node| walker.string(node, "name")),
        title: fields.optional_string(walker, "title"),
        description: fields
            .required(walker, DESCRIPTION, "what the tool does and when to use it")
            .and_then(|node| walker.string(node, DESCRIPTION)),
        command: fields.string(walker, "command"),
        aliases: fields.list(walker, "aliases", |walker, node| walker.string(node, "an item of `aliases`")),
        always: fields.optional_string(walker, "always"),
        args: fields.list(walker, "args", arg),
        without: fields.list(walker, "without", |walker, node| walker.string(node, "an item of `without`")),
        ordered: fields.list(walker, "ordered", |walker, node| walker.string(node, "an item of `ordered`")),
        groups: groups(walker, &mut fields),
        timeout: fields.optional_number(walker, "timeout"),
        long: fields.boolean(walker, "long"),
        risk: fields.word(walker, "risk"),
        sensitive: fields.boolean(walker, "sensitive"),
        needs: needs(walker, &mut fields),
        effects: effects(walker, &mut fields),
        exit_codes: fields.entries(walker, "exit_codes", exit_code),
        phrases: fields.list(walker, "phrases", |walker, node| walker.string(node, "an item of `phrases`")),
        output: fields.optional("output").and_then(|node| output(walker, node)),
        resource: fields.optional_string(walker, "resource"),
        ask: fields.list(walker, "ask", question),
        confirm_message: fields.optional_string(walker, "confirm_message"),
        resolve: fields.entries(walker, "resolve", resolve),
        allow: allow(&mut fields),
    })
}

/// Reads the lists of groups, in the order of their kinds.
fn groups(walker: &mut Walker<'_>, fields: &mut Fields<'_>) -> Vec<GroupConfig> {
    let mut groups = Vec::new();
    for kind in GroupKind::VARIANTS {
        let group =
            |walker: &mut Walker<'_>, node: &Node| Some(GroupConfig { kind: *kind, args: names(walker, node)? });
        groups.extend(fields.list(walker, kind.as_str(), group));
    }
    groups
}

fn exit_code(walker: &mut Walker<'_>, code: Spanned<String>, node: &Node) -> Option<ExitCodeConfig> {
    let meaning = walker.string(node, "a value of `exit_codes`");
    let code = walker.integer_key(code, "a key of `exit_codes`")?;
    Some(ExitCodeConfig { code, meaning: meaning? })
}

fn output(walker: &mut Walker<'_>, node: &Node) -> Option<OutputConfig> {
    let mut fields = walker.mapping(node, "an `output`", OUTPUT_KEYS)?;
    let mime = fields.required(walker, "mime", "the media type of what the tool prints");
    let schema = fields.optional("schema").and_then(|node| {
        let value = schema::schema(walker, node)?;
        Some(Spanned { value, span: walker.first_line(node.span) })
    });
    Some(OutputConfig { mime: walker.string(mime?, "mime")?, schema })
}

fn question(walker: &mut Walker<'_>, node: &Node) -> Option<QuestionConfig> {
    let mut fields = walker.mapping(node, "a question", QUESTION_KEYS)?;
    Some(QuestionConfig {
        name: fields.required(walker, "name", "what answers are known by").and_then(|node| walker.string(node, "name")),
        message: fields
            .required(walker, "message", "what the user is asked")
            .and_then(|node| walker.string(node, "message")),
        args: fields
            .required(walker, "args", "the names of the args that the user gives")
            .and_then(|node| names(walker, node)),
    })
}

fn names(walker: &mut Walker<'_>, node: &Node) -> Option<Spanned<Vec<Spanned<String>>>> {
    let is_list = matches!(node.kind, NodeKind::Sequence(_));
    let value = walker.list(node, "args", |walker, node| walker.string(node, "an item of `args`"));
    is_list.then(|| Spanned { value, span: walker.first_line(node.span) })
}

fn resolve(walker: &mut Walker<'_>, name: Spanned<String>, node: &Node) -> Option<ResolveConfig> {
    let mut fields = walker.mapping(node, "a `resolve` entry", RESOLVE_KEYS)?;
    Some(ResolveConfig {
        name,
        command: fields
            .required(walker, "command", "the subcommand that prints the readable name")
            .and_then(|node| walker.string(node, "command")),
        args: fields.string_map(walker, "args"),
        timeout: fields.optional_number(walker, "timeout"),
    })
}
