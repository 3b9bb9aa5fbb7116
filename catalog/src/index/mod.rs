//! The tool index: the tools that are served, and searches of them.
//!
//! Source: `docs/contract.md`, "Tool index".

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

use crate::model::Risk;
use crate::prompt::Prompt;
use crate::table::{Catalog, Rows};
use crate::view::{CliView, ResolvedTool};

mod explain;
mod floor;
mod foreign;
mod lexical;
mod mention;
mod near;
mod phrase;
mod query;
pub(crate) mod ranked;
mod rarity;
mod readable;
mod score;
mod script;
mod search;
mod sentence;
mod term;
mod tokens;
mod vocabulary;

pub use explain::{FoundTool, Score, TermShare};
pub use search::{Filter, Match, Strategy};
pub(crate) use tokens::{stems, words};

/// A catalog, or some CLIs of it.
#[derive(Clone, Debug)]
pub struct Layer {
    catalog: Cow<'static, Catalog>,
    /// Rows of the catalog's CLIs, in the order in which they are served; `None` is all of them.
    clis: Option<Vec<u32>>,
}

impl Layer {
    /// All of a compiled-in catalog.
    #[must_use]
    pub fn compiled(catalog: &'static Catalog) -> Self {
        Self { catalog: Cow::Borrowed(catalog), clis: None }
    }

    /// All of a catalog that was loaded at run time.
    #[must_use]
    pub fn loaded(catalog: Catalog) -> Self {
        Self { catalog: Cow::Owned(catalog), clis: None }
    }

    /// Only the CLIs with these rows, in this order.
    #[must_use]
    pub fn only(self, clis: Vec<u32>) -> Self {
        Self { clis: Some(clis), ..self }
    }
}

/// A CLI and the number of its served tools.
#[derive(Clone, Copy, Debug)]
pub struct CliSummary<'a> {
    /// The CLI.
    pub cli: CliView<'a>,
    /// How many of its tools are served.
    pub tool_count: usize,
}

/// Layer and row of a tool.
type Id = (usize, u32);

/// Layers and rows of the tools that print resources.
#[derive(Clone, Debug, Default)]
struct Readable {
    tools: Vec<(usize, u32)>,
    /// By their URIs.
    fixed: HashMap<Box<str>, (usize, u32)>,
    /// By what the URIs start with.
    open: Vec<(Box<str>, (usize, u32))>,
}

/// A CLI of a layer.
#[derive(Clone, Copy, Debug)]
struct Segment {
    layer: usize,
    cli: u32,
}

/// Immutable index over catalogs; where two hold a tool of the same name, the later one's is served.
///
/// Building it takes time and memory per CLI and per tool of the layers after the first, none per tool of the first.
#[derive(Clone, Debug)]
pub struct ToolIndex {
    layers: Vec<Layer>,
    /// CLIs in the order in which they are served.
    segments: Vec<Segment>,
    /// Layer and tool row of the tools that a later layer replaces.
    hidden: BTreeSet<Id>,
    /// Made by the first look-up.
    readable: OnceLock<Readable>,
    /// Read by the first look-up.
    prompts: OnceLock<Vec<Prompt>>,
}

impl ToolIndex {
    /// Builds the index; results follow the order of the layers.
    #[must_use]
    pub fn from_configs(layers: Vec<Layer>) -> Self {
        let count = layers.iter().map(|layer| layer.catalog.clis.len()).sum();
        let mut index = Self {
            layers,
            segments: Vec::with_capacity(count),
            hidden: BTreeSet::new(),
            readable: OnceLock::new(),
            prompts: OnceLock::new(),
        };

        for layer in 0..index.layers.len() {
            index.hide_replaced(layer);
            let push = |cli| index.segments.push(Segment { layer, cli });
            match &index.layers[layer].clis {
                Some(clis) => clis.iter().copied().for_each(push),
                None => (0..).take(index.layers[layer].catalog.clis.len()).for_each(push),
            }
        }

        index
    }

    /// The catalog, if the index serves the whole of one and nothing else.
    pub(crate) fn whole(&self) -> Option<&Catalog> {
        match self.layers.as_slice() {
            [Layer { catalog, clis: None }] => Some(catalog),
            _ => None,
        }
    }

    /// Hides the tools of earlier layers that `layer` has too.
    fn hide_replaced(&mut self, layer: usize) {
        let (lower, upper) = self.layers.split_at(layer);
        let catalog = &upper[0].catalog;
        if lower.is_empty() {
            return;
        }

        for (row, tool) in (0..).zip(catalog.tools.iter()) {
            if !upper[0].serves(row) {
                continue;
            }
            let name = catalog.texts.get(tool.name);
            for (below, other) in lower.iter().enumerate() {
                if let Some(row) = other.catalog.find(name) {
                    self.hidden.insert((below, row));
                }
            }
        }
    }

    fn is_visible(&self, id: Id) -> bool {
        self.hidden.is_empty() || !self.hidden.contains(&id)
    }

    /// Lists the CLIs that serve at least one tool, or were empty from the start, in their order.
    pub fn summary(&self) -> impl Iterator<Item = CliSummary<'_>> {
        self.segments.iter().filter_map(|segment| {
            let cli = self.cli(*segment);
            let rows = cli.tool_rows().range();
            let defined = rows.len();
            let tool_count = defined - self.hidden_in(*segment);
            (tool_count > 0 || defined == 0).then_some(CliSummary { cli, tool_count })
        })
    }

    /// Finds the tool of exactly this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<ResolvedTool<'_>> {
        self.find(name).map(|id| self.tool(id))
    }

    fn find(&self, name: &str) -> Option<Id> {
        self.layers.iter().enumerate().rev().find_map(|(at, layer)| {
            let row = layer.catalog.find(name)?;
            (layer.serves(row) && self.is_visible((at, row))).then_some((at, row))
        })
    }

    /// The highest promised risk of the served tools; reads rows of CLIs only, unless some of their tools are hidden.
    #[must_use]
    pub fn promised_risk(&self) -> Risk {
        let worst = |segment: &Segment| {
            if self.hidden_in(*segment) == 0 {
                return self.cli(*segment).promised_risk();
            }
            let Rows(first, end) = self.cli(*segment).tool_rows();
            let served = (first..end).map(|row| (segment.layer, row)).filter(|id| self.is_visible(*id));
            served.map(|id| self.tool(id).promised_risk()).max().unwrap_or(Risk::Read)
        };
        self.segments.iter().map(worst).max().unwrap_or(Risk::Read)
    }

    /// All served tools, in their order.
    pub fn tools(&self) -> impl Iterator<Item = ResolvedTool<'_>> {
        self.groups().flat_map(|(_, tools)| tools)
    }

    /// The CLIs, each with its served tools, in their order.
    pub fn groups(&self) -> impl Iterator<Item = (CliView<'_>, impl Iterator<Item = ResolvedTool<'_>>)> {
        self.segments.iter().map(|segment| {
            let cli = self.cli(*segment);
            let Rows(first, end) = cli.tool_rows();
            let ids = (first..end).map(|row| (segment.layer, row));
            (cli, ids.filter(|id| self.is_visible(*id)).map(|id| self.tool(id)))
        })
    }

    /// Iterates over the programs of all served tools, and their other names; some come more than once. A name of several
    /// words, such as `python3 -m pip`, says nothing about what else its first word runs.
    pub fn programs(&self) -> impl Iterator<Item = &str> {
        self.groups().flat_map(|(cli, tools)| {
            let names = cli.programs().map(|(spelling, _)| spelling).filter(|name| !name.contains(char::is_whitespace));
            let program = cli.words().next();
            let own = tools.filter_map(|tool| tool.words().next()).filter(move |_| program.is_none());
            program.into_iter().chain(names).chain(own)
        })
    }

    fn hidden_in(&self, segment: Segment) -> usize {
        let Rows(first, end) = self.cli(segment).tool_rows();
        self.hidden.range((segment.layer, first)..(segment.layer, end)).count()
    }

    fn cli(&self, segment: Segment) -> CliView<'_> {
        CliView::new(&self.layers[segment.layer].catalog, segment.cli)
    }

    fn tool(&self, (layer, row): Id) -> ResolvedTool<'_> {
        ResolvedTool::new(&self.layers[layer].catalog, row)
    }
}

impl Layer {
    /// Whether a tool changes nothing, unless an argument says otherwise.
    fn reads(&self, tool: u32) -> bool {
        matches!(self.catalog.tools[tool as usize].risk, None | Some(Risk::Read))
    }

    fn serves(&self, tool: u32) -> bool {
        self.clis.as_ref().is_none_or(|clis| clis.contains(&self.catalog.tools[tool as usize].cli))
    }
}

/// Lowercases each character by itself, so that a part of a text is lowercased as it is within the whole.
pub(crate) fn lowercase(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}
