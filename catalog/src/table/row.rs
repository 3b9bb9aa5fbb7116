//! Rows: one declaration gives a row its fields, its checked form, the way between both, and what is printed of it.

use super::text::{List, Rows, Str};
use crate::model::{GroupKind, Risk};

/// A row of a catalog, as a list of its fields. The generator prints the fields, and the digest hashes them.
pub trait Row {
    /// The name of the struct.
    const NAME: &'static str;

    /// Returns the names and values of all fields, in the order of their definition.
    fn fields(&self) -> Vec<(&'static str, Value)>;
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Whether something holds.
    Bool(bool),
    /// A number, or the number of a row.
    Number(u32),
    /// A bound of numbers.
    Float(f64),
    /// A text.
    Text(Str),
    /// Some texts.
    List(List),
    /// Some rows of another table.
    Rows(Rows),
    /// A variant of an enum, by the names of both.
    Variant(&'static str, String),
    /// A value that can be absent.
    Optional(Option<Box<Value>>),
}

macro_rules! value_from {
    ($($kind:ident($from:ty),)*) => {
        $(impl From<$from> for Value {
            fn from(value: $from) -> Self {
                Self::$kind(value)
            }
        })*
    };
}

value_from!(Bool(bool), Number(u32), Float(f64), Text(Str), List(List), Rows(Rows),);

macro_rules! value_from_variants {
    ($($from:ident),*) => {
        $(impl From<$from> for Value {
            fn from(value: $from) -> Self {
                // `Debug` prints the name of the variant, because these enums hold nothing.
                Self::Variant(stringify!($from), format!("{value:?}"))
            }
        })*
    };
}

value_from_variants!(GroupKind, Risk);

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        Self::Optional(value.map(|value| Box::new(value.into())))
    }
}

/// Declares the struct of a row and implements [`Row`] for it.
macro_rules! row {
    (
        $(#[$about:meta])*
        pub struct $row:ident {
            $( $(#[$doc:meta])* pub $field:ident: $column:ty, )*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $row {
            $( $(#[$doc])* pub $field: $column, )*
        }

        impl $crate::table::Row for $row {
            const NAME: &'static str = stringify!($row);

            fn fields(&self) -> Vec<(&'static str, $crate::table::Value)> {
                vec![ $( (stringify!($field), self.$field.into()), )* ]
            }
        }
    };
}

/// Declares a checked struct and its row. A line `name: String => Str` is a field of both, with its type in each.
///
/// [`Stored`](super::stored::Stored) takes such a field from one to the other. The fields that only one of the two has
/// are arguments of the function that makes it.
macro_rules! checked_and_row {
    (
        $(#[$about:meta])*
        $checked:ident => $row:ident {
            $( $(#[$doc:meta])* $field:ident: $value:ty => $column:ty, )*
        }
        only $only_checked:ident {
            $( $(#[$checked_doc:meta])* $checked_field:ident: $checked_type:ty, )*
        }
        only $only_row:ident {
            $( $(#[$row_doc:meta])* $row_field:ident: $row_type:ty, )*
        }
    ) => {
        $(#[$about])*
        #[derive(Debug)]
        pub(crate) struct $checked {
            $( $(#[$doc])* pub(crate) $field: $value, )*
            $( $(#[$checked_doc])* pub(crate) $checked_field: $checked_type, )*
        }

        $crate::table::row::row! {
            $(#[$about])*
            pub struct $row {
                $( $(#[$doc])* pub $field: $column, )*
                $( $(#[$row_doc])* pub $row_field: $row_type, )*
            }
        }

        impl $checked {
            /// Stores the fields in `tables` and returns the row that refers to them.
            pub(crate) fn to_row(
                &self,
                tables: &mut $crate::table::Tables,
                $( $row_field: $row_type, )*
            ) -> Result<$row, $crate::offset::Full> {
                $( let $field = $crate::table::Stored::store(&self.$field, tables)?; )*
                Ok($row { $( $field, )* $( $row_field, )* })
            }

            /// Makes the struct that the row was made of.
            pub(crate) fn from_row(
                row: &$row,
                catalog: &$crate::table::Catalog,
                $( $checked_field: $checked_type, )*
            ) -> Self {
                $( let $field = $crate::table::Stored::load(row.$field, catalog); )*
                Self { $( $field, )* $( $checked_field, )* }
            }
        }
    };
}

pub(super) use {checked_and_row, row};
