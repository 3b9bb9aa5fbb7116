//! What a meta-tool is, and the sets of them that clients see.

use std::borrow::Cow;
use std::fmt;

use climax_catalog::policy::{AskedCage, LineRules, Policy};
use climax_catalog::{Strategy, ToolIndex};
use serde_json::{Map, Value};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::work::{Failure, Work};
use crate::call::Toolbox;

/// A tool by which clients find and call the tools of the catalog.
#[derive(Clone, Copy)]
pub struct MetaTool(&'static Spec);

/// All that there is to say of a meta-tool. Source of the texts: `docs/contract.md`, by their names.
pub(super) struct Spec {
    /// The word for it on the command line.
    pub(super) word: &'static str,
    /// Its name in the protocol.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) effect: Effect,
    /// Returns the description of the tool as a part of a surface.
    pub(super) description: fn(&MetaSurface, &ToolIndex) -> Cow<'static, str>,
    /// Returns the input schema of the tool as a part of a surface.
    pub(super) schema: fn(&MetaSurface) -> Value,
    /// Reads the arguments of a request into the work that answers it.
    pub(super) work: fn(MetaRequest<'_>) -> Result<Work, Failure>,
}

/// What a meta-tool can do to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mcp) enum Effect {
    /// It looks things up in the catalog and in files, and starts no program.
    LooksUp,
    /// It starts programs that change nothing.
    Reads,
    /// It starts programs of any risk.
    Calls,
}

/// A request for a meta-tool.
#[derive(Clone, Copy)]
pub(in crate::mcp) struct MetaRequest<'a> {
    pub(in crate::mcp) surface: &'a MetaSurface,
    pub(in crate::mcp) toolbox: &'a Toolbox,
    pub(in crate::mcp) strategy: Strategy,
    pub(in crate::mcp) arguments: &'a Map<String, Value>,
}

impl MetaTool {
    pub(super) const fn new(spec: &'static Spec) -> Self {
        Self(spec)
    }

    /// Returns the word for it on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        self.0.word
    }

    /// Returns its name in the protocol.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns its title for people.
    pub(in crate::mcp) fn title(self) -> &'static str {
        self.0.title
    }

    /// Returns what it can do to the machine.
    pub(in crate::mcp) fn effect(self) -> Effect {
        self.0.effect
    }

    /// Whether it starts programs, which can take long.
    pub(in crate::mcp) fn starts_calls(self) -> bool {
        self.0.effect != Effect::LooksUp
    }

    /// Returns its description as a part of a surface.
    pub(in crate::mcp) fn description(self, surface: &MetaSurface, index: &ToolIndex) -> Cow<'static, str> {
        (self.0.description)(surface, index)
    }

    /// Returns its input schema as a part of a surface.
    pub(in crate::mcp) fn schema(self, surface: &MetaSurface) -> Value {
        (self.0.schema)(surface)
    }

    /// Reads a request for it into the work that answers it.
    ///
    /// # Errors
    /// The arguments violate the schema, or name nothing.
    pub(in crate::mcp) fn work(self, request: MetaRequest<'_>) -> Result<Work, Failure> {
        (self.0.work)(request)
    }
}

impl PartialEq for MetaTool {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for MetaTool {}

impl fmt::Debug for MetaTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A set of meta-tools, and how they are published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetaSurface {
    tools: Vec<MetaTool>,
    search: SearchForm,
    answers: Answers,
    call_name: CallName,
    own_job_tool: bool,
    widest: AskedCage,
}

impl MetaSurface {
    /// Makes the surface of these meta-tools, in this order.
    pub(super) fn new(tools: Vec<MetaTool>, search: SearchForm) -> Self {
        Self {
            tools,
            search,
            answers: Answers::default(),
            call_name: CallName::default(),
            own_job_tool: false,
            widest: LineRules::default().widest,
        }
    }

    /// Offers `climax_job` as a tool of its own, or not.
    pub(super) fn with_own_job_tool(self, own_job_tool: bool) -> Self {
        Self { own_job_tool, ..self }
    }

    /// Returns it as it is published under a policy.
    pub(in crate::mcp) fn under(&self, policy: &Policy) -> Self {
        Self { widest: policy.lines().rules.widest, ..self.clone() }
    }

    /// The widest that a line may ask its programs to be held by.
    pub(super) fn widest_cage(&self) -> AskedCage {
        self.widest
    }

    /// Publishes the name of a tool as this property.
    #[must_use]
    pub fn with_call_name(self, call_name: CallName) -> Self {
        Self { call_name, ..self }
    }

    /// Answers searches in this form.
    #[must_use]
    pub fn with_answers(self, answers: Answers) -> Self {
        Self { answers, ..self }
    }

    /// The form in which searches are answered.
    pub(in crate::mcp) fn answers(&self) -> Answers {
        self.answers
    }

    /// The meta-tools, in the order of `tools/list`.
    pub(in crate::mcp) fn tools(&self) -> impl Iterator<Item = MetaTool> {
        self.tools.iter().copied()
    }

    /// Whether it has this meta-tool.
    pub(in crate::mcp) fn has(&self, tool: MetaTool) -> bool {
        self.tools.contains(&tool)
    }

    /// Whether `climax_job` is a tool of its own, since no meta-tool could call it by name.
    pub(in crate::mcp) fn has_own_job_tool(&self) -> bool {
        self.own_job_tool
    }

    /// Finds a meta-tool by its name in the protocol.
    pub(in crate::mcp) fn find(&self, name: &str) -> Option<MetaTool> {
        self.tools().find(|tool| tool.name() == name)
    }

    /// The form of `climax_search`.
    pub(in crate::mcp) fn search(&self) -> SearchForm {
        self.search
    }

    /// The property that holds the name of a tool.
    pub(in crate::mcp) fn call_name(&self) -> CallName {
        self.call_name
    }
}

/// The form in which `climax_search` answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Answers {
    /// JSON with the input schema of each tool.
    #[default]
    Full,
    /// Lines: the best tools as signatures, the next by name.
    Compact,
}

impl Answers {
    /// Returns the word for it on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The form of `climax_search`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mcp) enum SearchForm {
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
    pub(in crate::mcp) fn accepted(self) -> [&'static str; 3] {
        let mut names = [Self::ToolName, Self::Tool, Self::Name];
        names.sort_by_key(|name| *name != self);
        names.map(Self::as_str)
    }
}
