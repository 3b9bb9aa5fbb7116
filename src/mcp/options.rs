//! What a server offers, and how.

use climax_catalog::Strategy;

/// Which tools a client sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The two meta-tools.
    Meta,
    /// The meta-tools with pages and details, and those that describe.
    Extended,
    /// Every tool itself.
    Classic,
}

/// What a server offers, and how.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Which tools a client sees.
    pub mode: Mode,
    /// How `climax_search` finds tools.
    pub strategy: Strategy,
    /// Whether what is served may change.
    pub changes: Changes,
}

/// Whether what is served may change while clients are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changes {
    /// It stays as it is.
    Never,
    /// Clients are not told.
    Silent,
    /// Clients are told when they would be shown another list of tools.
    Notified,
}
