//! The tools that a text mentions.

use std::collections::{BTreeSet, HashSet};

use crate::source::Span;
use crate::view::{ArgView, ResolvedTool};

/// What precedes the name of a tool in calls.
const CALLS: [&str; 3] = ["\"tool_name\": \"", "\"tool_name\":\"", "climax call "];

/// The names of tools and args that skills may mention.
pub(crate) struct Names<'a> {
    tools: HashSet<&'a str>,
    /// Names of tools that are more than one word of a text.
    long: Vec<&'a str>,
    args: HashSet<&'a str>,
    /// What stands before the first `_` of a tool's name.
    prefixes: HashSet<&'a str>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(tools: impl Iterator<Item = ResolvedTool<'a>>) -> Self {
        let (mut names, mut args) = (HashSet::new(), HashSet::new());
        for tool in tools {
            names.insert(tool.name());
            args.extend(tool.args().map(ArgView::name));
        }
        let long = names.iter().copied().filter(|name| !name.chars().all(is_word)).collect();
        let prefixes = names.iter().filter_map(|name| Some(name.split_once('_')?.0)).collect();
        Self { tools: names, long, args, prefixes }
    }

    pub(crate) fn tools(&self) -> impl Iterator<Item = &'a str> {
        self.tools.iter().copied()
    }

    /// Adds the tools whose names stand in a text.
    pub(crate) fn mentioned(&self, text: &str, found: &mut BTreeSet<String>) {
        let words = text.split(|c| !is_word(c)).filter(|word| self.tools.contains(word));
        let long = self.long.iter().copied().filter(|name| text.contains(name));
        found.extend(words.chain(long).map(str::to_owned));
    }

    /// Finds names in a text that can only be meant as tools, and are none: in calls, or alone between backticks.
    pub(crate) fn unknown(&self, text: &str) -> Vec<Span> {
        let mut found: Vec<Span> = CALLS.iter().flat_map(|call| called(text, call)).collect();
        found.extend(quoted(text).filter(|span| self.is_like_a_tool(&text[span.start..span.end])));
        found.retain(|span| !self.tools.contains(&text[span.start..span.end]));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether a word starts as tools do, and is no arg.
    fn is_like_a_tool(&self, word: &str) -> bool {
        let is_prefixed = word.split_once('_').is_some_and(|(prefix, _)| self.prefixes.contains(prefix));
        is_prefixed && !self.args.contains(word)
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The names behind each `call` in a text. Words without `_` stand for any tool, such as NAME.
fn called<'t>(text: &'t str, call: &'t str) -> impl Iterator<Item = Span> + 't {
    text.match_indices(call).filter_map(move |(at, _)| {
        let start = at + call.len();
        let length = text[start..].find(|c| !is_word(c)).unwrap_or(text.len() - start);
        let word = &text[start..start + length];
        let is_name = word.contains('_') && !word.contains(|c: char| c.is_ascii_uppercase());
        is_name.then_some(Span { start, end: start + length })
    })
}

/// The single words between two backticks of a line.
fn quoted(text: &str) -> impl Iterator<Item = Span> + '_ {
    let ticks: Vec<usize> = text.match_indices('`').map(|(at, _)| at).collect();
    let pairs = (1..ticks.len()).map(move |at| Span { start: ticks[at - 1] + 1, end: ticks[at] });
    pairs.filter(|span| span.start < span.end && text[span.start..span.end].chars().all(is_word))
}
