//! What a server tells its operators: logs, metrics and traces.

pub(crate) mod log;
#[cfg(feature = "http")]
pub mod metrics;
#[cfg(feature = "otlp")]
pub(crate) mod traces;
