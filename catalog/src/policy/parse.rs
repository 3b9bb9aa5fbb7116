//! The policy format: tree → [`Policy`], with every mistake reported.

use super::confine::confine;
use super::file::{KeySpans, PolicyFile};
use super::keys::{APPROVAL_KEYS, GENERAL_KEYS, HOOK_KEYS, POLICY_KEYS, SELECTOR_KEYS, TOOL_KEYS};
use super::lines::lines;
use super::parse_arg::arg_rule;
use super::parse_executor::executor;
use super::{Approval, ArgPolicy, NamePattern, Policy, Selector, ToolEntry, ToolRule, UnknownProgram};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::index::ToolIndex;
use crate::model::{Access, JudgeRules, Level, Risk};
use crate::read::config::needs::env_entry;
use crate::read::walk::{Fields, Walker};
use crate::read::yaml::{self, Node, NodeKind};
use crate::source::{Source, Span, Spanned};

/// The approval level if a policy names none; as in `CLImax` 0.5.
const DEFAULT_LEVEL: Level = Level::Write;

/// Help for an empty file.
const FORMAT: &str = "write at least `default: enabled` or `tools:`";

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
    let (file, found) = read_as_far_as_possible(source);
    let diagnostics = Diagnostics::in_order(vec![found]);
    match file {
        Some(file) if !diagnostics.has_errors() => Ok(PolicyFile { warnings: diagnostics, ..file }),
        _ => Err(diagnostics),
    }
}

/// Adds to the errors of a policy file that was refused the warnings about names that the index does not have.
///
/// `elsewhere` returns whether a tool exists outside of the index.
#[must_use]
pub fn with_names(
    source: &Source,
    errors: Diagnostics,
    index: &ToolIndex,
    elsewhere: &dyn Fn(&str) -> bool,
) -> Diagnostics {
    let (file, _) = read_as_far_as_possible(source);
    let mut found: Vec<Diagnostic> = errors.into_iter().collect();
    if let Some(file) = file {
        found.extend(file.name_warnings(index, elsewhere));
        found.extend(file.unknown_prompts(index));
    }
    Diagnostics::in_order(vec![found])
}

/// Reads a policy file, and leaves out what has mistakes.
fn read_as_far_as_possible(source: &Source) -> (Option<PolicyFile>, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let file = yaml::parse(source, &mut found).and_then(|root| policy(source, &root, &mut found));
    if file.is_none() && found.is_empty() {
        found.push(Diagnostic::file(Code::EmptyConfig, source.path(), "policy is empty".to_owned(), FORMAT));
    }
    (file, found)
}

/// Reads the root of a policy file; `None` if it is no mapping.
fn policy(source: &Source, root: &Node, out: &mut Vec<Diagnostic>) -> Option<PolicyFile> {
    let mut walker = Walker::new(source, out);
    if root.is_null() {
        walker.report(Code::EmptyConfig, root.span, "policy is empty".to_owned(), FORMAT);
        return None;
    }

    let mut fields = walker.mapping(root, "a policy", POLICY_KEYS)?;
    let is_general = fields.remaining().all(|(key, _)| GENERAL_KEYS.contains(&key));
    let place = |fields: &Fields<'_>, key: &str| fields.remaining().find(|(own, _)| *own == key).map(|(_, span)| span);
    let mut keys = KeySpans { default: place(&fields, "default"), ..KeySpans::default() };
    let access = fields.word(&mut walker, "default");
    keys.allow = place(&fields, "allow").map(|span| walker.first_line(span));
    let allow = allowed(&mut walker, &mut fields, (access.unwrap_or_default(), keys.allow));
    let deny = fields.list(&mut walker, "deny", selector);
    let tools = fields.entries(&mut walker, "tools", |walker, name, node| Some(tool_entry(walker, name, node)));
    let prompts = fields.list(&mut walker, "prompts", |walker, node| walker.string(node, "an item of `prompts`"));
    let env = fields.entries(&mut walker, "env", env_variable);

    let node = fields.optional("executor");
    let executor = node.and_then(|node| executor(&mut walker, node)).unwrap_or_default();
    keys.executor = node.map(|node| walker.first_line(node.span));
    let node = fields.optional("approval");
    keys.level = node.map(|node| walker.first_line(node.span));
    let mut judgement = JudgeRules::default();
    let (approval, approval_names) = match node {
        Some(node) => approval(&mut walker, node, &mut judgement),
        None => (Approval { global: DEFAULT_LEVEL, ..Approval::default() }, Vec::new()),
    };

    let confine = fields.optional("confine").map(|node| confine(&mut walker, node)).unwrap_or_default();
    let access = access.unwrap_or(Access::Disabled);
    // Whoever lists tools does not expect others to run.
    let is_general = is_general && access == Access::Enabled;
    let unstated = if is_general { UnknownProgram::Read } else { UnknownProgram::Refuse };
    let lines = lines(&mut walker, fields.optional("lines"), unstated);
    if let Some(node) = fields.optional("hook") {
        hook(&mut walker, node, &mut judgement);
    }

    let policy = Policy {
        access,
        allow,
        deny,
        tools,
        prompts: prompts.iter().map(|name| name.value.clone()).collect(),
        env,
        executor,
        approval,
        confine,
        lines,
        judgement,
        programs: Vec::new(),
    };

    Some(PolicyFile { source: source.clone(), policy, prompts, approval_names, keys, warnings: Diagnostics::default() })
}

/// Reads `allow`, which says nothing where all tools are permitted anyway.
fn allowed(
    walker: &mut Walker<'_>,
    fields: &mut Fields<'_>,
    (access, place): (Access, Option<Span>),
) -> Option<Vec<Selector>> {
    let allow = fields.optional("allow").map(|node| walker.list(node, "allow", selector));
    if let (Some(span), Access::Enabled) = (place, access) {
        let message = "`allow` permits nothing more, since `default` is not `disabled`".to_owned();
        walker.report(Code::NothingAllowed, span, message, "write `default: disabled`, or remove `allow`");
    }
    allow
}

/// Reads a selector: a name, a pattern, or a mapping of conditions.
fn selector(walker: &mut Walker<'_>, node: &Node) -> Option<Selector> {
    if matches!(node.kind, NodeKind::Scalar(_)) {
        let name = walker.string(node, "a selector")?;
        return Some(Selector::of_name(&name.value, node.span));
    }

    let mut fields = walker.mapping(node, "a selector", SELECTOR_KEYS)?;
    let [name, cli, tag] = ["name", "cli", "tag"].map(|key| fields.optional_string(walker, key));
    let risk = if fields.has("risk") { Some(fields.word(walker, "risk")?) } else { None };
    let span = walker.first_line(node.span);

    if name.is_none() && cli.is_none() && tag.is_none() && risk.is_none() {
        let message = "a selector without a condition selects every tool".to_owned();
        walker.report(Code::EmptyValue, span, message, "write a condition, such as `cli: git`, or the pattern `'*'`");
        return None;
    }

    let text = |text: Option<Spanned<String>>| text.map(|text| text.value);
    Some(Selector { name: text(name).map(|name| NamePattern::new(&name)), cli: text(cli), risk, tag: text(tag), span })
}

/// Reads the rule of a tool with its name, which is checked even if the rule has a mistake.
fn tool_entry(walker: &mut Walker<'_>, name: Spanned<String>, node: &Node) -> ToolEntry {
    let Spanned { value: name, span } = name;
    let rule = if node.is_null() { ToolRule::default() } else { tool(walker, node).unwrap_or_default() };
    ToolEntry { name: NamePattern::new(&name), span, rule }
}

/// Reads a variable with its value.
fn env_variable(walker: &mut Walker<'_>, name: Spanned<String>, node: &Node) -> Option<(String, String)> {
    let (name, value) = env_entry(walker, name, node)?;
    Some((variable(walker, &name)?, value.value))
}

/// Checks the name of a variable.
fn variable(walker: &mut Walker<'_>, name: &Spanned<String>) -> Option<String> {
    if name.value.is_empty() || name.value.contains(['=', '\0']) {
        let message = format!("`{}` is no name of a variable", name.value);
        walker.report(Code::IllegalName, name.span, message, "write a name such as `GH_TOKEN`");
        return None;
    }
    Some(name.value.clone())
}

/// Reads the rule for a tool.
fn tool(walker: &mut Walker<'_>, node: &Node) -> Option<ToolRule> {
    let mut fields = walker.mapping(node, "a rule for a tool", TOOL_KEYS)?;
    let description = fields.optional_string(walker, "description");
    if let Some(text) = description.as_ref().filter(|text| text.value.trim().is_empty()) {
        let message = "`description` of a tool is empty".to_owned();
        walker.report(Code::EmptyValue, text.span, message, "write a text, or leave the key out");
    }

    let args: Vec<ArgPolicy> = fields.entries(walker, "args", arg_rule);
    Some(ToolRule {
        description: description.map(|text| text.value),
        args,
        require_approval: fields.optional("require_approval").and_then(|node| walker.flag(node, "require_approval")),
    })
}

/// Reads `hook`.
fn hook(walker: &mut Walker<'_>, node: &Node, judgement: &mut JudgeRules) {
    let Some(mut fields) = walker.mapping(node, "`hook`", HOOK_KEYS) else { return };
    let span = walker.first_line(node.span);
    judgement.hook_allow = fields.word(walker, "allow").unwrap_or(judgement.hook_allow);
    judgement.bypass = fields.word(walker, "bypass").unwrap_or_default();
    if judgement.hook_allow == Risk::Destructive {
        let message = "a hook cannot allow what is destructive".to_owned();
        walker.report(Code::WrongType, span, message, "write `allow: read` or `allow: write`");
    }
}

/// Reads `approval`, with the places of the names in it. What it says beyond risks goes to `judgement`.
fn approval(walker: &mut Walker<'_>, node: &Node, judgement: &mut JudgeRules) -> (Approval, Vec<Spanned<String>>) {
    let Some(mut fields) = walker.mapping(node, "`approval`", APPROVAL_KEYS) else {
        return (Approval::default(), Vec::new());
    };

    let global = fields.word(walker, "global").unwrap_or(DEFAULT_LEVEL);
    let headless = fields.word(walker, "headless").unwrap_or_default();
    judgement.project = fields.word(walker, "project").unwrap_or_default();
    judgement.sensitive = fields.word(walker, "sensitive");
    let mut names = Vec::new();
    let tools = fields.entries(walker, "tools", |walker, name, node| {
        let needs_approval = walker.flag(node, &format!("`{}` of `approval.tools`", name.value))?;
        let pattern = NamePattern::new(&name.value);
        names.push(name);
        Some((pattern, needs_approval))
    });

    (Approval { global, headless, tools }, names)
}
