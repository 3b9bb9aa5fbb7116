//! A policy as it was read: the policy itself, and the names in it that must exist where it is applied.

use super::Policy;
use crate::read::diagnostic::Diagnostics;
use crate::read::source::{Source, Span, Spanned};

/// A policy that was read and has not been put over tools yet.
#[derive(Clone, Debug)]
pub struct PolicyFile {
    pub(super) source: Source,
    pub(super) policy: Policy,
    pub(super) names: Vec<Named>,
    pub(super) prompts: Vec<Spanned<String>>,
    /// Where it says where programs run, if it does.
    pub(super) executor: Option<Span>,
    pub(super) warnings: Diagnostics,
}

/// A tool, or an arg of one, that a policy names, with the place where it does.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) tool: Spanned<String>,
    pub(super) arg: Option<NamedArg>,
}

/// An arg that a policy names.
#[derive(Clone, Debug)]
pub(super) struct NamedArg {
    pub(super) name: Spanned<String>,
    /// Where its rule's range stands, if it has one.
    pub(super) range: Option<Span>,
}
