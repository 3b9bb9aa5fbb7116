//! Runs calls, from a tool's name and JSON arguments to an outcome.
//!
//! MCP and `climax call` share these steps: look up the tool, bind and check its arguments, plan the command line, ask
//! the user for approval, run the program, write the audit line.

pub mod approval;
pub mod arguments;
pub mod audit;
pub mod caller;
pub mod chain;
pub mod command_line;
pub mod concerned;
pub mod confinement;
pub mod confirmation;
pub(crate) mod denial;
pub mod digest;
mod environment;
pub mod form;
pub mod line;
mod line_outcome;
pub mod native;
mod outcome;
mod request;
pub mod risk;
pub mod space;
mod toolbox;
mod typed_words;
mod user_input;
pub mod visible;
mod within;
mod words;

pub use line_outcome::{
    LineFailure, LineOutcome, LineRequest, LineResult, LineVerdict, RawStreams, StageOutcome, StepOutcome,
};
pub use outcome::{CallError, CallResult, ErrorCode};
pub(crate) use outcome::{end_name, exit_code};
pub use request::{CallRequest, Purpose};
pub use toolbox::{DryRun, Toolbox, suggest_tools};
pub use typed_words::TypedWords;
