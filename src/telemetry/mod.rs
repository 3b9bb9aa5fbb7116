//! Logs, metrics and traces for operators of a server.

pub(crate) mod log;
#[cfg(feature = "http")]
pub mod metrics;
mod observer;
#[cfg(feature = "otlp")]
pub(crate) mod traces;

pub use observer::CallObserver;
pub(crate) use observer::{ASKED, OK};
