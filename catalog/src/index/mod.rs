//! The tool index: what is served, and how it is found (seed 001).

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::OnceLock;

use crate::model::Risk;
use crate::prompt::Prompt;
use crate::table::{Catalog, Rows};
use crate::view::{CliView as Cli, ResolvedTool, ToolIndexEntry};

mod lexical;
mod query;
pub(crate) mod ranked;
mod readable;
mod score;
mod tokens;
mod vocabulary;

use readable::Readable;
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

/// What one CLI has to offer (seed 001, `CLISummary`).
#[derive(Clone, Copy, Debug)]
pub struct CliSummary<'a> {
    /// The CLI.
    pub cli: Cli<'a>,
    /// How many of its tools are served.
    pub tool_count: usize,
}

/// Which tools a search is about; all given filters must match.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter<'a> {
    /// Literal text, found case-insensitively within a field.
    pub query: Option<&'a str>,
    /// The whole category, case-insensitively.
    pub category: Option<&'a str>,
    /// The whole CLI name, case-insensitively.
    pub cli: Option<&'a str>,
}

/// How a query finds tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// As a substring of a field, in the order of definition (seed 001).
    Lexical,
    /// By its words, best first.
    Bm25,
    /// As [`Strategy::Lexical`]; only where that finds nothing at all, as [`Strategy::Bm25`].
    #[default]
    Auto,
}

impl Strategy {
    /// All strategies.
    pub const ALL: [Self; 3] = [Self::Lexical, Self::Bm25, Self::Auto];

    /// The strategy's name on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lexical => "lexical",
            Self::Bm25 => "bm25",
            Self::Auto => "auto",
        }
    }
}

/// Tools that a ranked search finds at most: what comes after them has little to do with the query.
const MAX_RANKED: usize = 100;

/// Words that [`ToolIndex::unmatched_words`] names.
const MAX_UNMATCHED_WORDS: usize = 32;

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
    hidden: BTreeSet<(usize, u32)>,
    /// Made when somebody asks for it.
    readable: OnceLock<Readable>,
    /// Read when somebody asks for them.
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

    /// Finds tools; the first `limit` that match, in the order of their definition.
    #[must_use]
    pub fn search(&self, filter: Filter<'_>, limit: usize) -> Vec<ToolIndexEntry<'_>> {
        let lowercased = filter.query.map(lowercase);
        let query = lowercased.as_deref().map(lexical::Query::new);
        let rows = self.runs(filter).into_iter().flat_map(|(layer, rows)| {
            lexical::matching(&self.layers[layer].catalog.search, rows, query.as_ref()).map(move |row| (layer, row))
        });
        rows.filter(|id| self.is_visible(*id)).take(limit).map(|id| self.tool(id).entry()).collect()
    }

    /// The tools of the CLIs that match, as few runs of adjacent rows: one search of a long text is faster than many of
    /// short ones.
    fn runs(&self, filter: Filter<'_>) -> Vec<(usize, Rows)> {
        let mut runs: Vec<(usize, Rows)> = Vec::new();
        for segment in self.segments.iter().filter(|segment| self.matches(**segment, filter)) {
            let rows = self.cli(*segment).tool_rows();
            match runs.last_mut() {
                Some((layer, last)) if *layer == segment.layer && last.1 == rows.0 => last.1 = rows.1,
                _ => runs.push((segment.layer, rows)),
            }
        }
        runs
    }

    /// Finds tools by a strategy. A query without words, or none, finds what [`Self::search`] finds.
    #[must_use]
    pub fn search_by(&self, strategy: Strategy, filter: Filter<'_>, limit: usize) -> Vec<ToolIndexEntry<'_>> {
        let literal = match strategy {
            Strategy::Lexical => return self.search(filter, limit),
            Strategy::Auto => self.search(filter, limit.max(1)),
            Strategy::Bm25 => Vec::new(),
        };
        if !literal.is_empty() {
            return literal.into_iter().take(limit).collect();
        }
        let request = filter.query.map(query::Request::new).filter(|request| !request.terms.is_empty());
        request.map_or_else(|| self.search(filter, limit), |request| self.rank(&request, filter, limit))
    }

    /// The words of a query that no tool knows, in their order, at most 32.
    #[must_use]
    pub fn unmatched_words(&self, query: &str) -> Vec<String> {
        let is_known = |word: &String| {
            let stem = tokens::stem(word);
            self.layers.iter().any(|layer| layer.catalog.ranked.find(&stem).is_some())
        };
        let words = tokens::words(query).filter(|word| !tokens::is_stop_word(word) && !is_known(word));
        words.take(MAX_UNMATCHED_WORDS).collect()
    }

    fn rank(&self, request: &query::Request, filter: Filter<'_>, limit: usize) -> Vec<ToolIndexEntry<'_>> {
        let (terms, scores) = score::scores(self, request);
        let rows = self
            .runs(filter)
            .into_iter()
            .flat_map(|(layer, Rows(first, end))| (first..end).map(move |row| (layer, row)));
        let found = rows.filter_map(|id| Some((scores.get(id)?, id))).filter(|(_, id)| self.is_visible(*id));
        // What the request is about does not depend on how much of the answer is wanted.
        let best: Vec<_> = score::best(found, limit.clamp(score::LOOKED_AT, MAX_RANKED)).collect();
        let is_served = best.is_empty() || score::is_served(self, request, &terms, &best);
        best.into_iter().filter(|_| is_served).take(limit).map(|id| self.tool(id).entry()).collect()
    }

    fn is_visible(&self, id: (usize, u32)) -> bool {
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
        let found = self.layers.iter().enumerate().rev().find_map(|(at, layer)| {
            let row = layer.catalog.find(name)?;
            (layer.serves(row) && self.is_visible((at, row))).then_some((at, row))
        });
        found.map(|id| self.tool(id))
    }

    /// The most that a served tool may do to the world; reads rows of CLIs only, unless some of their tools are hidden.
    #[must_use]
    pub fn risk(&self) -> Risk {
        let worst = |segment: &Segment| {
            if self.hidden_in(*segment) == 0 {
                return self.cli(*segment).risk();
            }
            let Rows(first, end) = self.cli(*segment).tool_rows();
            let served = (first..end).map(|row| (segment.layer, row)).filter(|id| self.is_visible(*id));
            served.map(|id| self.tool(id).risk()).max().unwrap_or(Risk::Read)
        };
        self.segments.iter().map(worst).max().unwrap_or(Risk::Read)
    }

    /// All served tools, in their order.
    pub fn tools(&self) -> impl Iterator<Item = ResolvedTool<'_>> {
        self.groups().flat_map(|(_, tools)| tools)
    }

    /// The CLIs, each with its served tools, in their order.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (Cli<'_>, impl Iterator<Item = ResolvedTool<'_>>)> {
        self.segments.iter().map(|segment| {
            let cli = self.cli(*segment);
            let Rows(first, end) = cli.tool_rows();
            let ids = (first..end).map(|row| (segment.layer, row));
            (cli, ids.filter(|id| self.is_visible(*id)).map(|id| self.tool(id)))
        })
    }

    fn matches(&self, segment: Segment, filter: Filter<'_>) -> bool {
        let cli = self.cli(segment);
        filter.cli.is_none_or(|name| same(name, cli.name()))
            && filter.category.is_none_or(|category| cli.category().is_some_and(|own| same(category, own)))
    }

    fn hidden_in(&self, segment: Segment) -> usize {
        let Rows(first, end) = self.cli(segment).tool_rows();
        self.hidden.range((segment.layer, first)..(segment.layer, end)).count()
    }

    fn cli(&self, segment: Segment) -> Cli<'_> {
        Cli::new(&self.layers[segment.layer].catalog, segment.cli)
    }

    fn tool(&self, (layer, row): (usize, u32)) -> ResolvedTool<'_> {
        ResolvedTool::new(&self.layers[layer].catalog, row)
    }
}

impl Layer {
    fn serves(&self, tool: u32) -> bool {
        self.clis.as_ref().is_none_or(|clis| clis.contains(&self.catalog.tools[tool as usize].cli))
    }
}

/// Lowercases each character by itself, so that a part of a text is lowercased as it is within the whole.
pub(crate) fn lowercase(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

fn same(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || lowercase(a) == lowercase(b)
}
