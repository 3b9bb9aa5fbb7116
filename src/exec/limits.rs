//! Limits on the output and the time of one call.

use std::time::Duration;

/// Limits on the output and the time of one call.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Captured bytes of each output stream: half from its start, half from its end.
    pub stream_bytes: usize,
    /// Maximum length of a standard output that is captured whole, in bytes, so that clients can read the rest later.
    pub whole_bytes: usize,
    /// How long a process group may take to end after TERM.
    pub grace: Duration,
    /// The same while the server shuts down.
    pub shutdown_grace: Duration,
    /// How long to wait for pipes that a descendant holds open after the program has exited.
    pub drain: Duration,
    /// How long a container runtime may take to remove a container.
    pub removal: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            stream_bytes: DEFAULT_OUTPUT_BYTES,
            whole_bytes: MAX_WHOLE_OUTPUT_BYTES,
            grace: Duration::from_secs(2),
            shutdown_grace: Duration::from_millis(150),
            drain: Duration::from_millis(100),
            removal: Duration::from_secs(10),
        }
    }
}

/// Returns the default of `--max-concurrency`: four programs per processor.
#[must_use]
pub fn default_concurrency() -> usize {
    4 * std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Default of `--max-output`.
pub const DEFAULT_OUTPUT_BYTES: usize = 32 << 10;

/// Maximum length of a standard output that is captured whole, in bytes.
///
/// This limits images, and the text that clients can read later.
pub const MAX_WHOLE_OUTPUT_BYTES: usize = 8 << 20;
