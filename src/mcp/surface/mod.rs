//! The tools that a client sees: every tool of the catalog by its own name, or a set of meta-tools.
//!
//! Each meta-tool has a file with its [`spec::Spec`], and stands in [`META_TOOLS`].

mod call;
mod chain;
mod check;
#[cfg(has_code)]
mod code;
mod compact;
mod cursor;
mod describe;
mod examples;
mod paged_search;
mod read;
mod run;
mod search;
mod spec;
mod summary;
mod work;

use climax_catalog::Policy;

pub(super) use self::call::CALL;
pub(super) use self::chain::{CHAIN_KEYS, within};
#[cfg(has_code)]
pub(super) use self::code::{CODE, CODE_KEYS};
pub(crate) use self::describe::described;
pub(crate) use self::examples::permitted_examples;
pub(super) use self::read::READ;
pub(super) use self::run::RUN;
pub(super) use self::search::SEARCH;
#[cfg(feature = "budget")]
pub(crate) use self::search::compact_text;
pub(crate) use self::search::search_text;
#[cfg(has_code)]
pub(super) use self::search::{EntryDetail, search};
pub use self::spec::{Answers, CallName, MetaSurface, MetaTool};
pub(super) use self::spec::{Effect, MetaRequest, SearchForm};
#[cfg(has_code)]
pub(super) use self::work::CodeArguments;
pub(super) use self::work::{CallArguments, Failure, JudgeArguments, RUN_KEYS, RunArguments, Work};

/// All meta-tools, in the order of `tools/list`.
pub const META_TOOLS: &[MetaTool] = &[
    search::SEARCH,
    call::CALL,
    read::READ,
    run::RUN,
    describe::DESCRIBE,
    examples::EXAMPLES,
    chain::CHAIN,
    #[cfg(has_code)]
    code::CODE,
    check::CHECK,
];

/// The tools that a client sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Surface {
    /// Every tool by its own name.
    Classic,
    /// Meta-tools.
    Meta(MetaSurface),
}

impl Surface {
    /// Returns the surface of a server whose calls can go on as jobs: clients can call `climax_job` somehow. `None` if it
    /// has no tool that starts a call.
    #[must_use]
    pub fn with_jobs(self) -> Option<Self> {
        let Self::Meta(meta) = self else { return Some(self) };
        let starts_calls = meta.tools().any(MetaTool::starts_calls);
        let own_job_tool = meta.caller().is_none();
        starts_calls.then_some(Self::Meta(meta.with_own_job_tool(own_job_tool)))
    }

    /// Returns it as it is published under a policy.
    #[must_use]
    pub fn under(&self, policy: &Policy) -> Self {
        match self {
            Self::Classic => Self::Classic,
            Self::Meta(meta) => Self::Meta(meta.under(policy)),
        }
    }

    /// Returns whether it has a tool that judges lines of other shells.
    #[must_use]
    pub fn judges_lines(&self) -> bool {
        matches!(self, Self::Meta(meta) if meta.has(check::CHECK))
    }
}

impl Default for Surface {
    fn default() -> Self {
        Self::Meta(MetaSurface::default())
    }
}

/// `climax_search` and `climax_call`.
impl Default for MetaSurface {
    fn default() -> Self {
        Self::of([SEARCH, CALL])
    }
}

impl MetaSurface {
    /// Makes the surface of these meta-tools, with plain search. They are published in the order of [`META_TOOLS`].
    #[must_use]
    pub fn of(tools: impl IntoIterator<Item = MetaTool>) -> Self {
        Self::in_order(tools, SearchForm::Plain)
    }

    /// Makes the surface of `--extended`: search with cursors, call, describe, examples, chain.
    #[must_use]
    pub fn extended() -> Self {
        let tools = [SEARCH, CALL, describe::DESCRIBE, examples::EXAMPLES, chain::CHAIN];
        Self::in_order(tools, SearchForm::Paged)
    }

    fn in_order(tools: impl IntoIterator<Item = MetaTool>, search: SearchForm) -> Self {
        let chosen: Vec<MetaTool> = tools.into_iter().collect();
        Self::new(META_TOOLS.iter().copied().filter(|tool| chosen.contains(tool)).collect(), search)
    }

    /// The meta-tool that calls a tool which only reads; `None` if tools cannot be called by name.
    pub(super) fn caller(&self) -> Option<MetaTool> {
        [CALL, READ].into_iter().find(|tool| self.has(*tool))
    }
}

impl MetaTool {
    /// Returns the meta-tool of this word on the command line.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        META_TOOLS.iter().copied().find(|tool| tool.word() == word)
    }
}
