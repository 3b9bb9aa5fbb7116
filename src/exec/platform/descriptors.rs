//! File descriptors: closes inherited ones to children, and computes the limit on connections.

use std::os::fd::BorrowedFd;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Resource, getrlimit};

/// Descriptors reserved for the server itself and for programs that are being started.
const SPARE_DESCRIPTORS: usize = 64;

/// Descriptors that the server holds for a running program: three streams and a pidfd.
const DESCRIPTORS_PER_PROGRAM: usize = 4;

/// Returns the number of descriptors that are left for connections while `programs` run at once.
///
/// The limit of the process is not raised: children would inherit it, and some of them loop over all numbers below it.
#[must_use]
pub fn room_for_connections(programs: usize) -> usize {
    let all = getrlimit(Resource::Nofile).current.map_or(usize::MAX, |all| usize::try_from(all).unwrap_or(usize::MAX));
    let taken = programs.saturating_mul(DESCRIPTORS_PER_PROGRAM).saturating_add(SPARE_DESCRIPTORS);
    // With too few descriptors for both, calls wait for others to end, but clients can still connect.
    all.saturating_sub(taken).max(all / 4)
}

/// Marks the descriptors that this process inherited as close-on-exec, except for the standard three.
///
/// Descriptors that the server opens itself have the mark from the start.
pub fn keep_descriptors_private() {
    let Ok(entries) = std::fs::read_dir("/dev/fd") else { return };
    let numbers: Vec<i32> = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();

    for number in numbers.into_iter().filter(|number| *number > 2) {
        #[expect(
            unsafe_code,
            reason = "the number comes from the kernel's list; if it was closed since, fcntl says EBADF"
        )]
        let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
        let _ = fcntl_setfd(descriptor, FdFlags::CLOEXEC);
    }
}
