//! Views of commands: their parts, and groups of args.

use crate::model::GroupKind;
use crate::table::{Catalog, GroupDef, PLACE_MARK};

/// A part of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandPart<'a> {
    /// A word.
    Word(&'a str),
    /// The place of the arg of this name.
    Arg(&'a str),
    /// The place of the options that have no place of their own.
    Options,
}

impl<'a> CommandPart<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        match text.strip_prefix(PLACE_MARK) {
            None => Self::Word(text),
            Some("") => Self::Options,
            Some(name) => Self::Arg(name),
        }
    }
}

/// Returns the words among parts.
pub(super) fn words<'a>(parts: impl Iterator<Item = CommandPart<'a>> + Clone) -> impl Iterator<Item = &'a str> + Clone {
    parts.filter_map(|part| if let CommandPart::Word(word) = part { Some(word) } else { None })
}

/// A group of args with a rule.
#[derive(Clone, Copy, Debug)]
pub struct GroupView<'a> {
    catalog: &'a Catalog,
    def: &'a GroupDef,
}

impl<'a> GroupView<'a> {
    pub(super) fn new(catalog: &'a Catalog, def: &'a GroupDef) -> Self {
        Self { catalog, def }
    }

    /// The rule.
    #[must_use]
    pub fn kind(self) -> GroupKind {
        self.def.kind
    }

    /// The names of the args.
    #[must_use]
    pub fn args(self) -> impl ExactSizeIterator<Item = &'a str> + Clone {
        self.catalog.list(self.def.args)
    }

    pub(crate) fn def(self) -> &'a GroupDef {
        self.def
    }
}
