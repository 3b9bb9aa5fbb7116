//! What stands in for the means of Linux on other systems.

use std::os::fd::{AsFd, OwnedFd};

/// Returns the path of the file that this program was started from.
pub(crate) fn this_program() -> String {
    std::env::current_exe().map_or_else(|_| "climax".to_owned(), |path| path.display().to_string())
}

/// Returns no descriptor, since other systems signal the exit of a child by SIGCHLD alone.
pub(crate) fn exit_descriptor(_: i32) -> Option<OwnedFd> {
    None
}

/// Leaves a pipe as it is, since other systems fix its size.
pub(crate) fn enlarge_pipe(_: impl AsFd) {}
