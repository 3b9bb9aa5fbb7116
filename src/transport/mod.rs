//! How messages travel. Only this module writes to standard output while a server runs.

use std::time::Duration;

#[cfg(feature = "http")]
pub mod http;
mod in_flight;
mod lines;
pub mod stdio;
pub mod streams;

/// How long the server may take to end once nothing is to be waited for; longer than the grace of programs then.
pub(crate) const SHUTDOWN_LIMIT: Duration = Duration::from_millis(350);
