//! What stands in for confinement on systems that have none: needs permit everything, and the sandbox is refused.

use std::env::consts::OS;
use std::ffi::OsString;
use std::io;

use super::order::Order;
use super::rights::Rights;

/// Starts a process by `start`, unconfined.
///
/// # Errors
/// None: only a system that can confine may refuse to.
#[expect(clippy::unnecessary_wraps, reason = "the signature is that of Linux")]
pub(crate) fn start<T: Send + 'static>(
    _: &Rights,
    start: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<io::Result<T>, String> {
    Ok(start())
}

/// Returns the newest Landlock ABI of use: none, since only Linux has Landlock.
#[must_use]
pub fn kernel_abi() -> Option<u8> {
    None
}

/// Returns whether programs can have namespaces of their own: none, since only Linux has them.
pub(crate) fn has_namespaces() -> bool {
    false
}

/// Refuses to execute the program.
pub(crate) fn execute(_: &Order, _: &[OsString]) -> Result<u8, String> {
    Err(format!(
        "`executor: sandbox` of the policy, and cages, need Landlock and seccomp of Linux, and this climax was built for {OS} without \
         them; use `executor: container`, or run climax on Linux"
    ))
}
