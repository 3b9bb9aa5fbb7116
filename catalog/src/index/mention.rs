//! CLIs that a sentence names.

use super::vocabulary::{MEANS, SYNONYMS};
use crate::table::Rows;
use crate::view::CliView;

/// The tools of a CLI that a sentence names.
pub(super) struct Mention {
    pub(super) layer: usize,
    pub(super) rows: Rows,
    pub(super) is_first: bool,
}

impl Mention {
    /// Whether a tool is one of the CLI.
    pub(super) fn has(&self, layer: usize, row: u32) -> bool {
        self.layer == layer && self.rows.range().contains(&(row as usize))
    }
}

/// Where a sentence first names a CLI.
///
/// A first word with a capital is no name of a CLI without, since all sentences start so. Nor is a verb: `find known bugs`.
/// A program that is said to be the means, as in `install vim with apt`, counts as if it stood first.
pub(super) fn position_of(cli: CliView<'_>, words: &[String]) -> Option<usize> {
    let program = cli.words().next().map(|path| path.rsplit('/').next().unwrap_or(path));
    let names = [Some(cli.name()), Some(cli.stem()), program];
    let is_name = |word: &String| names.iter().flatten().any(|name| name.eq_ignore_ascii_case(word));
    let position = words.iter().position(is_name)?;
    let is_written_so = names.iter().flatten().any(|name| *name == words[position]);
    let is_verb = SYNONYMS.iter().flat_map(|group| group.iter()).any(|verb| *verb == words[position]);
    let is_means = position > 0 && MEANS.contains(&words[position - 1].as_str());
    Some(match (is_written_so && !is_verb, is_means) {
        (true, true) => 0,
        (true, false) => position,
        (false, _) => position.max(1),
    })
}
