//! `climax schema`: prints the JSON Schema of a file format, for editors.

use std::process::ExitCode;

use clap::ValueEnum;

use crate::command::output::print;

/// File formats.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum FileFormat {
    /// Configs
    Config,
    /// Policies
    Policy,
}

/// Prints the schema from a file.
///
/// The schema is read from a file because the code that generates it would take ten times the space. A test compares
/// the two.
pub(crate) fn run(format: FileFormat) -> ExitCode {
    let schema = match format {
        FileFormat::Config => include_str!("../../schemas/config.json"),
        FileFormat::Policy => include_str!("../../schemas/policy.json"),
    };
    print(schema.trim_end(), ExitCode::SUCCESS)
}
