//! Policies: which tools may be called, with what, where, and who is asked first.
//!
//! A policy is read like a config ([`read`]) and then put over an index ([`PolicyFile::apply`]), which leaves an index
//! that holds the permitted tools only. Whoever lists, searches or calls sees that index, so that a hidden tool cannot
//! be found anywhere.

use std::collections::{BTreeMap, BTreeSet};

use crate::table::Catalog;
use crate::view::ResolvedTool;

mod apply;
mod executor;
mod file;
mod format;
mod parse;
mod pattern;
mod rule;

pub use crate::model::{Access, Headless, Level, Runtime, SandboxLimits};
pub use apply::Applied;
pub use executor::{Container, Executor, Sandbox};
pub use file::PolicyFile;
pub use format::schema;
pub use parse::read;
pub use pattern::Pattern;
pub use rule::{ArgRule, RuleViolation};

/// What may be called, and how. The default is what holds without a policy: everything, unasked, on this machine.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    pub(crate) access: Access,
    pub(crate) tools: BTreeMap<String, ToolRule>,
    pub(crate) prompts: BTreeSet<String>,
    pub(crate) executor: Executor,
    pub(crate) approval: Approval,
}

/// What a policy says of one tool.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolRule {
    pub(crate) description: Option<String>,
    pub(crate) args: BTreeMap<String, ArgPolicy>,
    pub(crate) require_approval: Option<bool>,
}

/// What a policy says of one arg.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArgPolicy {
    pub(crate) rule: ArgRule,
    pub(crate) allow_leading_dash: bool,
}

/// Which calls are asked about, and what holds where nobody can be asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Approval {
    pub(crate) global: Level,
    pub(crate) headless: Headless,
    pub(crate) tools: BTreeMap<String, bool>,
}

impl Policy {
    /// The policy that a catalog was made under, as far as it is about calls: tools and args have their part of it in
    /// their rows.
    #[must_use]
    pub fn compiled_in(catalog: &Catalog) -> Self {
        let Some(def) = catalog.policy else { return Self::default() };
        let approval = Approval { headless: def.headless, ..Approval::default() };
        Self { executor: executor::compiled_in(catalog, def.executor), approval, ..Self::default() }
    }

    /// The policy that a catalog was made under, as it is for tools that are added to it.
    #[must_use]
    pub fn for_additions(catalog: &Catalog) -> Option<Self> {
        let def = catalog.policy?;
        let approval = Approval { global: def.level, headless: def.headless, ..Approval::default() };
        Some(Self { access: def.access, approval, ..Self::compiled_in(catalog) })
    }

    /// Whether a catalog is served under this policy as under the one that it was made under.
    pub(crate) fn adds_nothing_to(&self, catalog: &Catalog) -> bool {
        let Approval { global, headless, tools } = &self.approval;
        let compiled_in = Self::compiled_in(catalog);
        let asks_nobody = *global == Level::None && tools.is_empty();
        let changes_no_tool = self.access == Access::Enabled && self.tools.is_empty();
        let is_where_it_was = self.executor == compiled_in.executor && *headless == compiled_in.approval.headless;
        changes_no_tool && asks_nobody && is_where_it_was
    }

    /// Whether tools of this name may be seen and called.
    #[must_use]
    pub fn permits(&self, name: &str) -> bool {
        self.access == Access::Enabled || self.tools.contains_key(name)
    }

    /// Whether prompts of this name may be seen: their texts may tell of tools.
    #[must_use]
    pub fn permits_prompt(&self, name: &str) -> bool {
        self.access == Access::Enabled || self.prompts.contains(name)
    }

    pub(crate) fn rule(&self, name: &str) -> Option<&ToolRule> {
        self.tools.get(name)
    }

    /// Whether somebody is asked before the tool is called: by its own rule, else by the list of tools, else by risk; in any
    /// case if the policy that its catalog was made under has it so.
    #[must_use]
    pub fn asks(&self, tool: ResolvedTool<'_>) -> bool {
        let own = self.rule(tool.name()).and_then(|rule| rule.require_approval);
        let listed = || self.approval.tools.get(tool.name()).copied();
        tool.asks() || own.or_else(listed).unwrap_or_else(|| self.approval.global.covers(tool.risk()))
    }

    /// What holds where nobody can be asked.
    #[must_use]
    pub fn headless(&self) -> Headless {
        self.approval.headless
    }

    /// Where programs run.
    #[must_use]
    pub fn executor(&self) -> &Executor {
        &self.executor
    }
}
