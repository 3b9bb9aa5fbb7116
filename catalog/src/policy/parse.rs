//! The policy format: tree → [`Policy`], with every mistake reported.

use std::collections::BTreeMap;

use strum::{Display, EnumString, VariantArray};

use super::confine::confine;
use super::file::{Named, NamedArg, PolicyFile};
use super::{Approval, ArgPolicy, ArgRule, Container, Executor, Pattern, Policy, Sandbox, ToolRule};
use crate::model::{Access, Level, SandboxLimits};
use crate::read::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::read::source::{Source, Span, Spanned};
use crate::read::walk::{Fields, Walker};
use crate::read::yaml::{self, Node};

pub(super) const POLICY_KEYS: &[&str] = &["default", "tools", "prompts", "executor", "approval", "confine"];
pub(super) const TOOL_KEYS: &[&str] = &["description", "args", "require_approval"];
pub(super) const ARG_KEYS: &[&str] = &["pattern", "min", "max", "allow_leading_dash"];
pub(super) const APPROVAL_KEYS: &[&str] = &["global", "headless", "tools"];
pub(super) const CONTAINER_KEYS: &[&str] = &["image", "runtime", "volumes", "working_dir", "network"];
pub(super) const SANDBOX_KEYS: &[&str] = &["read", "write", "network", "limits"];
pub(super) const EXECUTOR_KEYS: &[&str] =
    &["type", "image", "runtime", "volumes", "working_dir", "network", "read", "write", "limits"];
pub(super) const LIMIT_KEYS: &[&str] = &["memory_mb", "cpu_s", "processes", "file_mb"];

/// The approval level if a policy names none; as in `CLImax` 0.5.
const DEFAULT_LEVEL: Level = Level::Write;

/// Help for an empty file.
const FORMAT: &str = "write at least `default: enabled` or `tools:`";

/// The values of an executor's `type`.
#[derive(Clone, Copy, PartialEq, Eq, Display, EnumString, VariantArray, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
enum ExecutorType {
    Local,
    Docker,
    Sandbox,
}

impl ExecutorType {
    const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Local => &[],
            Self::Docker => CONTAINER_KEYS,
            Self::Sandbox => SANDBOX_KEYS,
        }
    }
}

/// Reads a policy file.
///
/// # Errors
/// Returns every mistake in it, and the warnings. [`PolicyFile::apply`] reports names of tools that do not exist.
///
/// ```
/// use climax_catalog::{Diagnostics, Source, policy};
///
/// let text = "tools: {date_now: {require_approval: true}}\n";
/// let policy = policy::read(&Source::new("policy.yaml", text.into())?)?;
/// # let _ = policy;
/// # Ok::<(), Diagnostics>(())
/// ```
pub fn read(source: &Source) -> Result<PolicyFile, Diagnostics> {
    let mut found = Vec::new();
    let file = yaml::parse(source, &mut found).and_then(|root| policy(source, &root, &mut found));
    if file.is_none() && found.is_empty() {
        found.push(Diagnostic::file(Code::EmptyConfig, source.path(), "policy is empty".to_owned(), FORMAT));
    }
    let diagnostics = crate::read::compile::in_order(vec![found]);
    match file {
        Some(file) if !diagnostics.has_errors() => Ok(PolicyFile { warnings: diagnostics, ..file }),
        _ => Err(diagnostics),
    }
}

fn policy(source: &Source, root: &Node, out: &mut Vec<Diagnostic>) -> Option<PolicyFile> {
    let mut walker = Walker::new(source, out);
    if root.is_null() {
        walker.report(Code::EmptyConfig, root.span, "policy is empty".to_owned(), FORMAT);
        return None;
    }
    let mut fields = walker.mapping(root, "a policy", POLICY_KEYS)?;
    let mut names = Vec::new();
    let access = fields.word(&mut walker, "default").unwrap_or(Access::Disabled);
    let tools = fields.entries(&mut walker, "tools", |walker, name, node| {
        let rule = if node.is_null() { ToolRule::default() } else { tool(walker, &name, node, &mut names)? };
        names.push(Named { tool: name.clone(), arg: None });
        Some((name.value, rule))
    });
    let prompts = fields.list(&mut walker, "prompts", |walker, node| walker.string(node, "an item of `prompts`"));
    let place = fields.optional("executor");
    let executor = place.and_then(|node| executor(&mut walker, node)).unwrap_or_default();
    let approval = match fields.optional("approval") {
        Some(node) => approval(&mut walker, node, &mut names),
        None => Approval { global: DEFAULT_LEVEL, ..Approval::default() },
    };
    let confine = fields.optional("confine").map(|node| confine(&mut walker, node)).unwrap_or_default();
    let policy = Policy {
        access,
        tools: tools.into_iter().collect(),
        prompts: prompts.iter().map(|name| name.value.clone()).collect(),
        executor,
        approval,
        confine,
    };
    let executor = place.map(|node| walker.first_line(node.span));
    Some(PolicyFile { source: source.clone(), policy, names, prompts, executor, warnings: Diagnostics::default() })
}

fn tool(walker: &mut Walker<'_>, name: &Spanned<String>, node: &Node, names: &mut Vec<Named>) -> Option<ToolRule> {
    let mut fields = walker.mapping(node, "a rule for a tool", TOOL_KEYS)?;
    let description = fields.optional_string(walker, "description");
    if let Some(text) = description.as_ref().filter(|text| text.value.trim().is_empty()) {
        let message = "`description` of a tool is empty".to_owned();
        walker.report(Code::EmptyValue, text.span, message, "write a text, or leave the key out");
    }
    let args = fields.entries(walker, "args", |walker, arg, node| {
        let (rule, range) = arg_rule(walker, node)?;
        names.push(Named { tool: name.clone(), arg: Some(NamedArg { name: arg.clone(), range }) });
        Some((arg.value, rule))
    });
    Some(ToolRule {
        description: description.map(|text| text.value),
        args: args.into_iter().collect(),
        require_approval: fields.optional("require_approval").and_then(|node| walker.flag(node, "require_approval")),
    })
}

fn arg_rule(walker: &mut Walker<'_>, node: &Node) -> Option<(ArgPolicy, Option<Span>)> {
    let mut fields = walker.mapping(node, "a rule for an arg", ARG_KEYS)?;
    let pattern = fields.optional_string(walker, "pattern").and_then(|text| pattern(walker, &text));
    let [min, max] = ["min", "max"].map(|key| fields.optional_number(walker, key));
    for bound in [&min, &max].into_iter().flatten().filter(|bound| !bound.value.is_finite()) {
        let message = "`min` and `max` must be finite".to_owned();
        walker.report(Code::IllegalRange, bound.span, message, "leave the key out for no bound");
    }
    if let (Some(min), Some(max)) = (&min, &max)
        && min.value > max.value
    {
        let message = format!("no number is both at least {} and at most {}", min.value, max.value);
        walker.report(Code::IllegalRange, min.span, message, "exchange `min` and `max`");
    }
    let range = min.as_ref().or(max.as_ref()).map(|bound| bound.span);
    let dash = fields.optional("allow_leading_dash").and_then(|node| walker.flag(node, "allow_leading_dash"));
    let [min, max] = [min, max].map(|bound| bound.map(|bound| bound.value));
    let rule = ArgRule { pattern, min, max };
    Some((ArgPolicy { rule, allow_leading_dash: dash.unwrap_or(false) }, range))
}

/// Compiles a pattern, and reports a text that is none.
pub(crate) fn pattern(walker: &mut Walker<'_>, text: &Spanned<String>) -> Option<Pattern> {
    Pattern::new(&text.value)
        .map_err(|bad| {
            let message = format!("pattern cannot be used: {}", bad.problem);
            let help = "patterns are regular expressions without look-around and back-references, \
                        and match the whole value";
            walker.report(Code::BadPattern, walker.source().within(text, bad.at), message, help);
        })
        .ok()
}

fn approval(walker: &mut Walker<'_>, node: &Node, names: &mut Vec<Named>) -> Approval {
    let Some(mut fields) = walker.mapping(node, "`approval`", APPROVAL_KEYS) else { return Approval::default() };
    let global = fields.word(walker, "global").unwrap_or(DEFAULT_LEVEL);
    let headless = fields.word(walker, "headless").unwrap_or_default();
    let tools: BTreeMap<String, bool> = fields
        .entries(walker, "tools", |walker, name, node| {
            let needs_approval = walker.flag(node, &format!("`{}` of `approval.tools`", name.value))?;
            names.push(Named { tool: name.clone(), arg: None });
            Some((name.value, needs_approval))
        })
        .into_iter()
        .collect();
    Approval { global, headless, tools }
}

fn executor(walker: &mut Walker<'_>, node: &Node) -> Option<Executor> {
    let mut fields = walker.mapping(node, "`executor`", EXECUTOR_KEYS)?;
    let kind = if fields.has("type") { fields.word(walker, "type")? } else { ExecutorType::Local };
    for (key, span) in fields.remaining().filter(|(key, _)| !kind.keys().contains(key)).collect::<Vec<_>>() {
        let others: Vec<_> = ExecutorType::VARIANTS.iter().filter(|other| other.keys().contains(&key)).collect();
        let owner = others.iter().map(|other| format!("`type: {other}`")).collect::<Vec<_>>().join(" or ");
        if !owner.is_empty() {
            // Ignoring the key would run programs on the host that the policy puts into a container.
            let message = format!("`{key}` has no meaning for an executor of type {kind}");
            walker.report(Code::MisplacedKey, span, message, &format!("write {owner}, or remove `{key}`"));
        }
    }
    match kind {
        ExecutorType::Local => Some(Executor::Local),
        ExecutorType::Docker => container(walker, &mut fields),
        ExecutorType::Sandbox => Some(sandbox(walker, &mut fields)),
    }
}

fn container(walker: &mut Walker<'_>, fields: &mut Fields<'_>) -> Option<Executor> {
    let image = fields
        .required(walker, "image", "the image that containers are made of")
        .and_then(|node| walker.string(node, "image"));
    let volumes = texts(walker, fields, "volumes");
    replaceable_mounts(walker, &volumes);
    let container = Container {
        runtime: fields.word(walker, "runtime").unwrap_or_default(),
        image: String::new(),
        volumes: volumes.into_iter().map(|volume| volume.value).collect(),
        working_dir: fields.optional_string(walker, "working_dir").map(|text| text.value),
        network: fields.optional("network").and_then(|node| network(walker, node)),
    };
    let image = image?;
    if image.value.is_empty() || image.value.starts_with('-') {
        let message = format!("`{}` is no name of an image", image.value);
        walker.report(Code::IllegalName, image.span, message, "write a name such as `alpine:3.20`");
    }
    Some(Executor::Container(Container { image: image.value, ..container }))
}

/// Reads the name of a container's network.
///
/// Words that YAML 1.1 reads as booleans are refused even in quotes: as a name, `no` would not mean no network.
fn network(walker: &mut Walker<'_>, node: &Node) -> Option<String> {
    const SWITCHES: [&str; 6] = ["true", "false", "yes", "no", "on", "off"];
    if let yaml::NodeKind::Scalar(scalar) = &node.kind
        && SWITCHES.iter().any(|word| scalar.text.eq_ignore_ascii_case(word))
    {
        let help = "write `network: none` for no network, or leave the key out for the usual one; only a sandbox has a \
                    boolean here";
        walker.wrong_type(node, "network", "the name of a network", help);
        return None;
    }
    walker.string(node, "network").map(|text| text.value)
}

/// Reports mounts whose source the container can replace.
fn replaceable_mounts(walker: &mut Walker<'_>, volumes: &[Spanned<String>]) {
    let source = |volume: &Spanned<String>| {
        let path = volume.value.split(':').next().unwrap_or_default();
        Spanned { value: path.to_owned(), span: volume.span }
    };
    let is_changeable = |volume: &&Spanned<String>| {
        !volume.value.rsplit(':').next().is_some_and(|last| last.split(',').any(|one| one == "ro"))
    };
    let changeable: Vec<_> = volumes.iter().filter(is_changeable).map(source).collect();
    let all = volumes.iter().map(source).collect::<Vec<_>>();
    replaceable(walker, &all, &changeable, "mount the outer one alone, or with `:ro`");
}

/// Reports paths inside of writable directories: a program can replace such a path by a link to any other.
fn replaceable(walker: &mut Walker<'_>, all: &[Spanned<String>], changeable: &[Spanned<String>], help: &str) {
    for path in all {
        let inner = path.value.trim_end_matches('/');
        for outer in changeable.iter().map(|outer| outer.value.trim_end_matches('/')) {
            if inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/')) {
                let message = format!("`{inner}` can be replaced, since it is below `{outer}`, which can be changed");
                walker.report(Code::Replaceable, path.span, message, help);
            }
        }
    }
}

fn sandbox(walker: &mut Walker<'_>, fields: &mut Fields<'_>) -> Executor {
    let mut limits = SandboxLimits::default();
    let node = fields.optional("limits");
    if let Some(mut fields) = node.and_then(|node| walker.mapping(node, "`limits`", LIMIT_KEYS)) {
        let mut bound = |key| fields.optional_number(walker, key).and_then(|number| whole(walker, key, &number));
        limits = SandboxLimits {
            memory_mb: bound("memory_mb"),
            cpu_s: bound("cpu_s"),
            processes: bound("processes"),
            file_mb: bound("file_mb"),
        };
    }
    let paths = ["read", "write"].map(|key| texts(walker, fields, key));
    for path in paths.iter().flatten().filter(|path| !path.value.starts_with(['/', '~', '$'])) {
        let message = format!("`{}` is relative, and to a directory that the call chooses", path.value);
        walker.report(Code::RelativePath, path.span, message, "write an absolute path; `~` and `$VAR` expand");
    }
    let [read, write] = &paths;
    let all: Vec<_> =
        read.iter().chain(write).map(|path| Spanned { value: path.value.clone(), span: path.span }).collect();
    replaceable(walker, &all, write, "name the outer one alone, or not under `write`");
    let [read, write] = paths.map(|paths| paths.into_iter().map(|path| path.value).collect());
    Executor::Sandbox(Sandbox {
        read,
        write,
        network: fields.boolean(walker, "network").is_some_and(|network| network.value),
        limits,
    })
}

fn texts(walker: &mut Walker<'_>, fields: &mut Fields<'_>, key: &'static str) -> Vec<Spanned<String>> {
    let what = format!("an item of `{key}`");
    fields.list(walker, key, |walker, node| walker.string(node, &what))
}

/// Reads a limit: a whole number from 1.
fn whole(walker: &mut Walker<'_>, key: &str, number: &Spanned<f64>) -> Option<u32> {
    let is_whole = number.value.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&number.value);
    if !is_whole {
        let message = format!("`{key}` must be a whole number from 1 to {}", u32::MAX);
        walker.report(Code::IllegalRange, number.span, message, "leave the key out for no bound");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
    is_whole.then_some(number.value as u32)
}
