//! Descriptors that the server was started with.

use std::os::fd::BorrowedFd;

use rustix::io::{FdFlags, fcntl_setfd};

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
