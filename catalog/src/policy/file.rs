//! A policy as it was read, with the names of tools, args and prompts that it mentions.

use super::Policy;
use crate::read::diagnostic::Diagnostics;
use crate::read::source::{Source, Span, Spanned};

/// A policy that was read but not applied yet.
#[derive(Clone, Debug)]
pub struct PolicyFile {
    pub(super) source: Source,
    pub(super) policy: Policy,
    pub(super) names: Vec<Named>,
    pub(super) prompts: Vec<Spanned<String>>,
    /// The location of its `executor`, if it has one.
    pub(super) executor: Option<Span>,
    pub(super) warnings: Diagnostics,
}

/// A tool or arg that a policy names, with its location.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) tool: Spanned<String>,
    pub(super) arg: Option<NamedArg>,
}

/// An arg that a policy names.
#[derive(Clone, Debug)]
pub(super) struct NamedArg {
    pub(super) name: Spanned<String>,
    /// The location of `min` or `max`, if the rule has one.
    pub(super) range: Option<Span>,
}
