//! The commands of `climax`. Only commands print; the rest of the library does not.

mod annotate;
#[cfg(feature = "budget")]
pub(crate) mod budget;
pub(crate) mod call;
pub(crate) mod catalog;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod diff;
pub(crate) mod doctor;
mod dry_run;
pub(crate) mod eval;
mod explain;
pub(crate) mod export;
pub(crate) mod help;
pub(crate) mod hook;
#[cfg(feature = "import")]
pub(crate) mod import;
#[cfg(feature = "import")]
pub(crate) mod init;
pub(crate) mod install;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod output;
pub(crate) mod policy;
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
mod shell_word;
pub(crate) mod show;
mod signals;
mod strategy;
mod targets;
pub(crate) mod terminal;
pub(crate) mod translate;
pub(crate) mod validate;
mod value;
pub(crate) mod version;
