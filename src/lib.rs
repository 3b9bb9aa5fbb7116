//! Command-line programs as tools for AI agents, over MCP.
//!
//! A build script (`climax-codegen`) compiles configs into a static [`catalog::Catalog`]; this crate serves it: the index
//! finds tools, [`call`] runs them, [`mcp`] speaks the protocol. [`main`] is the whole command line, [`Program`] the same
//! with tools that are written in Rust.

// Generated code names its types through this crate, here and in crates that depend on it.
extern crate self as climax;

pub mod approval;
pub mod arguments;
pub mod argv;
pub mod audit;
pub mod call;
mod cli;
mod command;
pub mod diff;
mod editions;
pub mod exec;
pub mod expand;
pub mod form;
mod generated;
#[cfg(feature = "import")]
pub mod import;
pub mod limits;
pub mod live;
pub mod load;
mod log;
pub mod mcp;
#[cfg(feature = "http")]
pub mod metrics;
pub mod native;
mod program;
pub mod question;
mod terminal;
#[cfg(feature = "otlp")]
mod traces;
pub mod transport;

pub use climax_catalog as catalog;
pub use generated::CATALOG;
pub use native::Native;
pub use program::{Program, main};

/// Includes the tables that `climax_codegen::Build::run` generated; defines `pub static CATALOG`.
#[macro_export]
macro_rules! include_catalog {
    () => {
        include!(concat!(env!("OUT_DIR"), "/catalog.rs"));
    };
}
