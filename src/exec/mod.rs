//! Starts processes and ends them. No other module does.
//!
//! [`Runner`] runs the program of a call on this machine, in a sandbox or in a container, as the policy requires. Below
//! it are these rooms, of which each names only those after it:
//!
//! - `container`: programs in docker, podman or nerdctl
//! - `process`: a program from its start to the end of its process group
//! - `confine`: what a program may reach
//! - `files`: paths, globs, programs and the files that a program leaves
//! - `output`: what a program prints, captured, watched and without secrets
//! - `platform`: what differs between operating systems

mod caches;
mod confine;
mod container;
mod environment;
mod error;
mod files;
pub(crate) mod helper;
mod invocation;
mod limits;
mod local;
mod named_files;
mod outcome;
mod output;
mod platform;
mod process;
mod random;
mod runner;
mod secrets;
mod shared_loopback;
mod temporary;

#[cfg(has_code)]
pub(crate) use confine::isolate;
pub use confine::{
    CageRights, FindIsolation, Isolation, Readable, Rights, SYSTEM_FILES, SecretDepth, is_hidden_by_cage, kernel_abi,
    names_secret, pattern_names_secret, secret_names_below,
};
pub use environment::{directory, enter, host_name, user, variable};
pub use error::SpawnError;
pub(crate) use files::{
    Area, Opened, Place, ResultFiles, area_of, git_directory, inspect, is_there, is_tracked, open_device, open_to_read,
    open_to_write, path_of_program, paths_of_program, place_of, read_line, read_to_end, runs_programs, stream_of,
    temporary_directories, write_all,
};
pub use files::{
    FileContent, Project, ResultFile, could_write, environment_program, glob, is_program, locate, names_program,
    package_program, paths, project_of, python_environment, real_path, spelled_program,
};
pub use invocation::{Invocation, SecretSource};
pub use limits::{DEFAULT_OUTPUT_BYTES, Limits, MAX_WHOLE_OUTPUT_BYTES, default_concurrency};
pub use outcome::{End, Kept, Outcome, Stop};
#[cfg(has_code)]
pub(crate) use output::Capture;
pub use output::{
    CallState, Captured, Excerpt, MAX_LOG_LINES, MAX_TRANSCRIPT_BYTES, MAX_WAITING_LOG_LINES, Masks, RemainingLines,
    StderrLines, Transcript, Watch,
};
pub use platform::{keep_descriptors_private, room_for_connections};
pub(crate) use platform::{open_for_append, used_by_children};
pub(crate) use process::CleanupGuard;
pub use process::reap_given_children;
#[cfg(has_code)]
pub(crate) use process::{CallerSlots, Guest};
pub(crate) use process::{ErrorSink, Joint, Sink, pipe_between};
pub use random::random_bytes;
pub use runner::Runner;
