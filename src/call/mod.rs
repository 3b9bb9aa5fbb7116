//! Plans requests and runs the plans, from a tool's name and its JSON arguments, or from a command line, to an outcome.
//!
//! All ways to call a tool share these two steps. To plan is to look up the tools, bind and check their arguments and say what
//! would run. To run is to ask the user for approval, wait for a slot, start the programs and write the audit lines.

pub mod approval;
pub mod arguments;
pub mod audit;
pub(crate) mod cage;
pub mod caller;
pub mod chain;
mod changes;
pub mod command_line;
pub mod concerned;
pub mod confinement;
pub mod confirmation;
pub(crate) mod denial;
pub mod digest;
mod environment;
mod files;
pub mod form;
mod given_code;
mod host;
mod interpreter;
pub mod judge;
pub mod line;
mod line_context;
pub mod line_judge;
pub mod native;
mod outcome;
mod plan;
mod plan_outcome;
mod refusal;
mod request;
pub mod risk;
mod sensitive;
mod sight;
pub mod space;
mod toolbox;
mod typed_words;
pub(crate) mod unknown;
mod user_input;
pub mod visible;
mod within;
mod words;

pub use files::{FileUse, WriteMode};
pub use line_context::Served;
pub use outcome::{CallError, CallResult, ErrorCode};
pub(crate) use outcome::{end_name, exit_code, shell_status};
pub use plan::Plan;
pub use plan_outcome::{
    PlanFailure, PlanOutcome, PlanResult, PolicyVerdict, RawStreams, StageOutcome, StepOutcome, Tested,
};
pub use request::{LineBounds, LineInput, Purpose, Request, Session};
pub(crate) use toolbox::FILES_OF_GIT;
pub use toolbox::{DryRun, Toolbox, suggest_tools};
pub use typed_words::TypedWords;
pub use unknown::UnknownPrograms;
