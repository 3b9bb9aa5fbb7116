//! What a call asks before it runs: look-ups of names, and questions to the user.

use crate::table::{Catalog, QuestionDef, ResolveDef};

/// A look-up of a readable name, by a subcommand of the program.
#[derive(Clone, Copy, Debug)]
pub struct ResolveView<'a> {
    catalog: &'a Catalog,
    def: &'a ResolveDef,
}

impl<'a> ResolveView<'a> {
    pub(super) fn new(catalog: &'a Catalog, def: &'a ResolveDef) -> Self {
        Self { catalog, def }
    }

    /// The placeholder that it fills.
    #[must_use]
    pub fn name(self) -> &'a str {
        self.catalog.texts.get(self.def.name)
    }

    /// The words of the subcommand.
    #[must_use]
    pub fn words(self) -> impl ExactSizeIterator<Item = &'a str> + Clone {
        self.catalog.list(self.def.words)
    }

    /// Arg names and the templates of their values.
    pub fn args(self) -> impl Iterator<Item = (&'a str, &'a str)> + Clone {
        self.catalog.pairs(self.def.args)
    }

    /// How long it may take, in milliseconds.
    #[must_use]
    pub fn timeout_ms(self) -> u32 {
        self.def.timeout_ms
    }

    pub(crate) fn def(self) -> &'a ResolveDef {
        self.def
    }
}

/// A question that the user answers before a call.
#[derive(Clone, Copy, Debug)]
pub struct QuestionView<'a> {
    catalog: &'a Catalog,
    def: &'a QuestionDef,
}

impl<'a> QuestionView<'a> {
    pub(super) fn new(catalog: &'a Catalog, def: &'a QuestionDef) -> Self {
        Self { catalog, def }
    }

    /// The question's name in the protocol.
    #[must_use]
    pub fn name(self) -> &'a str {
        self.catalog.texts.get(self.def.name)
    }

    /// The text that the user reads.
    #[must_use]
    pub fn message(self) -> &'a str {
        self.catalog.texts.get(self.def.message)
    }

    /// The names of the args that the user fills in.
    #[must_use]
    pub fn args(self) -> impl ExactSizeIterator<Item = &'a str> + Clone {
        self.catalog.list(self.def.args)
    }

    pub(crate) fn def(self) -> &'a QuestionDef {
        self.def
    }
}
