//! Integration tests: one binary, one module per boundary.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::needless_pass_by_value,
    reason = "helpers of tests fail by panicking, and tests start programs of their own"
)]

mod approval;
mod arguments;
mod audit;
mod author;
mod build;
mod bypasses;
mod cage_attack;
#[cfg(native_linux)]
mod cage_escapes;
mod cage_git;
mod cage_network;
mod cage_temporary;
mod caged_project;
mod cages;
mod chain;
mod client;
#[cfg(has_code)]
mod code;
mod code_blocks;
mod command_line;
mod command_lines;
mod commands;
mod completion;
mod containers;
mod desk;
mod differential;
mod documented_lines;
mod exec;
mod extended;
mod failures;
mod files;
mod format_pages;
mod generated;
#[cfg(native_linux)]
mod hostile_calls;
mod hostile_directories;
mod http;
mod ignored;
#[cfg(feature = "import")]
mod import;
mod install;
mod jobs;
mod judge;
mod language;
mod laws;
mod limits;
mod lines;
mod lint;
mod logging;
mod markdown;
mod memory;
mod native;
#[cfg(native_linux)]
mod needs;
#[cfg(feature = "oauth")]
mod oauth;
#[cfg(feature = "otlp")]
mod otlp;
mod own_words;
mod policies;
mod policy;
mod progress;
mod project_files;
mod promises;
#[cfg(feature = "prompt")]
mod prompt;
mod prompts;
mod protocol;
mod questions;
mod reasons;
mod reference_pages;
mod regular_files;
mod resource_limits;
mod resources;
mod retrieval;
mod run_line;
#[cfg(native_linux)]
mod sandbox;
mod server;
#[cfg(feature = "http")]
mod sh;
mod skills;
mod started;
mod statuses;
mod steps;
mod strays;
mod support;
mod surface;
mod tidy;
mod typed_results;
mod unknown_programs;
mod usage;
mod web;
mod within;
