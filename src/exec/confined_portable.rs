//! Starts programs on systems that cannot confine them to the needs of their tools.

use std::io;

use super::confinement::Confinement;

/// Starts a process by `start`, unconfined.
///
/// # Errors
/// None: only a system that can confine may refuse to.
#[expect(clippy::unnecessary_wraps, reason = "the signature is that of Linux")]
pub(super) fn start<T: Send + 'static>(
    _: &Confinement,
    start: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<io::Result<T>, String> {
    Ok(start())
}

/// Returns the newest Landlock ABI of use: none, since only Linux has Landlock.
#[must_use]
pub fn kernel_abi() -> Option<u8> {
    None
}
