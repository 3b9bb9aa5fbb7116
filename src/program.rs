//! A program that serves a catalog.

use std::process::ExitCode;

use climax_catalog::Catalog;

use crate::cli::{self, FAILURE};
use crate::native::{Native, Natives};
use crate::terminal;

/// A program that serves a catalog, with the tools that it brings itself.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) catalog: &'static Catalog,
    pub(crate) natives: Natives,
}

impl Program {
    /// A program that serves `catalog`.
    #[must_use]
    pub fn new(catalog: &'static Catalog) -> Self {
        Self { catalog, natives: Natives::default() }
    }

    /// Says what the native tool of this name does.
    #[must_use]
    pub fn native(mut self, tool: &str, native: impl Native + 'static) -> Self {
        self.natives.insert(tool, native);
        self
    }

    /// Runs the command line.
    ///
    /// Exit status: 0 fine, 1 the thing asked for failed, 2 usage. Native tools that do not fit the catalog are all named
    /// on standard error, and nothing is served.
    #[must_use]
    pub fn main(self) -> ExitCode {
        if let Err(found) = self.natives.check(self.catalog) {
            for mismatch in found {
                terminal::error(&format!("climax: {mismatch}"));
            }
            return ExitCode::from(FAILURE);
        }
        cli::main(&self)
    }
}

/// Runs the command line of a program that serves `catalog` and brings no tools itself; see [`Program::main`].
#[must_use]
pub fn main(catalog: &'static Catalog) -> ExitCode {
    Program::new(catalog).main()
}
