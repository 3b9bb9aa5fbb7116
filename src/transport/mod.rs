//! Transports of MCP messages. While a server runs, only this module writes to standard output.

use std::time::Duration;

#[cfg(feature = "http")]
pub mod http;
mod in_flight;
mod line_reader;
mod output;
pub mod stdio;
pub mod streams;

/// How long the server may take to end after a shutdown. It is longer than the grace of programs, which are ended then.
pub(crate) const SHUTDOWN_LIMIT: Duration = Duration::from_millis(350);
