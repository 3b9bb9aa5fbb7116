//! The path of this program, to start it again as a janitor or as a sandbox shim.

/// The running program, even if its file has been replaced since the start.
pub(super) const THIS_PROGRAM: &str = "/proc/self/exe";
