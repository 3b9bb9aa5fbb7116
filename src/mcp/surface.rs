//! The tools that a client sees: every tool by its own name, or a set of meta-tools.

use std::collections::BTreeSet;

use strum::{EnumString, IntoStaticStr, VariantArray};

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
        starts_calls.then_some(Self::Meta(MetaSurface { own_job_tool, ..meta }))
    }
}

impl Default for Surface {
    fn default() -> Self {
        Self::Meta(MetaSurface::default())
    }
}

/// A set of meta-tools, and how they are published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetaSurface {
    tools: BTreeSet<MetaTool>,
    search: SearchForm,
    call_name: CallName,
    own_job_tool: bool,
}

/// `climax_search` and `climax_call`.
impl Default for MetaSurface {
    fn default() -> Self {
        Self::of([MetaTool::Search, MetaTool::Call])
    }
}

impl MetaSurface {
    /// Makes the surface of these meta-tools, with plain search.
    #[must_use]
    pub fn of(tools: impl IntoIterator<Item = MetaTool>) -> Self {
        Self {
            tools: tools.into_iter().collect(),
            search: SearchForm::Plain,
            call_name: CallName::default(),
            own_job_tool: false,
        }
    }

    /// Makes the surface of `--extended`: search with cursors, call, describe, examples, chain.
    #[must_use]
    pub fn extended() -> Self {
        let tools = [MetaTool::Search, MetaTool::Call, MetaTool::Describe, MetaTool::Examples, MetaTool::Chain];
        Self { search: SearchForm::Paged, ..Self::of(tools) }
    }

    /// Publishes the name of a tool as this property.
    #[must_use]
    pub fn with_call_name(self, call_name: CallName) -> Self {
        Self { call_name, ..self }
    }

    /// The meta-tools, in the order of `tools/list`.
    pub(super) fn tools(&self) -> impl Iterator<Item = MetaTool> {
        self.tools.iter().copied()
    }

    /// Whether it has this meta-tool.
    pub(super) fn has(&self, tool: MetaTool) -> bool {
        self.tools.contains(&tool)
    }

    /// The meta-tool that calls a tool which only reads; `None` if tools cannot be called by name.
    pub(super) fn caller(&self) -> Option<MetaTool> {
        [MetaTool::Call, MetaTool::Read].into_iter().find(|tool| self.has(*tool))
    }

    /// Whether `climax_job` is a tool of its own, since no meta-tool could call it by name.
    pub(super) fn has_own_job_tool(&self) -> bool {
        self.own_job_tool
    }

    /// Finds a meta-tool by its name in the protocol.
    pub(super) fn find(&self, name: &str) -> Option<MetaTool> {
        self.tools().find(|tool| tool.name() == name)
    }

    /// The form of `climax_search`.
    pub(super) fn search(&self) -> SearchForm {
        self.search
    }

    /// The property that holds the name of a tool.
    pub(super) fn call_name(&self) -> CallName {
        self.call_name
    }
}

/// A meta-tool. `tools/list` has them in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum MetaTool {
    /// Finds tools.
    Search,
    /// Calls a tool.
    Call,
    /// Calls a tool that only reads.
    Read,
    /// Runs a command line.
    Run,
    /// Describes tools.
    Describe,
    /// Shows example calls of a tool.
    Examples,
    /// Calls several tools in order.
    Chain,
    /// Runs a program that calls tools.
    #[cfg(has_code)]
    Code,
}

impl MetaTool {
    /// Returns the word for it on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether it starts programs, which can take long.
    fn starts_calls(self) -> bool {
        !matches!(self, Self::Search | Self::Describe | Self::Examples)
    }

    /// Returns its name in the protocol.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Search => "climax_search",
            Self::Call => "climax_call",
            Self::Read => "climax_read",
            Self::Run => "climax_run",
            Self::Describe => "climax_describe",
            Self::Examples => "climax_examples",
            Self::Chain => "climax_chain",
            #[cfg(has_code)]
            Self::Code => "climax_code",
        }
    }
}

/// The form of `climax_search`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchForm {
    /// The best matches.
    Plain,
    /// Pages with cursors, and levels of detail.
    Paged,
}

/// The property in which meta-tools publish the name of a tool. They read all three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum CallName {
    /// `tool_name`.
    #[default]
    ToolName,
    /// `tool`, for clients whose own code has a parameter `tool_name`.
    Tool,
    /// `name`.
    Name,
}

impl CallName {
    /// Returns the property.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns all properties under which the name is read, the published one first.
    pub(super) fn accepted(self) -> [&'static str; 3] {
        let mut names = [Self::ToolName, Self::Tool, Self::Name];
        names.sort_by_key(|name| *name != self);
        names.map(Self::as_str)
    }
}
