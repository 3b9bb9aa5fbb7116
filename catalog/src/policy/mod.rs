//! Policies: permitted tools, rules for arguments, approval, and the executor.
//!
//! A policy is read like a config ([`read`]) and then applied to an index ([`PolicyFile::apply`]). The resulting index
//! holds the permitted tools only. Lists, searches and calls use that index, so hidden tools appear nowhere.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::Risk;
use crate::table::Catalog;
use crate::view::ResolvedTool;

mod apply;
mod confine;
mod decimal;
mod executor;
mod file;
mod format;
mod parse;
mod pattern;
mod portable;
mod rule;

pub use crate::model::{Access, Headless, Level, Runtime, SandboxLimits};
pub use apply::Applied;
pub use confine::{Confine, ConfineLevel};
pub use executor::{Container, Executor, Sandbox};
pub use file::PolicyFile;
pub use format::schema;
pub(crate) use parse::pattern;
pub use parse::read;
pub use pattern::Pattern;
pub use rule::{ArgRule, RuleViolation};

/// Permitted tools, approval and executor. The default permits every tool, without approval, on this machine.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    pub(crate) access: Access,
    pub(crate) tools: BTreeMap<String, ToolRule>,
    pub(crate) prompts: BTreeSet<String>,
    pub(crate) executor: Executor,
    pub(crate) approval: Approval,
    pub(crate) confine: Confine,
}

/// The rule for one tool.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolRule {
    pub(crate) description: Option<String>,
    pub(crate) args: BTreeMap<String, ArgPolicy>,
    pub(crate) require_approval: Option<bool>,
}

/// The rule for one arg.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArgPolicy {
    pub(crate) rule: ArgRule,
    pub(crate) allow_leading_dash: bool,
}

/// Which calls need approval, and what happens to them if the client cannot ask the user.
#[derive(Clone, Debug, Default)]
pub(crate) struct Approval {
    pub(crate) global: Level,
    pub(crate) headless: Headless,
    pub(crate) tools: BTreeMap<String, bool>,
}

impl Policy {
    /// Returns the policy that a catalog was compiled with, as far as it concerns all calls. Rows of tools and args
    /// hold the rest.
    #[must_use]
    pub fn compiled_in(catalog: &Catalog) -> Self {
        let Some(def) = catalog.policy else { return Self::default() };
        let approval = Approval { headless: def.headless, ..Approval::default() };
        let executor = executor::compiled_in(catalog, def.executor);
        Self { executor, approval, confine: def.confine, ..Self::default() }
    }

    /// Returns the compiled-in policy for tools that are added at run time; `None` if there is none.
    #[must_use]
    pub fn for_additions(catalog: &Catalog) -> Option<Self> {
        let def = catalog.policy?;
        let approval = Approval { global: def.level, headless: def.headless, ..Approval::default() };
        Some(Self { access: def.access, approval, ..Self::compiled_in(catalog) })
    }

    /// Returns whether this policy changes nothing about a catalog and its compiled-in policy.
    pub(crate) fn adds_nothing_to(&self, catalog: &Catalog) -> bool {
        let Approval { global, headless, tools } = &self.approval;
        let compiled_in = Self::compiled_in(catalog);
        let asks_nobody = *global == Level::None && tools.is_empty();
        let changes_no_tool = self.access == Access::Enabled && self.tools.is_empty();
        let is_where_it_was = self.executor == compiled_in.executor && *headless == compiled_in.approval.headless;
        let is_as_confined = self.confine == compiled_in.confine;
        changes_no_tool && asks_nobody && is_where_it_was && is_as_confined
    }

    /// Returns whether the policy permits a tool.
    #[must_use]
    pub fn permits(&self, name: &str) -> bool {
        self.access == Access::Enabled || self.tools.contains_key(name)
    }

    /// Returns whether the policy permits a prompt. Texts of prompts can mention hidden tools.
    #[must_use]
    pub fn permits_prompt(&self, name: &str) -> bool {
        self.access == Access::Enabled || self.prompts.contains(name)
    }

    pub(crate) fn rule(&self, name: &str) -> Option<&ToolRule> {
        self.tools.get(name)
    }

    /// Returns whether calls of the tool need approval, if no argument adds a risk.
    #[must_use]
    pub fn needs_approval(&self, tool: ResolvedTool<'_>) -> bool {
        self.needs_approval_at(tool, tool.risk())
    }

    /// Returns whether a call of this risk needs approval.
    #[must_use]
    pub fn needs_approval_at(&self, tool: ResolvedTool<'_>, risk: Risk) -> bool {
        self.approval_from(tool).is_some_and(|least| risk >= least)
    }

    /// Returns the least risk of the tool's calls that need approval; `None` if none does.
    ///
    /// The tool's own rule decides, then the list of tools, then the level. If the compiled-in policy requires approval,
    /// this one cannot remove it.
    #[must_use]
    pub fn approval_from(&self, tool: ResolvedTool<'_>) -> Option<Risk> {
        let own = self.rule(tool.name()).and_then(|rule| rule.require_approval);
        let here = match own.or_else(|| self.approval.tools.get(tool.name()).copied()) {
            Some(is_required) => is_required.then_some(Risk::Read),
            None => self.approval.global.least(),
        };
        here.into_iter().chain(tool.approval_from()).min()
    }

    /// The rule for calls that need approval if the client cannot ask the user.
    #[must_use]
    pub fn headless(&self) -> Headless {
        self.approval.headless
    }

    /// Which calls are held to the needs of their tools.
    #[must_use]
    pub fn confine(&self) -> Confine {
        self.confine
    }

    /// Returns the policy with the stricter confinement of its own and `other`.
    #[must_use]
    pub fn confined(self, other: Confine) -> Self {
        Self { confine: self.confine.stricter(other), ..self }
    }

    /// Executors: where programs run.
    #[must_use]
    pub fn executor(&self) -> &Executor {
        &self.executor
    }
}
