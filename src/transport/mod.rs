//! How messages travel. Only this module writes to standard output while a server runs.

#[cfg(feature = "http")]
pub mod http;
mod lines;
pub mod stdio;
pub mod streams;
