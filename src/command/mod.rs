//! The commands of `climax`. Only commands print; the rest of the library does not.

mod annotate;
#[cfg(feature = "budget")]
pub(crate) mod budget;
pub(crate) mod call;
pub(crate) mod completions;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod eval;
mod explain;
pub(crate) mod export;
#[cfg(feature = "import")]
pub(crate) mod import;
pub(crate) mod list;
pub(crate) mod output;
#[cfg(feature = "prompt")]
mod prompt;
pub(crate) mod retired;
pub(crate) mod run;
mod runtime;
pub(crate) mod schema;
pub(crate) mod search;
mod selection;
pub(crate) mod sh;
mod shell;
mod strategy;
mod targets;
pub(crate) mod terminal;
pub(crate) mod translate;
pub(crate) mod validate;
mod value;
pub(crate) mod version;
