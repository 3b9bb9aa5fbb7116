//! A catalog with the native tools that belong to it.

use climax_catalog::Catalog;

use crate::call::native::{Native, Natives};

/// Serves a catalog, together with the tools that are written in Rust.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     climax::Program::new(&climax::CATALOG).main()
/// }
/// ```
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

    /// Implements the native tool of this name.
    #[must_use]
    pub fn native(mut self, tool: &str, native: impl Native + 'static) -> Self {
        self.natives.insert(tool, native);
        self
    }
}
