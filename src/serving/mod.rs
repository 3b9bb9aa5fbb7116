//! Loads the tools to serve, publishes them as snapshots, and reloads them while the server runs.

pub mod load;
mod program;
pub(crate) mod reload;
mod skills;
pub mod snapshot;

pub use program::Program;
