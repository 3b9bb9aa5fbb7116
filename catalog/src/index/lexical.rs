//! Substring search over the contiguous search text.

use memchr::memmem::Finder;

use crate::table::{Rows, SearchText};

/// A query, prepared for many searches.
pub(super) struct Query<'q> {
    /// `None` for a query that nothing can match.
    finder: Option<Finder<'q>>,
}

impl<'q> Query<'q> {
    /// Prepares a lowercased query.
    ///
    /// A NUL separates fields in the search text, so a query that holds one could only match across two of them.
    pub(super) fn new(lowercased: &'q str) -> Self {
        Self { finder: (!lowercased.contains('\0')).then(|| Finder::new(lowercased)) }
    }
}

/// The rows among `rows` that the query matches, ascending; without a query all of them.
pub(super) fn matching<'a>(
    search: &'a SearchText,
    rows: Rows,
    query: Option<&'a Query<'_>>,
) -> impl Iterator<Item = u32> + 'a {
    let Rows(mut next, end) = rows;
    std::iter::from_fn(move || {
        if next >= end {
            return None;
        }
        let row = match query {
            None => next,
            Some(query) => first_match(search, next, end, query)?,
        };
        next = row + 1;
        Some(row)
    })
}

fn first_match(search: &SearchText, first: u32, end: u32, query: &Query<'_>) -> Option<u32> {
    let start = start_of(search, first);
    let text = &search.text.as_bytes()[start..start_of(search, end)];
    let at = start + query.finder.as_ref()?.find(text)?;
    let ends = &search.ends[first as usize..end as usize];
    let row = ends.partition_point(|end| *end as usize <= at);
    Some(first + u32::try_from(row).expect("rows are counted in 32 bits"))
}

fn start_of(search: &SearchText, row: u32) -> usize {
    row.checked_sub(1).map_or(0, |before| search.ends[before as usize] as usize)
}
