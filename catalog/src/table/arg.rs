//! Rows of args, packed into numbers, their details, files and rules.

use strum::VariantArray as _;

use super::row::row;
use super::text::{List, Str};
use crate::model::{Order, Place, Risk, Shape, Type};

/// An arg, packed: `name, description, flag, default, first enum value, end of enum values, detail, bits`.
///
/// Packed because catalogs have many args and rustc parses each row as source text. Eight numbers take a third of the
/// time and memory of a struct with named fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgDef(pub [u32; 8]);

row! {
    /// The details of an arg that few args have.
    pub struct DetailDef {
        /// The separator of a joined list or map.
        pub separator: Option<Str>,
        /// Other spellings of the flag.
        pub aliases: List,
        /// The flag of a boolean that is false.
        pub off: Option<Str>,
        /// The name of the environment variable.
        pub variable: Option<Str>,
        /// The title and the words of each enum value, by turns; empty if no value has any.
        pub choices: List,
        /// The smallest number of items.
        pub min_items: Option<u32>,
        /// The largest number of items.
        pub max_items: Option<u32>,
        /// Values and their risks by turns; the last pair is the risk of all other values.
        pub risks: List,
        /// The values with which a call prints secrets; [`ANY`](crate::ANY) for every value.
        pub sensitive: List,
    }
}

row! {
    /// A rule for the values of an arg.
    pub struct RuleDef {
        /// The row of [`super::Catalog::args`]; an arg may have several rules.
        pub arg: u32,
        /// The pattern that the whole value must match. It compiles.
        pub pattern: Option<Str>,
        /// The smallest permitted number.
        pub min: Option<f64>,
        /// The largest permitted number.
        pub max: Option<f64>,
        /// The permitted values.
        pub values: List,
        /// The value that every call has.
        pub fixed: Option<Str>,
        /// The directories that the path must be in.
        pub within: List,
        /// The pattern of the values that need approval. It compiles.
        pub approval: Option<Str>,
        /// Whether a policy sets it, not the config.
        pub from_policy: bool,
    }
}

row! {
    /// A file that a program writes to the path in an arg.
    pub struct FileDef {
        /// The row of [`super::Catalog::args`].
        pub arg: u32,
        /// The media type of what is written.
        pub mime: Str,
        /// The last part of the file's path.
        pub file: Str,
    }
}

const PLACE_SHIFT: u32 = 2;
const KIND_MASK: u32 = 0b11;
const PLACE_MASK: u32 = 0b111;
const REQUIRED_BIT: u32 = 1 << 5;
const DEFAULT_BIT: u32 = 1 << 6;
const DASH_SETTLED_BIT: u32 = 1 << 7;
const DASH_ALLOWED_BIT: u32 = 1 << 8;
const FROM_USER_BIT: u32 = 1 << 9;
const HIDDEN_BIT: u32 = 1 << 10;
const DETAIL_BIT: u32 = 1 << 11;
const SHAPE_SHIFT: u32 = 12;
const SHAPE_MASK: u32 = 0b1111;
const RISK_SHIFT: u32 = 16;
const RISK_MASK: u32 = 0b11;
const ORDERED_BIT: u32 = 1 << 18;
/// The risks of args by their number. The first is that of the tool.
const RISKS: [Option<Risk>; 4] = [None, Some(Risk::Read), Some(Risk::Write), Some(Risk::Destructive)];

/// The unpacked form of an [`ArgDef`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArgRow {
    pub(crate) name: Str,
    pub(crate) description: Str,
    pub(crate) flag: Str,
    pub(crate) default: Option<Str>,
    pub(crate) values: List,
    pub(crate) kind: Type,
    pub(crate) place: Place,
    pub(crate) required: bool,
    pub(crate) leading_dash: Option<bool>,
    pub(crate) from_user: bool,
    pub(crate) shown: bool,
    pub(crate) order: Order,
    pub(crate) shape: Shape,
    /// The risk, if it does not depend on the value.
    pub(crate) risk: Option<Risk>,
    /// The row of [`super::Catalog::details`].
    pub(crate) detail: Option<u32>,
}

impl ArgDef {
    pub(crate) fn pack(row: ArgRow) -> Self {
        let mut bits = row.kind as u32 | (row.place as u32) << PLACE_SHIFT;
        if row.required {
            bits |= REQUIRED_BIT;
        }

        if row.default.is_some() {
            bits |= DEFAULT_BIT;
        }

        if let Some(allowed) = row.leading_dash {
            bits |= DASH_SETTLED_BIT | if allowed { DASH_ALLOWED_BIT } else { 0 };
        }

        if row.from_user {
            bits |= FROM_USER_BIT;
        }

        if !row.shown {
            bits |= HIDDEN_BIT;
        }

        if row.order == Order::Given {
            bits |= ORDERED_BIT;
        }

        if row.detail.is_some() {
            bits |= DETAIL_BIT;
        }

        bits |= number(&Shape::ALL, &row.shape) << SHAPE_SHIFT | number(&RISKS, &row.risk) << RISK_SHIFT;
        let default = row.default.map_or(0, |default| default.0);
        let detail = row.detail.unwrap_or_default();
        Self([row.name.0, row.description.0, row.flag.0, default, row.values.0, row.values.1, detail, bits])
    }

    pub(crate) fn unpack(self) -> ArgRow {
        let [name, description, flag, default, first, end, detail, bits] = self.0;
        ArgRow {
            name: Str(name),
            description: Str(description),
            flag: Str(flag),
            default: (bits & DEFAULT_BIT != 0).then_some(Str(default)),
            values: List(first, end),
            kind: Type::VARIANTS[(bits & KIND_MASK) as usize],
            place: Place::VARIANTS[(bits >> PLACE_SHIFT & PLACE_MASK) as usize],
            required: bits & REQUIRED_BIT != 0,
            leading_dash: (bits & DASH_SETTLED_BIT != 0).then_some(bits & DASH_ALLOWED_BIT != 0),
            from_user: bits & FROM_USER_BIT != 0,
            shown: bits & HIDDEN_BIT == 0,
            order: if bits & ORDERED_BIT == 0 { Order::Defined } else { Order::Given },
            shape: Shape::ALL[(bits >> SHAPE_SHIFT & SHAPE_MASK) as usize],
            risk: RISKS[(bits >> RISK_SHIFT & RISK_MASK) as usize],
            detail: (bits & DETAIL_BIT != 0).then_some(detail),
        }
    }
}

/// The position of a value in a list of few.
fn number<T: PartialEq>(all: &[T], value: &T) -> u32 {
    let at = all.iter().position(|one| one == value);
    at.and_then(|at| u32::try_from(at).ok()).expect("the list has every value")
}
