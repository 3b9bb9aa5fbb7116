//! How messages travel. Only this module writes to standard output while a server runs.

#[cfg(feature = "http")]
pub mod http;
mod lines;
mod open;
pub mod stdio;
pub mod streams;
