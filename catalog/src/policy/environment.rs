//! Variables that a policy sets for every program.

use crate::table::{Catalog, PolicyDef};

/// The value of a variable that a policy sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvValue {
    /// This text.
    Literal(String),
    /// The value that a variable of the server has.
    From(String),
}

/// Returns the variables of the compiled-in policy.
pub(super) fn compiled_in(catalog: &Catalog, def: PolicyDef) -> Vec<(String, EnvValue)> {
    let literal = catalog.pairs(def.env).map(|(name, value)| (name, EnvValue::Literal(value.to_owned())));
    let taken = catalog.pairs(def.env_from).map(|(name, from)| (name, EnvValue::From(from.to_owned())));
    literal.chain(taken).map(|(name, value)| (name.to_owned(), value)).collect()
}
