//! The options of a server.

use climax_catalog::Strategy;

use crate::call::visible::TextForm;

/// The tools that a client sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The meta-tools `climax_search` and `climax_call`.
    Meta,
    /// The meta-tools with pages and levels of detail, `climax_describe` and `climax_examples`.
    Extended,
    /// Every tool by its own name.
    Classic,
}

/// The options of a server.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The tools that a client sees.
    pub mode: Mode,
    /// The strategy of `climax_search`.
    pub strategy: Strategy,
    /// How results show the text of programs.
    pub text_form: TextForm,
    /// Whether the catalog can change while the server runs.
    pub changes: Changes,
}

/// Whether the catalog can change while clients are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changes {
    /// The catalog never changes.
    Never,
    /// The catalog can change. Clients get no `list_changed` notifications.
    Silent,
    /// The catalog can change. Clients get `list_changed` notifications.
    Notified,
}
