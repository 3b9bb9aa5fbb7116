//! The Model Context Protocol: which tools a client sees, and what it is told.
//!
//! Only this module and [`crate::transport`] name protocol types.

mod client;
pub mod decode;
mod extended;
pub(crate) mod finished;
mod instructions;
mod kept;
mod log;
mod meta;
mod origin;
mod progress;
mod prompts;
mod reader;
pub mod reply;
mod resources;
mod seals;
mod server;
mod subscribed;
mod tools;

/// What the targets of the SDK's log records start with.
pub(crate) const SDK_TARGET: &str = "rmcp";

pub(crate) use meta::search_text;
pub use seals::StateKey;
pub(crate) use server::is_whole_modern_request;
pub use server::{Changes, Mode, Options, Server};
pub use tools::{estimated_tokens, tool_definition, tool_list};
