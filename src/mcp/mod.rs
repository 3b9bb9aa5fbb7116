//! The Model Context Protocol: which tools a client sees, and what it is told.
//!
//! Only this module and [`crate::transport`] name protocol types.

mod approval;
pub mod decode;
mod extended;
pub(crate) mod finished;
mod instructions;
mod kept;
mod log;
mod meta;
mod origin;
mod progress;
mod reader;
pub mod reply;
mod resources;
mod server;
mod tools;

pub use approval::StateKey;
pub(crate) use meta::search_text;
pub(crate) use server::is_whole_modern_request;
pub use server::{Changes, Mode, Options, Server};
pub use tools::{estimated_tokens, tool_definition, tool_list};
