//! The files of this machine: paths, globs, programs, and the files that a program leaves.

pub mod glob;
pub mod paths;
mod program;
mod result_files;

pub use paths::could_write;
pub(super) use program::resolve;
pub use program::{locate, names_program};
pub(crate) use result_files::ResultFiles;
pub use result_files::{FileContent, ResultFile};
