//! What a server tells its operators: logs, metrics and traces.

pub(crate) mod log;
#[cfg(feature = "http")]
pub mod metrics;
mod observer;
#[cfg(feature = "otlp")]
pub(crate) mod traces;

pub use observer::CallObserver;
