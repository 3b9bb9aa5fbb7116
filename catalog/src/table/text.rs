//! Texts and ranges of rows, by which rows refer to other tables.

use std::borrow::Cow;

/// The index of a text in [`Texts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Str(pub u32);

/// A half-open range of rows of another table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows(pub u32, pub u32);

impl Rows {
    pub(crate) fn range(self) -> std::ops::Range<usize> {
        self.0 as usize..self.1 as usize
    }
}

/// A half-open range of [`Catalog::lists`](super::Catalog::lists): a list of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List(pub u32, pub u32);

impl List {
    pub(crate) fn range(self) -> std::ops::Range<usize> {
        self.0 as usize..self.1 as usize
    }
}

/// All texts of a catalog, one after the other, and where each ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Texts {
    /// The texts, without separators.
    pub text: Cow<'static, str>,
    /// The end of each text, in bytes; each starts where the one before ends.
    pub ends: Cow<'static, [u32]>,
}

impl Texts {
    /// Looks up one text.
    #[must_use]
    pub fn get(&self, id: Str) -> &str {
        let at = id.0 as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.text[start..self.ends[at] as usize]
    }
}
