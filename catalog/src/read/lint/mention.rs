//! Names of tools in descriptions.

use std::collections::HashSet;
use std::ops::Range;

use crate::read::config::ToolConfig;

/// The names of a config's tools that a text can only mean as names.
pub(super) struct Names<'a>(HashSet<&'a str>);

impl<'a> Names<'a> {
    /// Names without `_` may be words of a text.
    pub(super) fn new(tools: &'a [ToolConfig]) -> Self {
        let names = tools.iter().filter_map(|tool| Some(tool.name.as_ref()?.value.as_str()));
        Self(names.filter(|name| name.contains('_')).collect())
    }

    /// Returns the place of the first name in a text, unless it is that of the tool itself or of one of its args.
    pub(super) fn first_in(&self, text: &str, tool: Option<&ToolConfig>) -> Option<Range<usize>> {
        let is_own = |word: &str| {
            let args = tool.iter().flat_map(|tool| &tool.args).filter_map(|arg| arg.name.as_ref());
            tool.iter().filter_map(|tool| tool.name.as_ref()).chain(args).any(|name| name.value == word)
        };
        let is_name = |word: &str| self.0.contains(word) && !is_own(word);
        words(text).find(|range| is_name(&text[range.clone()]))
    }
}

/// The parts of a text that could be names.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let parts = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')));
    parts.map(move |part| {
        let word = part.trim_matches(['-', '.']);
        let start = word.as_ptr().addr() - text.as_ptr().addr();
        start..start + word.len()
    })
}
