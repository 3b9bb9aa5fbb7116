//! The extended surface: paged search, descriptions and examples.

mod cursor;
mod describe;
mod examples;
mod failure;
mod search;

pub(super) use describe::{DESCRIBE, DESCRIBE_DESCRIPTION, describe, describe_schema};
pub(super) use examples::{EXAMPLES, EXAMPLES_DESCRIPTION, Examples, examples, examples_schema};
pub(super) use failure::Failure;
pub(super) use search::{search, search_schema};
