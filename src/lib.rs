//! Command-line programs as tools for AI agents, over MCP.
//!
//! A build script (`climax-codegen`) compiles configs into a static [`catalog::Catalog`]; this crate serves it: the index
//! finds tools, [`call`] runs them, [`mcp`] speaks the protocol. [`main`] is the whole command line, [`Program`] the same
//! with tools that are written in Rust.

// Generated code names its types through this crate, here and in crates that depend on it.
extern crate self as climax;

pub mod call;
mod cli;
mod command;
pub mod exec;
mod generated;
mod lock;
pub mod mcp;
pub mod serving;
pub mod telemetry;
pub mod transport;

pub use call::native::Native;
pub use cli::main;
pub use climax_catalog as catalog;
pub use generated::CATALOG;
pub use serving::Program;

/// Includes the tables that `climax_codegen::Build::run` generated; defines `pub static CATALOG`.
#[macro_export]
macro_rules! include_catalog {
    () => {
        include!(concat!(env!("OUT_DIR"), "/catalog.rs"));
    };
}
