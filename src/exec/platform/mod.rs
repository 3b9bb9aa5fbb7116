//! What differs between operating systems, behind small functions.
//!
//! The rest of `exec` calls these and knows no system. `linux` has what only Linux has; `portable` has the same functions
//! for other systems, and for tests of them on Linux (`CLIMAX_PORTABLE`). The other files hold calls that all Unix
//! systems have and others lack. They are what a port to another kind of system has to supply.
//!
//! Confinement differs too, and has a room of its own ([`super::confine`]).

mod descriptors;
mod files;
#[cfg(native_linux)]
mod linux;
mod members;
#[cfg(not(native_linux))]
mod portable;
mod processes;

pub use descriptors::{keep_descriptors_private, room_for_connections};
pub(crate) use files::open_for_append;
pub(super) use files::{
    is_executable, make_private_dir, may_enter, may_write, open_directory, open_regular, open_regular_in,
};
#[cfg(native_linux)]
pub(super) use linux::{anonymous_file, enlarge_pipe, exit_descriptor, open_without_links, this_program};
pub(super) use members::{count_beyond_reach, count_running_besides, is_beyond_reach};
#[cfg(not(native_linux))]
pub(super) use portable::{anonymous_file, enlarge_pipe, exit_descriptor, open_without_links, this_program};
#[cfg(has_code)]
pub(super) use processes::KILL_SIGNAL;
pub(crate) use processes::used_by_children;
pub(super) use processes::{ended_child, ending_signal, has_exited, kill_group, leave_terminal, reap, terminate_group};
