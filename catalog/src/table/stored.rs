//! How each type of a checked config is stored in tables, and read from them.

use super::text::{List, Rows, Str};
use super::{Catalog, CheckedGroup, CheckedQuestion, CheckedResolve, PLACE_MARK, Tables};
use crate::checked::CommandPart;
use crate::effects::Effects;
use crate::model::{GroupKind, Risk};
use crate::needs::Needs;
use crate::offset::Full;
use crate::source::{Span, Spanned};

/// The span of a value that comes from no file.
pub(crate) const NOWHERE: Span = Span { start: 0, end: 0 };

/// A type of the fields of checked configs, which rows hold as `Column`.
pub(crate) trait Stored: Sized {
    /// The type of the row's field.
    type Column;

    /// Adds the value to the tables.
    fn store(&self, tables: &mut Tables) -> Result<Self::Column, Full>;

    /// Reads the value from a catalog.
    fn load(column: Self::Column, catalog: &Catalog) -> Self;
}

/// Stores types that rows hold as they are.
macro_rules! stored_as_itself {
    ($($type:ty),*) => {
        $(impl Stored for $type {
            type Column = Self;

            fn store(&self, _tables: &mut Tables) -> Result<Self, Full> {
                Ok(*self)
            }

            fn load(column: Self, _catalog: &Catalog) -> Self {
                column
            }
        })*
    };
}

stored_as_itself!(bool, u32, GroupKind, Option<Risk>);

/// Stores a list of checked structs as rows of a table of their own.
macro_rules! stored_as_rows {
    ($($checked:ident in $table:ident, $unit:literal;)*) => {
        $(impl Stored for Vec<$checked> {
            type Column = Rows;

            fn store(&self, tables: &mut Tables) -> Result<Rows, Full> {
                let first = tables.offset(tables.$table.len(), $unit)?;
                for item in self {
                    let row = item.to_row(tables)?;
                    tables.$table.push(row);
                }
                Ok(Rows(first, tables.offset(tables.$table.len(), $unit)?))
            }

            fn load(rows: Rows, catalog: &Catalog) -> Self {
                catalog.$table[rows.range()].iter().map(|row| $checked::from_row(row, catalog)).collect()
            }
        })*
    };
}

stored_as_rows! {
    CheckedGroup in groups, "groups of args";
    CheckedQuestion in questions, "questions";
    CheckedResolve in resolves, "look-ups";
}

impl Stored for String {
    type Column = Str;

    fn store(&self, tables: &mut Tables) -> Result<Str, Full> {
        tables.text(self)
    }

    fn load(id: Str, catalog: &Catalog) -> Self {
        catalog.texts.get(id).to_owned()
    }
}

impl Stored for Option<String> {
    type Column = Option<Str>;

    fn store(&self, tables: &mut Tables) -> Result<Option<Str>, Full> {
        tables.optional(self.as_deref())
    }

    fn load(id: Option<Str>, catalog: &Catalog) -> Self {
        id.map(|id| String::load(id, catalog))
    }
}

/// A value with its location, which tables do not hold.
impl Stored for Option<Spanned<String>> {
    type Column = Option<Str>;

    fn store(&self, tables: &mut Tables) -> Result<Option<Str>, Full> {
        tables.optional(self.as_ref().map(|text| text.value.as_str()))
    }

    fn load(id: Option<Str>, catalog: &Catalog) -> Self {
        id.map(|id| Spanned { value: String::load(id, catalog), span: NOWHERE })
    }
}

impl Stored for Vec<String> {
    type Column = List;

    fn store(&self, tables: &mut Tables) -> Result<List, Full> {
        tables.list(self.iter().map(String::as_str))
    }

    fn load(list: List, catalog: &Catalog) -> Self {
        catalog.list(list).map(str::to_owned).collect()
    }
}

/// Both texts of each pair, by turns.
impl Stored for Vec<(String, String)> {
    type Column = List;

    fn store(&self, tables: &mut Tables) -> Result<List, Full> {
        tables.list(self.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]))
    }

    fn load(list: List, catalog: &Catalog) -> Self {
        catalog.pairs(list).map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }
}

/// Exit codes and their meanings, by turns.
impl Stored for Vec<(u8, String)> {
    type Column = List;

    fn store(&self, tables: &mut Tables) -> Result<List, Full> {
        let texts: Vec<_> = self.iter().map(|(code, meaning)| (code.to_string(), meaning.clone())).collect();
        texts.store(tables)
    }

    fn load(list: List, catalog: &Catalog) -> Self {
        catalog.exit_codes(list).map(|(code, meaning)| (code, meaning.to_owned())).collect()
    }
}

/// Words, and places by a NUL, which no word contains.
impl Stored for Vec<CommandPart> {
    type Column = List;

    fn store(&self, tables: &mut Tables) -> Result<List, Full> {
        self.iter().map(part_text).collect::<Vec<_>>().store(tables)
    }

    fn load(list: List, catalog: &Catalog) -> Self {
        catalog.list(list).map(part).collect()
    }
}

fn part_text(part: &CommandPart) -> String {
    match part {
        CommandPart::Word(word) => word.clone(),
        CommandPart::Arg(name) => format!("{PLACE_MARK}{name}"),
        CommandPart::Options => PLACE_MARK.to_string(),
    }
}

fn part(text: &str) -> CommandPart {
    match text.strip_prefix(PLACE_MARK) {
        None => CommandPart::Word(text.to_owned()),
        Some("") => CommandPart::Options,
        Some(name) => CommandPart::Arg(name.to_owned()),
    }
}

/// Kinds and items, by turns.
impl Stored for Option<Needs> {
    type Column = Option<List>;

    fn store(&self, tables: &mut Tables) -> Result<Option<List>, Full> {
        self.as_ref().map(|needs| tables.list(needs.pairs().flat_map(|(kind, item)| [kind, item]))).transpose()
    }

    fn load(list: Option<List>, catalog: &Catalog) -> Self {
        list.map(|list| Needs::of_pairs(catalog.pairs(list)))
    }
}

/// Kinds and items, by turns.
impl Stored for Option<Effects> {
    type Column = Option<List>;

    fn store(&self, tables: &mut Tables) -> Result<Option<List>, Full> {
        self.as_ref().map(|effects| tables.list(effects.pairs().flat_map(|(kind, item)| [kind, item]))).transpose()
    }

    fn load(list: Option<List>, catalog: &Catalog) -> Self {
        list.map(|list| Effects::of_pairs(catalog.pairs(list)))
    }
}
