//! Warnings about names of a policy that do not exist, and about rules that cannot work.

use super::file::PolicyFile;
use super::{ArgPolicy, DIRECTORY, NamePattern, Selector, ToolEntry, arg_of, gets_directory};
use crate::diagnostic::{Code, Diagnostic};
use crate::index::ToolIndex;
use crate::model::{Shape, Type};
use crate::source::{Span, Spanned};
use crate::suggest::near_misses;
use crate::view::{ArgView, ResolvedTool};

/// Tools of command lines, which no catalog has: those of redirections to files.
const TOOLS_OF_LINES: [&str; 2] = ["file_read", "file_write"];

impl PolicyFile {
    /// Returns warnings about names, patterns and selectors that match nothing, and about rules that cannot work.
    ///
    /// `elsewhere` returns whether a tool exists outside of the index.
    pub(super) fn name_warnings(&self, index: &ToolIndex, elsewhere: &dyn Fn(&str) -> bool) -> Vec<Diagnostic> {
        let policy = &self.policy;
        let of_rules = policy.tools.iter().flat_map(|entry| self.entry_warnings(entry, index, elsewhere));
        let listed = self
            .approval_names
            .iter()
            .filter_map(|name| self.unknown_name(&NamePattern::new(&name.value), name.span, index, elsewhere));
        let selectors = policy.allow.iter().flatten().chain(&policy.deny);
        of_rules.chain(listed).chain(selectors.filter_map(|one| self.selector_warning(one, index, elsewhere))).collect()
    }

    /// Returns the warnings about an entry of `tools`.
    fn entry_warnings(
        &self,
        entry: &ToolEntry,
        index: &ToolIndex,
        elsewhere: &dyn Fn(&str) -> bool,
    ) -> Vec<Diagnostic> {
        let matching: Vec<_> = index.tools().filter(|tool| entry.name.matches(tool.name())).collect();
        if let Some(name) = entry.name.exact().filter(|name| TOOLS_OF_LINES.contains(name))
            && !entry.rule.args.is_empty()
        {
            let message = format!("rules for the args of `{name}` are not applied");
            let help = "name the tool without `args`, or leave it out so that lines have no redirections to files";
            return vec![self.source.diagnostic(Code::NoEffect, entry.span, message).help(help)];
        }
        if matching.is_empty() {
            return self.unknown_name(&entry.name, entry.span, index, elsewhere).into_iter().collect();
        }

        let of_arg = |own| match matching.as_slice() {
            [tool] => self.arg_warning(*tool, own),
            tools => self.pattern_arg_warning(entry, tools, own),
        };
        entry.rule.args.iter().filter_map(of_arg).collect()
    }

    /// Returns a warning about a name or pattern that no tool has.
    fn unknown_name(
        &self,
        name: &NamePattern,
        span: Span,
        index: &ToolIndex,
        elsewhere: &dyn Fn(&str) -> bool,
    ) -> Option<Diagnostic> {
        let mut names = index.tools().map(ResolvedTool::name).chain(TOOLS_OF_LINES);
        if names.any(|one| name.matches(one)) || name.exact().is_some_and(elsewhere) {
            return None;
        }
        Some(match name.exact() {
            Some(exact) => {
                let near = near_misses(exact, index.tools().map(ResolvedTool::name), 3);
                self.unknown(Code::UnknownTool, "tool", exact, span, &near)
            }
            None => self.matches_nothing(span, name.as_str()),
        })
    }

    /// Returns a warning about a selector that selects nothing.
    fn selector_warning(
        &self,
        selector: &Selector,
        index: &ToolIndex,
        elsewhere: &dyn Fn(&str) -> bool,
    ) -> Option<Diagnostic> {
        if index.tools().any(|tool| selector.selects(tool)) {
            return None;
        }
        if let Selector { name: Some(name), cli: None, risk: None, tag: None, .. } = selector {
            return self.unknown_name(name, selector.span, index, elsewhere);
        }

        let names: Vec<&str> = index.groups().map(|(cli, _)| cli.name()).collect();
        match selector.cli.as_deref().filter(|cli| !names.contains(cli)) {
            Some(cli) => {
                let near = near_misses(cli, names.iter().copied(), 3);
                Some(self.unknown(Code::UnknownTool, "CLI", cli, selector.span, &near))
            }
            None => Some(self.matches_nothing(selector.span, &selector.to_string())),
        }
    }

    fn matches_nothing(&self, span: Span, selector: &str) -> Diagnostic {
        let message = format!("no tool that is served matches `{selector}`");
        let help = "correct it, or remove it: it permits and forbids no tool; the command `list` names the tools";
        self.source.diagnostic(Code::UnknownTool, span, message).help(help)
    }

    /// Returns a warning about a rule for an arg of one tool.
    fn arg_warning(&self, tool: ResolvedTool<'_>, own: &ArgPolicy) -> Option<Diagnostic> {
        match arg_of(tool, &own.name) {
            Some(arg) => self.rule_warning(arg, own),
            None if gets_directory(tool, &own.name) => None,
            None => {
                let near = near_misses(&own.name, tool.args().map(ArgView::name), 3);
                Some(self.unknown(Code::UnknownArg, "arg", &own.name, own.span, &near))
            }
        }
    }

    /// Returns a warning about a rule for an arg that none of several tools has.
    fn pattern_arg_warning(
        &self,
        entry: &ToolEntry,
        tools: &[ResolvedTool<'_>],
        own: &ArgPolicy,
    ) -> Option<Diagnostic> {
        let exists = own.name == DIRECTORY || tools.iter().any(|tool| arg_of(*tool, &own.name).is_some());
        (!exists).then(|| {
            let message = format!("no tool that matches `{}` has an arg `{}`", entry.name.as_str(), own.name);
            let help = "correct the name, or remove the rule";
            self.source.diagnostic(Code::UnknownArg, own.span, message).help(help)
        })
    }

    /// Returns warnings about the names of prompts that do not exist.
    pub(super) fn unknown_prompts(&self, index: &ToolIndex) -> Vec<Diagnostic> {
        let known = || index.prompts().iter().map(|prompt| prompt.name.as_str());
        let unknown = self.prompts.iter().filter(|name| known().all(|known| known != name.value));
        let warning = |name: &Spanned<String>| {
            let near = near_misses(&name.value, known(), 3);
            self.unknown(Code::UnknownPrompt, "prompt", &name.value, name.span, &near)
        };
        unknown.map(warning).collect()
    }

    fn unknown(&self, code: Code, what: &str, name: &str, span: Span, near: &[&str]) -> Diagnostic {
        let help = match near {
            [] => format!("correct the name, or remove the rule: it permits and forbids no {what}"),
            near => format!("did you mean `{}`?", near.join("` or `")),
        };
        self.source.diagnostic(code, span, format!("no {what} named `{name}` is served")).help(help)
    }

    /// Returns a warning about a rule that refuses every value or the arg's default.
    fn rule_warning(&self, arg: ArgView<'_>, own: &ArgPolicy) -> Option<Diagnostic> {
        let rule = &own.rule;
        if own.denied && arg.required() {
            let message = format!("every call needs `{}`, so the rule hides the tool", arg.name());
            let help = "list the tool under `deny` if it should be hidden";
            return Some(self.source.diagnostic(Code::UnusableRule, own.span, message).help(help));
        }
        if arg.kind() == Type::Boolean && (rule.min.is_some() || rule.max.is_some()) {
            let message = format!("`{}` is a boolean, so every call that gives it is refused", arg.name());
            return Some(self.source.diagnostic(Code::RangeType, own.span, message).help("remove `min` and `max`"));
        }
        if rule.fixed.is_some() && matches!(arg.shape(), Shape::Map(_)) {
            let message = format!("`{}` takes names with values, so no call can have this `value`", arg.name());
            let help = "write `deny`, or a `pattern` for its values";
            return Some(self.source.diagnostic(Code::UnusableRule, own.span, message).help(help));
        }
        if own.denied || own.required || rule.fixed.is_some() {
            return None;
        }

        let default = arg.default().filter(|default| rule.check(default).is_some())?;
        let message = format!("the default `{default}` of `{}` is not permitted", arg.name());
        let warning = self.source.diagnostic(Code::DefaultDenied, own.span, message);
        Some(warning.help("calls that leave the arg out are refused; permit the default if they should not be"))
    }
}
