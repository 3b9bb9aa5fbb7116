//! Searches of the index, by each strategy.

use super::foreign;
use super::lexical;
use super::query::Request;
use super::rarity::fixed;
use super::score;
use super::{Id, Segment, ToolIndex, lowercase, sentence, tokens};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::table::Rows;
use crate::view::ToolIndexEntry;

/// Which tools a search is about; all given filters must match.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter<'a> {
    /// Text to look for; how depends on the [`Strategy`].
    pub query: Option<&'a str>,
    /// The whole category, case-insensitively.
    pub category: Option<&'a str>,
    /// The whole CLI name, case-insensitively.
    pub cli: Option<&'a str>,
}

impl Filter<'_> {
    /// Whether it says already which CLIs the query is about.
    pub(super) fn is_narrow(&self) -> bool {
        self.cli.is_some() || self.category.is_some()
    }
}

/// How a query finds tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Strategy {
    /// As a substring of a field, in the order of definition.
    Lexical,
    /// By its words, best first.
    Bm25,
    /// As [`Strategy::Lexical`], best first; then as [`Strategy::Bm25`].
    #[default]
    Auto,
}

impl Strategy {
    /// The strategy's name on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// How a tool was found, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Match {
    /// By its rank alone.
    Rank,
    /// A field holds the query.
    Field,
    /// The query is a word of the tool's name, or some adjacent ones.
    NameWord,
    /// The query is the tool's name.
    Name,
}

/// Tools that are found by their rank alone, at most: later ones have little to do with the query.
const MAX_RANKED: usize = 100;

/// Share of the best score below which [`Strategy::Auto`] ends a list, unless a filter says what it is about.
pub(super) const FALL: f64 = 0.6;
/// Tools found by rank alone that a list has in any case.
const LEAST_RANKED: usize = 3;

/// Words of a query that are compared with those of a name, which is far shorter.
const MAX_NAME_WORDS: usize = 64;

/// Words that [`ToolIndex::unmatched_words`] names.
const MAX_UNMATCHED_WORDS: usize = 32;

impl ToolIndex {
    /// Finds the first `limit` tools that hold the query as a substring of a field, in the order of their definition.
    #[must_use]
    pub fn search(&self, filter: Filter<'_>, limit: usize) -> Vec<ToolIndexEntry<'_>> {
        let lowercased = filter.query.map(lowercase);
        let query = lowercased.as_deref().map(lexical::Query::new);
        self.entries(self.substring_matches(filter, query.as_ref()).take(limit))
    }

    /// Finds tools by a strategy. A query without words, or none, finds what [`Self::search`] finds.
    #[must_use]
    pub fn search_by(&self, strategy: Strategy, filter: Filter<'_>, limit: usize) -> Vec<ToolIndexEntry<'_>> {
        match self.read(strategy, filter) {
            Some((request, literal)) => {
                let share = if strategy == Strategy::Auto { FALL } else { 0.0 };
                self.entries(self.rank(&request, filter, &literal, limit, share))
            }
            None => self.search(filter, limit),
        }
    }

    /// Finds tools as [`Self::search_by`] does, without an end where the score falls.
    #[must_use]
    pub fn search_deep(&self, strategy: Strategy, filter: Filter<'_>, limit: usize) -> Vec<ToolIndexEntry<'_>> {
        match self.read(strategy, filter) {
            Some((request, literal)) => self.entries(self.rank(&request, filter, &literal, limit, 0.0)),
            None => self.search(filter, limit),
        }
    }

    /// The request and the literal matches of a query that is ranked; `None` for other searches.
    pub(super) fn read(&self, strategy: Strategy, filter: Filter<'_>) -> Option<(Request, Literal)> {
        let query = filter.query.filter(|query| strategy != Strategy::Lexical && !query.is_empty())?;
        let request = Request::new(query, |word| self.knows(word));
        if strategy == Strategy::Auto {
            return Some((request, self.literal(filter, query)));
        }
        (!request.sentences.is_empty()).then(|| (request, Literal::default()))
    }

    /// The words of a query that no tool knows, in their order, at most 32.
    #[must_use]
    pub fn unmatched_words(&self, query: &str) -> Vec<String> {
        let english = foreign::english(query, |word| !sentence::is_content(word), |word| self.knows(word));
        let query = english.as_deref().unwrap_or(query);
        let words = tokens::words(query).filter(|word| sentence::is_content(word) && !self.knows(word));
        words.take(MAX_UNMATCHED_WORDS).collect()
    }

    /// Whether a tool has a lowercased word.
    fn knows(&self, word: &str) -> bool {
        let stem = tokens::stem(word);
        self.layers.iter().any(|layer| layer.catalog.ranked.find(&stem).is_some())
    }

    fn entries(&self, ids: impl IntoIterator<Item = Id>) -> Vec<ToolIndexEntry<'_>> {
        ids.into_iter().map(|id| self.tool(id).entry()).collect()
    }

    /// The tools with a field that holds the query, in their order; without a query all of them.
    fn substring_matches<'a>(
        &'a self,
        filter: Filter<'_>,
        query: Option<&'a lexical::Query<'_>>,
    ) -> impl Iterator<Item = Id> + use<'a> {
        let found = self.runs(filter).into_iter().flat_map(move |(layer, rows)| {
            lexical::matching(&self.layers[layer].catalog.search, rows, query).map(move |row| (layer, row))
        });
        found.filter(|id| self.is_visible(*id))
    }

    fn literal(&self, filter: Filter<'_>, query: &str) -> Literal {
        let words: Vec<_> = tokens::words(query).take(MAX_NAME_WORDS).collect();
        let lowercased = lowercase(query.trim());
        let mut ids: Vec<_> = self.substring_matches(filter, Some(&lexical::Query::new(&lowercased))).collect();
        let named = ["_", "-"].iter().find_map(|separator| self.find(&words.join(separator)));
        let runs = self.runs(filter);
        let is_let_through =
            |(layer, row): &Id| runs.iter().any(|(of, rows)| of == layer && rows.range().contains(&(*row as usize)));
        ids.extend(named.filter(|id| !ids.contains(id) && is_let_through(id)));

        Literal { words, ids }
    }

    /// The literal matches, best first, then what ranking alone finds.
    pub(super) fn rank(
        &self,
        request: &Request,
        filter: Filter<'_>,
        literal: &Literal,
        limit: usize,
        share: f64,
    ) -> Vec<Id> {
        let runs = self.runs(filter);
        let is_narrowed = filter.is_narrow();
        let mut scores = score::scores(self, request, &runs, is_narrowed);
        let literals: Vec<_> =
            literal.ids.iter().map(|id| ((literal.match_of(self.tool(*id).name()), scores.take(*id)), *id)).collect();
        // A filter says already what the request is about.
        let ranked = (scores.is_served || is_narrowed).then(|| scores.visible(self, &runs));
        let ranked: Vec<_> = ranked.into_iter().flatten().collect();
        let share = if is_narrowed { 0.0 } else { share };
        let top =
            literals.iter().filter_map(|((_, score), _)| *score).chain(ranked.iter().map(|(score, _)| *score)).max();
        let least = fixed(share * f64::from(top.unwrap_or_default()));
        let first = score::best(ranked.iter().map(|(score, id)| (*score, (*score, *id))), LEAST_RANKED);
        let least = first.last().map_or(least, |(score, _)| least.min(*score));
        let ranked = ranked.into_iter().filter(|(score, _)| *score >= least);
        let ranked = ranked.map(|(score, id)| ((Match::Rank, Some(score)), id));

        score::best(literals.into_iter().chain(ranked), limit.min(literal.ids.len() + MAX_RANKED))
    }

    /// The tools of the CLIs that match, as few runs of adjacent rows: one search of a long text is faster than many of
    /// short ones.
    pub(super) fn runs(&self, filter: Filter<'_>) -> Vec<(usize, Rows)> {
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

    fn matches(&self, segment: Segment, filter: Filter<'_>) -> bool {
        let cli = self.cli(segment);
        filter.cli.is_none_or(|name| same(name, cli.name()))
            && filter.category.is_none_or(|category| cli.category().is_some_and(|own| same(category, own)))
    }
}

/// The tools that a query means literally: as a substring of a field, or as the words of the name.
#[derive(Default)]
pub(super) struct Literal {
    /// The words of the query.
    words: Vec<String>,
    ids: Vec<Id>,
}

impl Literal {
    /// How a tool was found.
    pub(super) fn match_of_tool(&self, index: &ToolIndex, id: Id) -> Match {
        if self.ids.contains(&id) { self.match_of(index.tool(id).name()) } else { Match::Rank }
    }

    fn match_of(&self, name: &str) -> Match {
        let parts: Vec<_> = tokens::parts(name).collect();
        let is_said =
            |parts: &[&str]| parts.iter().zip(&self.words).all(|(part, word)| part.eq_ignore_ascii_case(word));
        match parts.len().checked_sub(self.words.len()) {
            Some(0) if is_said(&parts) => Match::Name,
            Some(1..) if !self.words.is_empty() && parts.windows(self.words.len()).any(is_said) => Match::NameWord,
            _ => Match::Field,
        }
    }
}

fn same(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || lowercase(a) == lowercase(b)
}
