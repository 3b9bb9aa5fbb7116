//! `climax policy`: writes a first policy, and explains one.

mod explain;
mod first;

use std::process::ExitCode;

use clap::Subcommand;

use crate::serving::Program;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: PolicyCommand,
}

#[derive(Debug, Subcommand)]
enum PolicyCommand {
    /// Write a first policy for programs to standard output
    New(first::Args),
    /// Say whether a policy permits a tool or a command line, and which of its lines decide that
    Explain(explain::Args),
}

/// Runs the subcommand.
pub(crate) fn run(program: &Program, arguments: &Args) -> ExitCode {
    match &arguments.command {
        PolicyCommand::New(arguments) => first::run(program.catalog, arguments),
        PolicyCommand::Explain(arguments) => explain::run(program.catalog, arguments),
    }
}
