//! Integration tests: one binary, one module per boundary.

mod arguments;
mod argv;
mod build;
mod commands;
mod exec;
mod generated;
mod laws;
mod protocol;
mod server;
mod support;
mod tidy;
