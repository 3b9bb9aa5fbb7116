//! [`CallObserver`], which receives the outcome of each call.

use std::fmt;
use std::time::Duration;

/// Receives the outcome of each call, for metrics.
pub trait CallObserver: fmt::Debug + Send + Sync {
    /// Receives a call that has ended. `tool` is empty if no served tool has the name of the request.
    fn call_ended(&self, tool: &str, outcome: &'static str, duration: Duration, output_bytes: u64);
}
