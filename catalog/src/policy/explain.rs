//! What a policy says about a tool, with the lines of the file that say so.

use super::file::PolicyFile;
use super::{ArgPolicy, Selector, arg_of, gets_directory};
use crate::model::Access;
use crate::source::Span;
use crate::view::{ArgView, ResolvedTool};

/// What a policy says about a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Whether it is served.
    pub is_permitted: bool,
    /// Why.
    pub reason: Reason,
    /// What its rules say about args.
    pub args: Vec<ArgReason>,
    /// The args that are above the tool's risk, and that no rule names.
    pub hidden_args: Vec<String>,
    /// Whether its calls need approval, unless a value says so.
    pub needs_approval: bool,
    /// Why.
    pub approval: Reason,
}

/// A reason, with the line of the policy file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The number of the line; `None` for what holds without a line.
    pub line: Option<usize>,
    /// What the line says.
    pub text: String,
}

/// What one rule says about an arg.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgReason {
    /// The arg's name.
    pub name: String,
    /// The number of the line.
    pub line: usize,
    /// What the rule says, a sentence each.
    pub says: Vec<String>,
}

impl PolicyFile {
    /// Explains what the policy says about a tool that it has not been applied to.
    ///
    /// ```
    /// use climax_catalog::{Diagnostics, Layer, Source, ToolIndex, compile, policy};
    ///
    /// let config = "command: date\ntools: [{name: date_set, description: Set the time, risk: write}]\n";
    /// let catalog = compile(&[Source::new("date.yaml", config.into())?])?.catalog;
    /// let index = ToolIndex::from_configs(vec![Layer::loaded(catalog)]);
    ///
    /// let policy = policy::read(&Source::new("policy.yaml", "default: enabled\ndeny: [date_set]\n".into())?)?;
    /// let explanation = policy.explain(index.get("date_set").expect("the config has it"));
    /// assert!(!explanation.is_permitted);
    /// assert_eq!(explanation.reason.line, Some(2));
    /// # Ok::<(), Diagnostics>(())
    /// ```
    #[must_use]
    pub fn explain(&self, tool: ResolvedTool<'_>) -> Explanation {
        let policy = &self.policy;
        let has_arg = |own: &&ArgPolicy| arg_of(tool, &own.name).is_some() || gets_directory(tool, &own.name);
        let rules = policy.entries(tool.name()).flat_map(|entry| &entry.rule.args).filter(has_arg);
        let hidden = tool.args().filter(|arg| !policy.permits_arg(tool, *arg));
        let hidden = hidden.filter(|arg| policy.arg_policies(tool, arg.name()).is_empty());

        Explanation {
            is_permitted: policy.permits(tool),
            reason: self.permission(tool),
            args: rules.map(|own| self.arg_reason(tool, own)).collect(),
            hidden_args: hidden.map(|arg| arg.name().to_owned()).collect(),
            needs_approval: policy.needs_approval(tool),
            approval: self.approval_reason(tool),
        }
    }

    fn at(&self, span: Span, text: String) -> Reason {
        Reason { line: Some(self.line(span)), text }
    }

    /// Returns why a tool is served or not.
    fn permission(&self, tool: ResolvedTool<'_>) -> Reason {
        let policy = &self.policy;
        let selecting = |list: &'_ [Selector]| list.iter().find(|one| one.selects(tool)).cloned();
        if let Some(selector) = selecting(&policy.deny) {
            return self.at(selector.span, format!("`deny` has {selector}"));
        }

        if policy.selects(tool)
            && let Some(own) = policy.unusable_arg(tool)
        {
            let text = match arg_of(tool, &own.name) {
                Some(_) => format!("no value of `{}` is permitted, and every call needs one", own.name),
                None => format!("the rule demands `{}`, which the tool does not have", own.name),
            };
            return self.at(own.span, text);
        }

        let named = policy.entries(tool.name()).last();
        match (&policy.allow, policy.access, named) {
            (Some(allow), _, _) => match (selecting(allow), self.keys.allow) {
                (Some(selector), _) => self.at(selector.span, format!("`allow` has {selector}")),
                (None, span) => {
                    Reason { line: span.map(|span| self.line(span)), text: "`allow` does not have it".to_owned() }
                }
            },
            (None, Access::Disabled, Some(entry)) => {
                self.at(entry.span, format!("`tools` has `{}`", entry.name.as_str()))
            }
            (None, access, _) => {
                let text = format!("`default` is `{}`", access.as_str());
                Reason { line: self.keys.default.map(|span| self.line(span)), text }
            }
        }
    }

    /// Returns what a rule says about an arg.
    fn arg_reason(&self, tool: ResolvedTool<'_>, own: &ArgPolicy) -> ArgReason {
        let name = arg_of(tool, &own.name).map_or(own.name.as_str(), ArgView::name).to_owned();
        ArgReason { name, line: self.line(own.span), says: sentences(own) }
    }

    /// Returns why calls of a tool need approval or not.
    fn approval_reason(&self, tool: ResolvedTool<'_>) -> Reason {
        let entries = self.policy.entries(tool.name()).filter(|entry| entry.rule.require_approval.is_some());
        if let Some(entry) = entries.last() {
            return self.at(entry.span, format!("`require_approval` of `{}`", entry.name.as_str()));
        }
        if let Some(name) =
            self.approval_names.iter().find(|name| super::NamePattern::new(&name.value).matches(tool.name()))
        {
            return self.at(name.span, format!("`approval.tools` has `{}`", name.value));
        }

        let text = format!("`approval.global` is `{}`", self.policy.approval.global.as_str());
        Reason { line: self.keys.level.map(|span| self.line(span)), text }
    }
}

/// Says a rule in sentences.
fn sentences(own: &ArgPolicy) -> Vec<String> {
    let ArgPolicy { rule, required, denied, shown, allow_leading_dash, name: _, span: _ } = own;
    let mut says = Vec::new();
    let mut say = |holds: bool, text: String| says.extend(holds.then_some(text));
    say(*denied, "no call can give it".to_owned());
    say(*required, "every call must give it".to_owned());
    say(*shown == Some(false), "the published schema does not have it".to_owned());

    if let Some(fixed) = &rule.fixed {
        say(true, format!("every call has the value `{fixed}`, and agents do not give it"));
    }

    say(!rule.values.is_empty(), format!("one of: {}", rule.values.join(", ")));
    say(!rule.within.is_empty(), format!("within {} (checked, not enforced)", rule.within.join(" or ")));
    if let Some(pattern) = &rule.pattern {
        say(true, format!("matches `{}`", pattern.as_str()));
    }

    for (word, bound) in [("at least", rule.min), ("at most", rule.max)] {
        say(bound.is_some(), format!("{word} {}", bound.unwrap_or_default()));
    }

    if let Some(pattern) = &rule.approval {
        say(true, format!("a value that matches `{}` needs approval", pattern.as_str()));
    }

    say(*allow_leading_dash, "it can start with a dash".to_owned());
    if says.is_empty() {
        says.push("any value".to_owned());
    }

    says
}
