//! `climax schema`: the file formats for editors.

use std::process::ExitCode;

use climax_catalog::{config_schema, policy};

use crate::cli::FileFormat;

pub(crate) fn run(format: FileFormat) -> ExitCode {
    let schema = match format {
        FileFormat::Config => config_schema(),
        FileFormat::Policy => policy::schema(),
    };
    super::print(&format!("{schema:#}"), ExitCode::SUCCESS)
}
