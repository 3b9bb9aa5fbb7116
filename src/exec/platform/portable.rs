//! What stands in for the means of Linux on other systems.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags, open};

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

/// Makes a file that has no name.
///
/// # Errors
/// The directory for temporary files cannot be written.
pub(crate) fn anonymous_file() -> io::Result<File> {
    tempfile::tempfile()
}

/// Opens a path whose last part may not be a link. Whoever asks has resolved those before it.
///
/// # Errors
/// It cannot be opened, or it is a link.
pub(crate) fn open_without_links(path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    Ok(open(path, flags | OFlags::NOFOLLOW, mode)?)
}
