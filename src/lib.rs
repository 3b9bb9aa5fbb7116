//! Serves command-line programs as tools for AI agents, over MCP.
//!
//! A build script (`climax-codegen`) compiles configs into a static [`catalog::Catalog`]. This crate serves the
//! catalog: the index finds tools, [`call`] runs them, [`mcp`] implements the protocol. [`main`] is the whole command
//! line, and [`Program`] adds tools that are written in Rust.

// Generated code uses paths such as `climax::catalog`, in this crate and in its dependents.
extern crate self as climax;

pub mod call;
mod cli;
#[cfg(has_code)]
mod code;
mod command;
pub mod exec;
mod generated;
mod identity;
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

/// Includes the catalog that `climax_codegen::Build::run` generated, as `pub static CATALOG`.
#[macro_export]
macro_rules! include_catalog {
    () => {
        include!(concat!(env!("OUT_DIR"), "/catalog.rs"));
    };
}
