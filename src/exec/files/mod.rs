//! The files of this machine: paths, globs, programs, and the files that a program leaves.

pub mod glob;
pub mod paths;
mod program;
mod project;
mod result_files;

pub use paths::could_write;
pub(super) use program::resolve;
pub use program::{is_program, locate, names_program};
pub use project::{Project, project};
pub(crate) use result_files::ResultFiles;
pub use result_files::{FileContent, ResultFile};
