//! `climax schema`: the file formats for editors.

use std::process::ExitCode;

use crate::cli::FileFormat;

/// The files that a test keeps equal to the catalog's schemas: code that makes them would take ten times their space.
pub(crate) fn run(format: FileFormat) -> ExitCode {
    let schema = match format {
        FileFormat::Config => include_str!("../../schemas/config.json"),
        FileFormat::Policy => include_str!("../../schemas/policy.json"),
    };
    super::print(schema.trim_end(), ExitCode::SUCCESS)
}
