//! A catalog together with its native tools.

use climax_catalog::Catalog;

use crate::call::native::{Native, NativeTools};

/// A program that serves a catalog and its native tools.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// use climax::call::arguments::Bound;
/// use climax::call::native::BoxFuture;
/// use climax::{Native, Program};
///
/// /// A config with `native: true` defines the tool `ping`.
/// struct Ping;
///
/// impl Native for Ping {
///     fn call<'a>(&'a self, _: &'a Bound<'a>) -> BoxFuture<'a, Result<String, String>> {
///         Box::pin(async { Ok("pong".to_owned()) })
///     }
/// }
///
/// fn main() -> ExitCode {
///     Program::new(&climax::CATALOG).native("ping", Ping).main()
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) catalog: &'static Catalog,
    pub(crate) natives: NativeTools,
}

impl Program {
    /// Makes a program that serves `catalog` and has no native tools.
    #[must_use]
    pub fn new(catalog: &'static Catalog) -> Self {
        Self { catalog, natives: NativeTools::default() }
    }

    /// Adds the implementation of the native tool called `tool`.
    #[must_use]
    pub fn native(mut self, tool: &str, native: impl Native + 'static) -> Self {
        self.natives.insert(tool, native);
        self
    }
}
