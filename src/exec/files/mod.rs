//! The files of this machine: paths, globs, programs, and the files that a program leaves.

mod change_time;
pub mod glob;
pub(crate) mod inspect;
pub mod paths;
mod place;
mod program;
mod project;
mod redirect;
mod repository;
mod result_files;
mod stream;

pub(super) use change_time::{changed, from_now_on, is_changed_since};
pub use paths::{could_write, real as real_path};
pub(super) use place::PROTECTED;
pub(crate) use place::temporary_directories;
pub(crate) use place::{Area, Place, area_of, is_there, place_of};
pub use program::{
    environment_program, is_program, locate, names_program, package_program, python_environment, spelled_program,
};
pub(super) use program::{missing_interpreter, resolve};
pub(crate) use program::{path_of_program, paths_of_program};
pub use project::{Project, project_of};
pub(crate) use redirect::{Opened, open_device, open_to_read, open_to_write};
pub(super) use repository::hooks_changed_since;
pub(crate) use repository::{git_directory, is_tracked, runs_programs};
#[cfg(native_linux)]
pub(super) use repository::{has_entry, hooks_directory, repository_index};
pub(crate) use result_files::ResultFiles;
pub use result_files::{FileContent, ResultFile};
pub(crate) use stream::{read_line, read_to_end, stream_of, write_all};
