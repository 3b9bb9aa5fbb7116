//! Policy and index → the index of the permitted tools.

use super::file::{Named, NamedArg, PolicyFile};
use super::{Executor, Policy};
use crate::index::{Layer, ToolIndex};
use crate::lower::lower;
use crate::model::{Access, Headless, Type};
use crate::prompt::Prompt;
use crate::raise;
use crate::read::checked::{CheckedArg, CheckedCli, CheckedGroup, CheckedTool};
use crate::read::compile::Compiled;
use crate::read::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::read::source::Spanned;
use crate::suggest::near_misses;
use crate::table::Catalog;
use crate::view::{ArgView, ResolvedTool};

/// A policy and the index of the tools that it permits.
#[derive(Debug)]
pub struct Applied {
    /// The policy.
    pub policy: Policy,
    /// The permitted tools, with the descriptions of the policy.
    pub index: ToolIndex,
    /// Likely mistakes in the policy.
    pub warnings: Diagnostics,
}

impl PolicyFile {
    /// Restricts the policy to what the compiled-in policy permits.
    ///
    /// # Errors
    /// The policy has another executor than the compiled-in policy.
    pub fn narrowing(mut self, compiled_in: &Policy) -> Result<Self, Diagnostics> {
        if compiled_in.headless() == Headless::Deny {
            self.policy.approval.headless = Headless::Deny;
        }
        self.policy.confine = self.policy.confine.stricter(compiled_in.confine);
        match (&compiled_in.executor, self.executor) {
            (Executor::Local, _) => {}
            (fixed, Some(span)) if *fixed != self.policy.executor => {
                let message = "the compiled-in policy says where programs run, and it is not here";
                let error = self.source.diagnostic(Code::Widening, span, message);
                let mut all = Diagnostics::default();
                all.push(
                    error.help("remove `executor`: a policy at run time can only narrow the one that is compiled in"),
                );
                return Err(all);
            }
            (fixed, _) => self.policy.executor = fixed.clone(),
        }
        Ok(self)
    }

    /// Applies the policy to an index. `elsewhere` returns whether a tool exists outside of the index.
    ///
    /// The resulting index holds the permitted tools only. Where the policy changes anything it is built from scratch,
    /// so that words and ranks of a search do not reveal hidden tools.
    ///
    /// # Errors
    /// The permitted tools of all layers together do not fit one catalog.
    ///
    /// ```
    /// use climax_catalog::{Diagnostics, Layer, Source, ToolIndex, compile, policy};
    ///
    /// let config = "command: date\ntools:\n  - {name: date_now, description: Show the time}\n  \
    ///               - {name: date_set, description: Set the time, risk: write}\n";
    /// let catalog = compile(&[Source::new("date.yaml", config.into())?])?.catalog;
    /// let index = ToolIndex::from_configs(vec![Layer::loaded(catalog)]);
    ///
    /// let policy = policy::read(&Source::new("policy.yaml", "tools: {date_now: {}}\n".into())?)?;
    /// let applied = policy.apply(index, &|_| false)?;
    /// assert!(applied.index.get("date_now").is_some());
    /// assert!(applied.index.get("date_set").is_none());
    /// # Ok::<(), Diagnostics>(())
    /// ```
    pub fn apply(self, index: ToolIndex, elsewhere: &dyn Fn(&str) -> bool) -> Result<Applied, Diagnostics> {
        let is_elsewhere = |named: &&Named| index.get(&named.tool.value).is_none() && elsewhere(&named.tool.value);
        let here = self.names.iter().filter(|named| !is_elsewhere(named));
        let found: Vec<Diagnostic> = here.filter_map(|named| self.name_warning(named, &index)).collect();
        let unknown: Vec<Diagnostic> = self.unknown_prompts(&index);
        let mut warnings = self.warnings;
        warnings.extend(found);
        warnings.extend(unknown);
        let index = if changes(&self.policy, &index) {
            ToolIndex::from_configs(vec![Layer::loaded(lowered(&self.policy, &index, None)?)])
        } else {
            index
        };
        if index.tools().next().is_none() {
            let message = "the policy permits no tool that is served".to_owned();
            let help = "name tools under `tools:`, or write `default: enabled`";
            warnings.push(Diagnostic::file(Code::NothingPermitted, self.source.path(), message, help));
        }
        Ok(Applied { policy: self.policy, index, warnings })
    }

    /// Compiles the policy into a catalog.
    ///
    /// # Errors
    /// The policy names tools or args that do not exist, or the tools no longer fit one catalog.
    pub fn compile_in(self, catalog: Catalog) -> Result<Compiled, Diagnostics> {
        let index = ToolIndex::from_configs(vec![Layer::loaded(catalog)]);
        let found: Vec<Diagnostic> = self.names.iter().filter_map(|named| self.name_warning(named, &index)).collect();
        let mut warnings = self.warnings;
        warnings.extend(found.into_iter().map(|one| match one.code() {
            Code::UnknownTool | Code::UnknownArg => one.into_error(),
            _ => one,
        }));
        if warnings.has_errors() {
            return Err(warnings);
        }
        Ok(Compiled { catalog: lowered(&self.policy, &index, Some(&self.policy))?, warnings })
    }

    /// Returns a warning about a name that does not exist, or a rule that cannot work.
    fn name_warning(&self, named: &Named, index: &ToolIndex) -> Option<Diagnostic> {
        let tool = index.get(&named.tool.value);
        match (tool, &named.arg) {
            (None, None) => {
                let known = index.tools().map(ResolvedTool::name);
                Some(self.unknown(Code::UnknownTool, "tool", &named.tool, &near_misses(&named.tool.value, known, 3)))
            }
            // Reported with the tool.
            (None, Some(_)) | (Some(_), None) => None,
            (Some(tool), Some(arg)) => match tool.args().find(|known| known.name() == arg.name.value) {
                None => {
                    let near = near_misses(&arg.name.value, tool.args().map(ArgView::name), 3);
                    Some(self.unknown(Code::UnknownArg, "arg", &arg.name, &near))
                }
                Some(known) => self.rule_warning(tool, known, arg),
            },
        }
    }

    fn unknown_prompts(&self, index: &ToolIndex) -> Vec<Diagnostic> {
        let known = || index.prompts().iter().map(|prompt| prompt.name.as_str());
        let unknown = self.prompts.iter().filter(|name| known().all(|known| known != name.value));
        let unknown = unknown
            .map(|name| self.unknown(Code::UnknownPrompt, "prompt", name, &near_misses(&name.value, known(), 3)));
        unknown.collect()
    }

    fn unknown(&self, code: Code, what: &str, name: &Spanned<String>, near: &[&str]) -> Diagnostic {
        let help = match near {
            [] => format!("correct the name, or remove the rule: it permits and forbids no {what}"),
            near => format!("did you mean `{}`?", near.join("` or `")),
        };
        self.source.diagnostic(code, name.span, format!("no {what} named `{}` is served", name.value)).help(help)
    }

    /// Returns a warning about a rule that refuses every value or the arg's default.
    fn rule_warning(&self, tool: ResolvedTool<'_>, arg: ArgView<'_>, named: &NamedArg) -> Option<Diagnostic> {
        let rule = &self.policy.rule(tool.name())?.args.get(arg.name())?.rule;
        if let Some(range) = named.range.filter(|_| arg.kind() == Type::Boolean) {
            let message = format!("`{}` is a boolean, so every call that gives it is refused", arg.name());
            return Some(self.source.diagnostic(Code::RangeType, range, message).help("remove `min` and `max`"));
        }
        let default = arg.default().filter(|default| rule.check(default).is_some())?;
        let message = format!("the default `{default}` of `{}` is not permitted", arg.name());
        let warning = self.source.diagnostic(Code::DefaultDenied, named.name.span, message);
        Some(warning.help("calls that leave the arg out are refused; permit the default if they should not be"))
    }
}

impl Policy {
    /// Applies a compiled-in policy to tools that are added at run time.
    ///
    /// # Errors
    /// The tools no longer fit one catalog.
    pub fn admit(&self, catalog: Catalog) -> Result<Catalog, Diagnostics> {
        lowered(self, &ToolIndex::from_configs(vec![Layer::loaded(catalog)]), None)
    }
}

/// Lowers the permitted tools; the catalog holds the policy `for_good` if there is one.
fn lowered(policy: &Policy, index: &ToolIndex, for_good: Option<&Policy>) -> Result<Catalog, Diagnostics> {
    lower(&narrowed(policy, index), for_good).map_err(|overflow| {
        let mut all = Diagnostics::default();
        all.push(overflow.diagnostic());
        all
    })
}

/// Returns whether the policy changes anything about the index.
fn changes(policy: &Policy, index: &ToolIndex) -> bool {
    let is_described = |tool: &str| {
        let rule = policy.rule(tool);
        rule.is_some_and(|rule| rule.description.is_some() || !rule.args.is_empty()) && index.get(tool).is_some()
    };
    let forbids_args = || index.tools().any(|tool| tool.args().any(|arg| !permits_arg(policy, tool, arg)));
    policy.access == Access::Disabled || policy.tools.keys().any(|tool| is_described(tool)) || forbids_args()
}

/// Returns whether the policy permits an arg: one above its tool's risk only if the policy names it.
///
/// So a policy that was written for a few options is not widened by new ones.
fn permits_arg(policy: &Policy, tool: ResolvedTool<'_>, arg: ArgView<'_>) -> bool {
    let is_above = arg.risk().highest().is_some_and(|risk| risk > tool.risk());
    !is_above || policy.rule(tool.name()).is_some_and(|rule| rule.args.contains_key(arg.name()))
}

/// Returns the permitted tools, with their rules and descriptions.
fn narrowed(policy: &Policy, index: &ToolIndex) -> Vec<CheckedCli> {
    let clis = index.groups().filter_map(|(cli, tools)| {
        let permits = |prompt: &Spanned<Prompt>| policy.permits_prompt(&prompt.value.name);
        let permitted: Vec<CheckedTool> =
            tools.filter(|tool| policy.permits(tool.name())).map(|tool| restricted(tool, policy)).collect();
        let was_empty = cli.tool_rows().range().is_empty() && policy.access == Access::Enabled;
        (was_empty || !permitted.is_empty()).then(|| {
            let cli = raise::cli(cli);
            let prompts = cli.prompts.into_iter().filter(permits).collect();
            CheckedCli { tools: permitted, prompts, ..cli }
        })
    });
    clis.collect()
}

/// Adds the rules of a policy to a tool. Rules of an earlier policy remain.
fn restricted(view: ResolvedTool<'_>, policy: &Policy) -> CheckedTool {
    let tool = raise::tool(view);
    let rule = policy.rule(&tool.name);
    let description = rule.and_then(|rule| rule.description.clone());
    let restricted = |mut arg: CheckedArg| {
        let own = rule.and_then(|rule| rule.args.get(&arg.name));
        arg.rules.extend(own.map(|own| own.rule.clone()));
        let allowed = own.map(|own| own.allow_leading_dash);
        arg.leading_dash = Some(match arg.leading_dash {
            None => allowed.unwrap_or(false),
            Some(before) => before && allowed.unwrap_or(true),
        });
        arg
    };
    let forbidden: Vec<&str> = view.args().filter(|arg| !permits_arg(policy, view, *arg)).map(ArgView::name).collect();
    let permits = |name: &str| !forbidden.contains(&name);
    let group = |mut group: CheckedGroup| {
        group.args.retain(|name| permits(name));
        (group.args.len() > 1).then_some(group)
    };
    CheckedTool {
        approval_from: policy.approval_from(view),
        description: description.unwrap_or(tool.description),
        args: tool.args.into_iter().filter(|arg| permits(&arg.name)).map(restricted).collect(),
        groups: tool.groups.into_iter().filter_map(group).collect(),
        ..tool
    }
}
