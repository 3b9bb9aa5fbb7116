//! Which tools are served: read from files, published as snapshots, read again while the server runs.

pub mod load;
mod program;
pub(crate) mod reload;
pub mod snapshot;

pub use program::Program;
