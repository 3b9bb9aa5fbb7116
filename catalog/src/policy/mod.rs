//! Policies: permitted tools, rules for arguments, approval, and the executor.
//!
//! A policy is read like a config ([`read`]) and then applied to an index ([`PolicyFile::apply`]). The resulting index
//! holds the permitted tools only. Lists, searches and calls use that index, so hidden tools appear nowhere.

use std::collections::BTreeSet;

use crate::checked::CheckedPolicy;
use crate::model::{Place, Risk};
use crate::needs::EnvValue;
use crate::raise;
use crate::source::Span;
use crate::table::Catalog;
use crate::view::{ArgView, ResolvedTool};

mod apply;
mod confine;
mod explain;
mod file;
mod format;
mod keys;
mod lines;
mod names;
mod parse;
mod parse_arg;
mod parse_executor;
mod restrict;
mod selector;

pub use crate::executor::{Container, Executor, Sandbox};
pub use crate::model::{
    Access, AskedCage, Bypass, Confine, ConfineLevel, Headless, JudgeRules, Level, LineRules, ProjectFiles, Protection,
    Runtime, SandboxLimits, SensitiveRule, UnknownProgram,
};
pub use crate::rule::{ArgRule, Pattern, RuleViolation};
pub use apply::{Applied, names_as_errors, without_names};
pub use explain::{ArgReason, Explanation, Reason};
pub use file::PolicyFile;
pub use format::schema;
pub use lines::Lines;
pub use parse::{read, with_names};
pub use restrict::without_cages;
pub use selector::NamePattern;
pub(crate) use selector::Selector;

/// Permitted tools, approval and executor. The default permits every tool, without approval, on this machine.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    pub(crate) access: Access,
    /// The tools that are permitted; `None` if `tools` says so.
    pub(crate) allow: Option<Vec<Selector>>,
    /// The tools that are not permitted, whatever else says so.
    pub(crate) deny: Vec<Selector>,
    /// In the order of the file.
    pub(crate) tools: Vec<ToolEntry>,
    pub(crate) prompts: BTreeSet<String>,
    /// Variables of every program, with their values.
    pub(crate) env: Vec<(String, String)>,
    pub(crate) executor: Executor,
    pub(crate) approval: Approval,
    pub(crate) confine: Confine,
    pub(crate) lines: Lines,
    pub(crate) judgement: JudgeRules,
    /// The programs of the tools that it was applied to.
    pub(crate) programs: Vec<String>,
}

/// The rule for the tools of a name or pattern.
#[derive(Clone, Debug)]
pub(crate) struct ToolEntry {
    pub(crate) name: NamePattern,
    /// The place of the name in the file.
    pub(crate) span: Span,
    pub(crate) rule: ToolRule,
}

/// The rule for a tool.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolRule {
    pub(crate) description: Option<String>,
    pub(crate) args: Vec<ArgPolicy>,
    pub(crate) require_approval: Option<bool>,
}

/// The rule for one arg.
#[derive(Clone, Debug)]
pub(crate) struct ArgPolicy {
    pub(crate) name: String,
    /// The place of the name in the file.
    pub(crate) span: Span,
    pub(crate) rule: ArgRule,
    pub(crate) allow_leading_dash: bool,
    pub(crate) required: bool,
    /// Whether the published schema has it; `None` leaves that to the config.
    pub(crate) shown: Option<bool>,
    /// Whether no call can give it.
    pub(crate) denied: bool,
}

impl ArgPolicy {
    fn permits_value(&self, value: &str) -> bool {
        self.rule.values.is_empty() || self.rule.values.iter().any(|known| known == value)
    }
}

/// Which calls need approval, and what happens to them if the client cannot ask the user.
#[derive(Clone, Debug, Default)]
pub(crate) struct Approval {
    pub(crate) global: Level,
    pub(crate) headless: Headless,
    pub(crate) tools: Vec<(NamePattern, bool)>,
}

impl Policy {
    /// Returns the policy that a catalog was compiled with, as far as it concerns all calls. Rows of tools and args
    /// hold the rest.
    #[must_use]
    pub fn compiled_in(catalog: &Catalog) -> Self {
        let Some(def) = catalog.policy else { return Self::default().sealed(catalog.sealed) };
        let approval = Approval { headless: def.headless, ..Approval::default() };
        let owned = |list| catalog.list(list).map(str::to_owned).collect();
        Self {
            executor: raise::executor(catalog, def.executor),
            env: catalog.pairs(def.env).map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            approval,
            confine: def.confine,
            lines: Lines { rules: def.lines, send: owned(def.send), ..Lines::default() },
            judgement: def.judgement,
            ..Self::default()
        }
        .sealed(catalog.sealed)
    }

    /// Returns the policy of a binary that serves nothing but what is compiled in, if it is sealed.
    fn sealed(mut self, is_sealed: bool) -> Self {
        if is_sealed {
            self.lines.rules.unknown = Some(UnknownProgram::Refuse);
        }
        self
    }

    /// Returns the compiled-in policy for tools that are added at run time; `None` if there is none.
    #[must_use]
    pub fn for_additions(catalog: &Catalog) -> Option<Self> {
        let def = catalog.policy?;
        let approval = Approval { global: def.level, headless: def.headless, ..Approval::default() };
        let texts: Vec<&str> = catalog.list(def.deny).collect();
        let deny = texts.chunks_exact(4).map(|one| Selector::from_texts([one[0], one[1], one[2], one[3]])).collect();
        Some(Self { access: def.access, deny, approval, ..Self::compiled_in(catalog) })
    }

    /// Returns what a catalog that is compiled with the policy holds of it.
    fn to_checked(&self) -> CheckedPolicy {
        CheckedPolicy {
            access: self.access,
            level: self.approval.global,
            headless: self.approval.headless,
            deny: self.deny.iter().flat_map(Selector::to_texts).collect(),
            env: self.env.clone(),
            confine: self.confine,
            lines: LineRules { unknown: self.lines.fixed_unknown(), ..self.lines.rules },
            send: self.lines.send.clone(),
            // The level of approval is in the rows of tools, and not known when the policy is read back.
            judgement: JudgeRules { sensitive: Some(self.sensitive()), ..self.judgement },
            executor: self.executor.clone(),
        }
    }

    /// Returns whether this policy changes nothing about a catalog and its compiled-in policy.
    pub(crate) fn adds_nothing_to(&self, catalog: &Catalog) -> bool {
        let Approval { global, headless, tools } = &self.approval;
        let compiled_in = Self::compiled_in(catalog);
        let asks_nobody = *global == Level::None && tools.is_empty();
        let changes_no_tool = self.access == Access::Enabled && self.tools.is_empty() && self.deny.is_empty();
        let is_where_it_was = self.executor == compiled_in.executor && *headless == compiled_in.approval.headless;
        let is_as_confined = self.confine == compiled_in.confine;
        let is_as_caged = self.lines == compiled_in.lines;
        changes_no_tool
            && asks_nobody
            && is_where_it_was
            && is_as_confined
            && is_as_caged
            && self.judgement == compiled_in.judgement
            && self.env == compiled_in.env
    }

    /// Returns whether the policy permits a tool.
    ///
    /// `deny` has the last word. A tool without an arg that its rules require or fix is not permitted, and neither is
    /// one of which they deny a required arg.
    #[must_use]
    pub fn permits(&self, tool: ResolvedTool<'_>) -> bool {
        self.selects(tool)
            && self.deny.iter().all(|selector| !selector.selects(tool))
            && self.unusable_arg(tool).is_none()
    }

    /// Returns whether `allow`, `tools` or `default` select a tool.
    fn selects(&self, tool: ResolvedTool<'_>) -> bool {
        match (&self.allow, self.access) {
            (Some(allow), _) => allow.iter().any(|selector| selector.selects(tool)),
            (None, Access::Enabled) => true,
            (None, Access::Disabled) => self.entries(tool.name()).next().is_some(),
        }
    }

    /// Returns the first rule for an arg by which no call of the tool is possible.
    pub(crate) fn unusable_arg(&self, tool: ResolvedTool<'_>) -> Option<&ArgPolicy> {
        let demands = |own: &ArgPolicy| own.required || own.rule.fixed.is_some();
        self.entries(tool.name()).flat_map(|entry| &entry.rule.args).find(|own| match arg_of(tool, &own.name) {
            Some(arg) if self.permits_arg(tool, arg) => false,
            Some(arg) => arg.required() || self.arg_policies(tool, arg.name()).into_iter().any(demands),
            None => demands(own) && !gets_directory(tool, &own.name),
        })
    }

    /// Returns whether the policy permits an arg.
    ///
    /// One above its tool's risk has to be named in a policy that lists tools, and in one that denies tools of that risk.
    /// So whole programs do not widen policies that were written for a few options.
    pub(crate) fn permits_arg(&self, tool: ResolvedTool<'_>, arg: ArgView<'_>) -> bool {
        let rules = self.arg_policies(tool, arg.name());
        let permits = |value: &str| rules.iter().all(|own| own.permits_value(value));
        let has_value = arg.values().len() == 0 || arg.values().any(permits);
        let above = arg.risk().highest().filter(|risk| *risk > tool.risk());
        let has_to_be_named = above
            .is_some_and(|risk| self.lists_tools() || self.deny.iter().any(|selector| selector.selects_at(tool, risk)));
        has_value && rules.iter().all(|own| !own.denied) && (!has_to_be_named || !rules.is_empty())
    }

    /// Returns whether the policy names the tools that it permits, by `allow` or under `default: disabled`.
    fn lists_tools(&self) -> bool {
        self.allow.is_some() || self.access == Access::Disabled
    }

    /// Returns the entries of `tools` that match a name: those of patterns first, then that of the name.
    pub(crate) fn entries(&self, tool: &str) -> impl Iterator<Item = &ToolEntry> {
        let matching = self.tools.iter().filter(move |entry| entry.name.matches(tool));
        let (exact, patterns): (Vec<_>, Vec<_>) = matching.partition(|entry| entry.name.exact().is_some());
        patterns.into_iter().chain(exact)
    }

    /// Returns the rules for an arg of a tool.
    pub(crate) fn arg_policies(&self, tool: ResolvedTool<'_>, name: &str) -> Vec<&ArgPolicy> {
        let rules = self.entries(tool.name()).flat_map(|entry| &entry.rule.args);
        rules.filter(|own| arg_of(tool, &own.name).map_or(own.name.as_str(), ArgView::name) == name).collect()
    }

    /// Returns whether the policy permits a prompt. Texts of prompts can mention hidden tools.
    #[must_use]
    pub fn permits_prompt(&self, name: &str) -> bool {
        self.access == Access::Enabled || self.prompts.contains(name)
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
        let own = self.tools.iter().filter_map(|entry| Some((&entry.name, entry.rule.require_approval?)));
        let listed = self.approval.tools.iter().map(|(name, is_required)| (name, *is_required));
        let here = match own_word(own, tool.name()).or_else(|| own_word(listed, tool.name())) {
            Some(is_required) => is_required.then_some(Risk::Read),
            None => self.approval.global.least(),
        };
        here.into_iter().chain(tool.approval_from()).min()
    }

    /// From which risk on calls need approval, if no rule for their tool says otherwise.
    #[must_use]
    pub fn approval_level(&self) -> Level {
        self.approval.global
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

    /// What becomes of the programs of lines.
    #[must_use]
    pub fn lines(&self) -> &Lines {
        &self.lines
    }

    /// What it says about calls beyond their risk.
    #[must_use]
    pub fn judgement(&self) -> JudgeRules {
        self.judgement
    }

    /// Returns what becomes of calls that print secrets. Unless it is stated, they need approval where anything does.
    #[must_use]
    pub fn sensitive(&self) -> SensitiveRule {
        let asks = self.approval.global != Level::None;
        self.judgement.sensitive.unwrap_or(if asks { SensitiveRule::Ask } else { SensitiveRule::Allow })
    }

    /// Returns whether tools are not permitted, or only those that it names.
    #[must_use]
    pub fn withholds_tools(&self) -> bool {
        self.access == Access::Disabled || !self.deny.is_empty()
    }

    /// The programs of tools that are not served, though a config describes them. Others may be among them.
    #[must_use]
    pub fn described_programs(&self) -> &[String] {
        &self.programs
    }

    /// Returns a policy that knows these programs too as described by a config.
    #[must_use]
    pub fn with_described_programs(mut self, programs: impl IntoIterator<Item = String>) -> Self {
        self.programs.extend(programs);
        self
    }

    /// Returns the policy with the stricter rule for programs of lines that no config describes: its own or `unknown`.
    #[must_use]
    pub fn with_unknown(mut self, unknown: Option<UnknownProgram>) -> Self {
        let other = LineRules { unknown, widest: AskedCage::None, protect: Protection::Restore };
        self.lines.rules = self.lines.rules.stricter(other);
        self
    }

    /// Executors: where programs run.
    #[must_use]
    pub fn executor(&self) -> &Executor {
        &self.executor
    }

    /// Variables of every program, with their values. They go before those of configs and calls.
    pub fn env(&self) -> impl Iterator<Item = (&str, EnvValue<'_>)> {
        self.env.iter().map(|(name, value)| (name.as_str(), EnvValue::decoded(value)))
    }
}

/// Returns what the rules for a tool say: that for its name, else `true` if that of any pattern does.
fn own_word<'p>(rules: impl Iterator<Item = (&'p NamePattern, bool)> + Clone, tool: &str) -> Option<bool> {
    let exact = rules.clone().find(|(name, _)| name.exact() == Some(tool)).map(|(_, word)| word);
    exact.or_else(|| {
        rules.filter(|(name, _)| name.matches(tool)).map(|(_, word)| word).reduce(|one, other| one || other)
    })
}

/// The name by which a policy means the directory of a call, whatever the tool calls it.
pub(crate) const DIRECTORY: &str = "cwd";

/// Returns the arg that a policy means by a name. `cwd` is the directory, if no arg has that name.
pub(crate) fn arg_of<'a>(tool: ResolvedTool<'a>, name: &str) -> Option<ArgView<'a>> {
    let named = tool.args().find(|arg| arg.name() == name);
    named.or_else(|| tool.args().find(|arg| name == DIRECTORY && arg.place() == Place::Cwd))
}

/// Returns whether the policy adds an arg for the directory to a tool that has none.
pub(crate) fn gets_directory(tool: ResolvedTool<'_>, name: &str) -> bool {
    name == DIRECTORY && !tool.is_native() && arg_of(tool, name).is_none()
}
