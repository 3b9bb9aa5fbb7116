//! Paged search, descriptions and examples. Source: `docs/contract.md`, "Modes".

mod cursor;
mod describe;
mod examples;
mod failure;
mod search;

pub(crate) use describe::described;
pub(super) use describe::{DESCRIBE_DESCRIPTION, describe, describe_schema};
pub(crate) use examples::permitted_examples;
pub(super) use examples::{EXAMPLES_DESCRIPTION, examples, examples_schema};
pub(super) use failure::Failure;
pub(super) use search::{search, search_schema};
