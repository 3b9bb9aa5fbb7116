//! `climax schema`: the config format for editors.

use std::process::ExitCode;

use climax_catalog::config_schema;

pub(crate) fn run() -> ExitCode {
    super::print(&format!("{:#}", config_schema()), ExitCode::SUCCESS)
}
