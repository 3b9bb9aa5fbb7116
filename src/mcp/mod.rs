//! The Model Context Protocol: which tools a client sees, and what it is told.
//!
//! Only this module and [`crate::transport`] name protocol types.

mod approval;
pub mod decode;
mod extended;
mod instructions;
mod kept;
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
pub use server::{Changes, Mode, Options, Server};
pub use tools::{estimated_tokens, tool_definition, tool_list};
