//! The path by which this program starts itself again, as a janitor or as a shim.

/// This program, also if its file has been replaced since.
pub(super) const THIS_PROGRAM: &str = "/proc/self/exe";
