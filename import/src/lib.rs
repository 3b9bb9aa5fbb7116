//! Drafts configs from what programs say of themselves.
//!
//! Pure: a help page is read into a [`Command`], commands are turned into the text of a config. What the page does not say
//! outright is marked in that text by a comment that starts with `guess:`.

mod clean;
mod command;
mod draft;
mod grammar;
mod help;
mod option;
mod page;
mod prose;
mod risk;
#[cfg(feature = "usage")]
pub mod spec;
mod synopsis;
mod values;
mod yaml;

pub use clean::{MAX_HELP_BYTES, clean};
pub use command::{Command, Flag, Operand, Subcommand, Sure, Value};
pub use draft::{Draft, draft};
pub use help::{HelpPage, read, read_listing};
