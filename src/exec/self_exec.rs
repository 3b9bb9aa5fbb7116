//! The path of this program, to start it again as a janitor or as a sandbox shim.

/// Returns the running program, even if its file has been replaced since the start.
#[cfg(native_linux)]
pub(super) fn this_program() -> String {
    "/proc/self/exe".to_owned()
}

/// Returns the file that this program was started from.
#[cfg(not(native_linux))]
pub(super) fn this_program() -> String {
    std::env::current_exe().map_or_else(|_| "climax".to_owned(), |path| path.display().to_string())
}
