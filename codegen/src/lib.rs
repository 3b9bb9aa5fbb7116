//! Compiles config files into the tables that a `climax` binary serves.
//!
//! For build scripts:
//!
//! ```no_run
//! climax_codegen::Build::new().configs("configs").run();
//! ```
//!
//! and in the crate itself `climax::include_catalog!();`, which defines `CATALOG`.
//!
//! [`emit`] is the generator: a pure function from a catalog to texts. [`Build`] reads files, writes to `OUT_DIR` and
//! prints cargo directives.

mod build;
mod emit;
mod report;

pub use build::Build;
pub use emit::{EmitError, Generated, emit};
