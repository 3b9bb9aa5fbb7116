//! Policy and index → the index that is served under the policy.

use super::parse::{Named, NamedArg};
use super::{Access, Policy};
use crate::checked::{Arg, Cli, Tool, Type};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::index::{Layer, ToolIndex};
use crate::lower::lower;
use crate::raise;
use crate::source::{Source, Spanned};
use crate::suggest::near_misses;
use crate::view::{ArgView, ResolvedTool};

/// A policy that was read and has not been put over tools yet.
#[derive(Clone, Debug)]
pub struct PolicyFile {
    pub(super) source: Source,
    pub(super) policy: Policy,
    pub(super) names: Vec<Named>,
    pub(super) warnings: Diagnostics,
}

/// A policy and what is served under it.
#[derive(Debug)]
pub struct Applied {
    /// The policy.
    pub policy: Policy,
    /// The permitted tools, as the policy describes them.
    pub index: ToolIndex,
    /// What in the policy is likely a mistake.
    pub warnings: Diagnostics,
}

impl PolicyFile {
    /// Puts the policy over an index. `elsewhere` says which tools there are besides, of which it may speak too.
    ///
    /// The index that results knows nothing of the other tools: where it differs from the first it is made anew, so that
    /// not even the words and the ranks of a search tell of them.
    #[must_use]
    pub fn apply(self, index: ToolIndex, elsewhere: &dyn Fn(&str) -> bool) -> Applied {
        let is_elsewhere = |named: &&Named| index.get(&named.tool.value).is_none() && elsewhere(&named.tool.value);
        let here = self.names.iter().filter(|named| !is_elsewhere(named));
        let found: Vec<Diagnostic> = here.filter_map(|named| self.mistaken(named, &index)).collect();
        let mut warnings = self.warnings;
        warnings.extend(found);
        let index = if changes(&self.policy, &index) { narrowed(&self.policy, &index) } else { index };
        Applied { policy: self.policy, index, warnings }
    }

    /// What is likely wrong with a name of the policy.
    fn mistaken(&self, named: &Named, index: &ToolIndex) -> Option<Diagnostic> {
        let tool = index.get(&named.tool.value);
        match (tool, &named.arg) {
            (None, None) => {
                let known = index.tools().map(ResolvedTool::name);
                Some(self.unknown(Code::UnknownTool, "tool", &named.tool, &near_misses(&named.tool.value, known, 3)))
            }
            // It was told with the tool.
            (None, Some(_)) | (Some(_), None) => None,
            (Some(tool), Some(arg)) => match tool.args().find(|known| known.name() == arg.name.value) {
                None => {
                    let near = near_misses(&arg.name.value, tool.args().map(ArgView::name), 3);
                    Some(self.unknown(Code::UnknownArg, "arg", &arg.name, &near))
                }
                Some(known) => self.unusable(tool, known, arg),
            },
        }
    }

    fn unknown(&self, code: Code, what: &str, name: &Spanned<String>, near: &[&str]) -> Diagnostic {
        let help = match near {
            [] => format!("correct the name, or remove the rule: it permits and forbids no {what}"),
            near => format!("did you mean `{}`?", near.join("` or `")),
        };
        self.source.diagnostic(code, name.span, format!("no {what} named `{}` is served", name.value)).help(help)
    }

    /// A rule for an arg that refuses what it was hardly meant to.
    fn unusable(&self, tool: ResolvedTool<'_>, arg: ArgView<'_>, named: &NamedArg) -> Option<Diagnostic> {
        let rule = self.policy.rule(tool.name())?.arg(arg.name())?;
        if let Some(range) = named.range.filter(|_| arg.kind() == Type::Boolean) {
            let message = format!("`{}` is a boolean, so every call that gives it is refused", arg.name());
            return Some(self.source.diagnostic(Code::RangeType, range, message).help("remove `min` and `max`"));
        }
        let default = arg.default().filter(|default| rule.breach(default).is_some())?;
        let message = format!("the default `{default}` of `{}` is not permitted", arg.name());
        let warning = self.source.diagnostic(Code::DefaultDenied, named.name.span, message);
        Some(warning.help("calls that leave the arg out are refused; permit the default if they should not be"))
    }
}

/// Whether an index looks different under a policy.
fn changes(policy: &Policy, index: &ToolIndex) -> bool {
    let is_described = |tool: &str| {
        let rule = policy.rule(tool);
        rule.is_some_and(|rule| rule.description.is_some() || !rule.args.is_empty()) && index.get(tool).is_some()
    };
    policy.access == Access::Disabled || policy.tools.keys().any(|tool| is_described(tool))
}

fn narrowed(policy: &Policy, index: &ToolIndex) -> ToolIndex {
    let clis = index.groups().filter_map(|(cli, tools)| {
        let permitted: Vec<Tool> = tools
            .filter(|tool| policy.permits(tool.name()))
            .map(|tool| restricted(raise::tool(tool), policy))
            .collect();
        let was_empty = cli.tool_rows().range().is_empty() && policy.access == Access::Enabled;
        (was_empty || !permitted.is_empty()).then(|| Cli { tools: permitted, ..raise::cli(cli) })
    });
    ToolIndex::from_configs(vec![Layer::loaded(lower(&clis.collect::<Vec<_>>()))])
}

fn restricted(mut tool: Tool, policy: &Policy) -> Tool {
    let Some(rule) = policy.rule(&tool.name) else { return tool };
    if let Some(description) = &rule.description {
        tool.description.clone_from(description);
    }
    let restricted = |arg: Arg| Arg { rule: rule.arg(&arg.name).cloned(), ..arg };
    tool.args = tool.args.into_iter().map(restricted).collect();
    tool
}
