//! How messages travel. Only this module writes to standard output while a server runs.

mod lines;
pub mod stdio;
