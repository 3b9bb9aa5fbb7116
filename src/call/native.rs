//! Native tools: tools that are written in Rust and run in the server.
//!
//! A config with `native: true` defines their names, descriptions, args and risk. So checks, search, lists and policies
//! treat them like other tools. [`crate::Program::native`] registers the implementation, a [`Native`].

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use climax_catalog::{Catalog, CliView, ResolvedTool, near_misses};
pub use futures_util::future::BoxFuture;

use crate::call::arguments::Bound;

/// The implementation of a native tool.
///
/// ```
/// use climax::Native;
/// use climax::call::arguments::Bound;
/// use climax::call::native::BoxFuture;
///
/// struct Greet;
///
/// impl Native for Greet {
///     fn call<'a>(&'a self, arguments: &'a Bound<'a>) -> BoxFuture<'a, Result<String, String>> {
///         Box::pin(async move {
///             let name = arguments.get("name").ok_or("no name")?;
///             Ok(format!("Hello, {name}"))
///         })
///     }
/// }
/// ```
pub trait Native: Send + Sync {
    /// Calls the tool. The model reads the text, as a result or as an error.
    ///
    /// The arguments have been checked and converted, and have their defaults. The policy permits the call, and the
    /// user has approved it where that is required. The future is dropped when the call times out or is cancelled. It
    /// runs on the server's only thread, so blocking work belongs in `tokio::task::spawn_blocking`.
    fn call<'a>(&'a self, arguments: &'a Bound<'a>) -> BoxFuture<'a, Result<String, String>>;

    /// Whether a call counts among those that may run at once. One that only waits for other calls must not.
    fn takes_slot(&self) -> bool {
        true
    }
}

/// The implementations of a program's native tools, by tool name.
#[derive(Clone, Default)]
pub struct NativeTools(BTreeMap<String, Arc<dyn Native>>);

impl fmt::Debug for NativeTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// A difference between the native tools of the configs and their implementations.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// A native tool of the configs has no implementation.
    #[error("the native tool `{tool}` has no implementation in this program: {}", remedy(near.as_deref()))]
    Unimplemented {
        /// The tool.
        tool: String,
        /// The name of an implementation that resembles it.
        near: Option<String>,
    },
    /// A tool has an implementation, but its config defines a command line.
    #[error(
        "the tool `{tool}` is implemented in this program, but it runs a command line by the config of `{cli}`: rename \
         one of the two"
    )]
    RunsProgram {
        /// The tool.
        tool: String,
        /// The CLI that it belongs to.
        cli: String,
    },
    /// An implementation belongs to no tool of the configs.
    #[error(
        "the tool `{tool}` is implemented in this program, but no config defines it: describe it in a config with \
         `native: true`"
    )]
    Undefined {
        /// Its name.
        tool: String,
    },
}

/// What to do about a tool without an implementation; `near` is the name of one that resembles it.
fn remedy(near: Option<&str>) -> String {
    match near {
        Some(near) => format!("there is one under the name `{near}`"),
        None => "give it one with `Program::native`, or leave its config out".to_owned(),
    }
}

impl NativeTools {
    /// Adds the implementation of a tool. It replaces an earlier one of the same name.
    pub fn insert(&mut self, tool: impl Into<String>, native: impl Native + 'static) {
        self.0.insert(tool.into(), Arc::new(native));
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn get(&self, tool: &str) -> Option<&dyn Native> {
        self.0.get(tool).map(AsRef::as_ref)
    }

    /// Checks that each native tool of the catalog has an implementation, and that no other tool has one.
    ///
    /// A compiled-in policy removes tools from the catalog, so with one, extra implementations are allowed.
    ///
    /// # Errors
    /// All mismatches.
    pub fn check(&self, catalog: &Catalog) -> Result<(), Vec<Mismatch>> {
        // Native tools have no base command. Looking at no other CLI keeps most of a large catalog from being paged in.
        let clis = (0..).zip(catalog.clis.iter()).map(|(row, _)| CliView::new(catalog, row));
        let tools = clis.filter(|cli| cli.words().next().is_none()).flat_map(CliView::tools);
        let unimplemented = tools.filter(|tool| tool.is_native() && self.get(tool.name()).is_none());
        let mut found: Vec<Mismatch> = unimplemented.map(|tool| self.unimplemented(tool)).collect();

        for name in self.0.keys() {
            match catalog.find(name).map(|row| ResolvedTool::new(catalog, row)) {
                Some(tool) if tool.is_native() => {}
                Some(tool) => {
                    found.push(Mismatch::RunsProgram { tool: name.clone(), cli: tool.cli().name().to_owned() });
                }
                None if catalog.policy.is_some() => {}
                None => found.push(Mismatch::Undefined { tool: name.clone() }),
            }
        }

        if found.is_empty() { Ok(()) } else { Err(found) }
    }

    fn unimplemented(&self, tool: ResolvedTool<'_>) -> Mismatch {
        let near =
            near_misses(tool.name(), self.0.keys().map(String::as_str), 1).first().map(|near| (*near).to_owned());
        Mismatch::Unimplemented { tool: tool.name().to_owned(), near }
    }
}
