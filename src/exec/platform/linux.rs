//! What only Linux has.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, MemfdFlags, Mode, OFlags, ResolveFlags, memfd_create, openat2};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Requested size of a pipe that must hold much. The system may allow less.
const PIPE_BYTES: usize = 1 << 20;

/// Returns the path of the running program, even if its file has been replaced since the start.
pub(crate) fn this_program() -> String {
    "/proc/self/exe".to_owned()
}

/// Opens a descriptor of a child that becomes readable when the child has exited; `None` if the kernel has none.
///
/// Source: `pidfd_open(2)`.
pub(crate) fn exit_descriptor(child: i32) -> Option<OwnedFd> {
    pidfd_open(Pid::from_raw(child)?, PidfdFlags::empty()).ok()
}

/// Makes a pipe hold as much as the system allows, so that its writer seldom waits.
pub(crate) fn enlarge_pipe(pipe: impl AsFd) {
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, PIPE_BYTES);
}

/// Makes a file that has no name.
///
/// # Errors
/// The system lacks descriptors or memory.
pub(crate) fn anonymous_file() -> io::Result<File> {
    Ok(memfd_create("climax", MemfdFlags::CLOEXEC)?.into())
}

/// Opens a path of which no part may be a link.
///
/// # Errors
/// It cannot be opened, or a part of it is a link.
pub(crate) fn open_without_links(path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    Ok(openat2(CWD, path, flags, mode, ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS)?)
}
