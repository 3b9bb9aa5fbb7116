//! A policy as it was read, with its places in the file.

use super::Policy;
use crate::diagnostic::Diagnostics;
use crate::source::{Source, Span, Spanned};

/// A policy that was read but not applied yet.
#[derive(Clone, Debug)]
pub struct PolicyFile {
    pub(super) source: Source,
    pub(super) policy: Policy,
    pub(super) prompts: Vec<Spanned<String>>,
    /// The names of `approval.tools`.
    pub(super) approval_names: Vec<Spanned<String>>,
    /// The locations of some of its keys.
    pub(super) keys: KeySpans,
    pub(super) warnings: Diagnostics,
}

/// The locations of the keys that decide about tools without a rule; `None` for a key that the file leaves out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KeySpans {
    pub(super) default: Option<Span>,
    pub(super) allow: Option<Span>,
    pub(super) executor: Option<Span>,
    pub(super) level: Option<Span>,
}

impl PolicyFile {
    /// Returns the number of the line in which a part of the file starts.
    pub(super) fn line(&self, span: Span) -> usize {
        self.source.position(span.start).line
    }
}
