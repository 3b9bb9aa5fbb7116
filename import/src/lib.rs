//! Drafts configs from help pages and specifications of programs.
//!
//! Pure: a help page is read into a [`Command`], completions and manuals add to it, and commands become the text of a
//! config. Comments that start with `guess:` mark everything that the page does not state.

mod about;
mod arg;
mod beside;
mod clean;
mod command;
mod command_word;
mod completions;
mod draft;
mod examples;
mod grammar;
mod help;
mod option;
mod option_value;
mod page;
mod page_line;
mod panel;
mod placeholder;
mod prose;
mod rank;
mod refine;
mod risk;
mod shape;
#[cfg(feature = "usage")]
pub mod spec;
mod synopsis;
mod text;
mod tree;
mod usage_group;
mod values;
mod yaml;

pub use clean::{MAX_HELP_BYTES, clean};
pub use command::{Command, Flag, Group, Operand, Several, Subcommand, Sure, Value, add_defaults};
pub use completions::{Completions, complete_from_manual};
pub use draft::{DEFAULT_MAIN, Draft, Selection, draft};
pub use help::{HelpPage, is_cobra, read, read_listing};
