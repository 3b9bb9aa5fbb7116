//! Drafts configs from help pages and specifications of programs.
//!
//! Pure: a help page is read into a [`Command`], and commands become the text of a config. Comments that start with
//! `guess:` mark everything that the page does not state.

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
