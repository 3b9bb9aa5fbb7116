//! The isolation of a process that computes, on platforms without one.

/// Refuses to isolate this process.
///
/// # Errors
/// Always: this platform cannot.
pub(crate) fn isolate() -> Result<(), String> {
    Err("this platform cannot isolate a process: Linux is needed".to_owned())
}
