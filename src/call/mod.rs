//! The one path of a call, from a tool's name and JSON arguments to an outcome.
//!
//! MCP and `climax call` both take it: look the tool up, bind and check its arguments, plan the command line, ask for
//! approval, run, write the audit line.

pub mod approval;
pub mod arguments;
pub mod audit;
pub mod caller;
pub mod command_line;
pub mod confirmation;
pub mod form;
pub mod native;
mod toolbox;

pub(crate) use toolbox::Permission;
pub use toolbox::{CallError, CallResult, Observer, Purpose, Request, Toolbox, suggest_tools};
