//! The observer of calls.

use std::fmt;
use std::time::Duration;

/// Counts calls, for those who operate the server.
pub trait CallObserver: fmt::Debug + Send + Sync {
    /// Counts a call of `tool` that has ended. The name is empty if no such tool is served.
    fn call_ended(&self, tool: &str, outcome: &'static str, duration: Duration, output_bytes: u64);
}
