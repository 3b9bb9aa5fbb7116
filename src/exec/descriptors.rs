//! Descriptors: those that the server was started with, and how many there can be.

use std::os::fd::BorrowedFd;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Resource, getrlimit};

/// Descriptors that no connection takes: the server's own, and those of programs that are being started.
const SPARE_DESCRIPTORS: usize = 64;

/// Descriptors that a running program takes of the server: its three streams and itself.
const DESCRIPTORS_PER_PROGRAM: usize = 4;

/// How many descriptors are left for connections while `programs` run at once.
///
/// The limit itself stays as it is: children would inherit another, and some of them loop over all numbers below it.
#[must_use]
pub fn room_for_connections(programs: usize) -> usize {
    let all = getrlimit(Resource::Nofile).current.map_or(usize::MAX, |all| usize::try_from(all).unwrap_or(usize::MAX));
    let taken = programs.saturating_mul(DESCRIPTORS_PER_PROGRAM).saturating_add(SPARE_DESCRIPTORS);
    // Where there are too few for both, calls may fail, but clients are told so.
    all.saturating_sub(taken).max(all / 4)
}

/// Keeps children from inheriting descriptors that this process was started with, beyond the standard three.
///
/// Those that the server opens itself are close-on-exec from the start.
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
