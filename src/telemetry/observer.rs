//! [`CallObserver`], which receives the outcome of each call.

use std::fmt;
use std::time::Duration;

/// The outcome of a call without an error, in metrics and traces.
pub(crate) const OK: &str = "ok";

/// The outcome of a call that waits for the user's answer.
pub(crate) const ASKED: &str = "asked";

/// Returns the outcome of a call if it is an error.
#[cfg(any(feature = "http", feature = "otlp"))]
pub(super) fn error_type(outcome: &'static str) -> Option<&'static str> {
    Some(outcome).filter(|outcome| ![OK, ASKED].contains(outcome))
}

/// Receives the outcome of each call, for metrics.
pub trait CallObserver: fmt::Debug + Send + Sync {
    /// Receives a call that has ended. `tool` is empty if no served tool has the name of the request.
    fn call_ended(&self, tool: &str, outcome: &'static str, duration: Duration, output_bytes: u64);
}
