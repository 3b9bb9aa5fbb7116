//! What only Linux has.

use std::os::fd::{AsFd, OwnedFd};

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
