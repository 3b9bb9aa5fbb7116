//! `climax schema`: the file formats for editors.

use crate::command::output::print;
use clap::ValueEnum;
use std::process::ExitCode;

/// File formats.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum FileFormat {
    /// Configs
    Config,
    /// Policies
    Policy,
}

/// The files that a test keeps equal to the catalog's schemas: code that makes them would take ten times their space.
pub(crate) fn run(format: FileFormat) -> ExitCode {
    let schema = match format {
        FileFormat::Config => include_str!("../../schemas/config.json"),
        FileFormat::Policy => include_str!("../../schemas/policy.json"),
    };
    print(schema.trim_end(), ExitCode::SUCCESS)
}
