//! A program that may get a config.

use std::path::{Path, PathBuf};

use climax_catalog::ToolIndex;

use crate::exec::names_program;

/// Returns whether a compiled-in config describes a program.
pub(super) fn is_bundled(bundled: &ToolIndex, program: &str) -> bool {
    bundled.programs().any(|name| names_program(program, name))
}

/// Returns the file in this directory that has the name of the program.
pub(super) fn file_of(program: &str) -> PathBuf {
    let name = Path::new(program).file_name().unwrap_or_default();
    let mut name = name.to_owned();
    name.push(".yaml");
    name.into()
}
