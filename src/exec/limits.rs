//! Bounds on what one call may cost.

use std::time::Duration;

/// Bounds on what one call may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of each output stream that are kept: half from its start, half from its end.
    pub stream_bytes: usize,
    /// Longest standard output that is kept whole, in bytes, for who reads the rest of it later.
    pub whole_bytes: usize,
    /// How long a process group may take to end after TERM.
    pub grace: Duration,
    /// The same when the server itself is about to end.
    pub shutdown_grace: Duration,
    /// How long pipes that a descendant holds are awaited after the program has ended.
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

/// Default of `--max-concurrency`: four programs a processor.
#[must_use]
pub fn default_concurrency() -> usize {
    4 * std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Default of `--max-output`.
pub const DEFAULT_OUTPUT_BYTES: usize = 256 << 10;

/// Longest standard output that is kept whole, in bytes: the longest image, and what can be read later of a long text.
pub const MAX_WHOLE_OUTPUT_BYTES: usize = 8 << 20;
