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
pub mod digest;
pub mod form;
pub mod native;
mod outcome;
mod request;
mod toolbox;
mod user_input;

pub use outcome::{CallError, CallResult, ErrorCode};
pub use request::{Purpose, Request};
pub use toolbox::{Toolbox, suggest_tools};
