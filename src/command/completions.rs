//! `climax completions`: prints completion scripts for shells.

use std::process::ExitCode;

use clap::Command;
use clap_complete::{Shell, generate};

use crate::command::output::print;
use crate::identity;

/// Prints the script.
pub(crate) fn run(shell: Shell, command: &mut Command) -> ExitCode {
    let mut script = Vec::new();
    generate(shell, command, identity::name(), &mut script);
    print(&String::from_utf8_lossy(&script), ExitCode::SUCCESS)
}
