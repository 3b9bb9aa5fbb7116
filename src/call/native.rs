//! Tools that are written in Rust, beside those that run programs.
//!
//! A config with `native: true` says what they are, like any other: names, descriptions, args, risk. So they are checked at
//! build time, found, listed, counted and policed like any other too. What they do is a [`Native`], which
//! [`crate::Program::native`] puts under the tool's name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use climax_catalog::{Catalog, CliView, ResolvedTool, near_misses};
pub use futures_util::future::BoxFuture;

use crate::call::arguments::Bound;

/// What a tool that is written in Rust does.
pub trait Native: Send + Sync {
    /// Does it; the text is what the model reads, as a result or as an error.
    ///
    /// The arguments have been checked, converted and defaulted, the policy permits them, and whoever is to approve has.
    /// The future is dropped when the call times out or is given up. It runs on the server's only thread: what blocks
    /// belongs into `tokio::task::spawn_blocking`.
    fn call<'a>(&'a self, arguments: &'a Bound<'a>) -> BoxFuture<'a, Result<String, String>>;
}

/// The native tools of a program, by their names.
#[derive(Clone, Default)]
pub struct Natives(BTreeMap<String, Arc<dyn Native>>);

impl fmt::Debug for Natives {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Natives and a catalog that do not fit each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// A native tool of the configs that nothing in the program implements.
    Unimplemented {
        /// The tool.
        tool: String,
        /// An implementation under a similar name.
        near: Option<String>,
    },
    /// A tool that is implemented in the program, and runs a command line by its config.
    RunsProgram {
        /// The tool.
        tool: String,
        /// The CLI that it belongs to.
        cli: String,
    },
    /// An implementation of a tool that no config has.
    Undefined {
        /// The name.
        tool: String,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unimplemented { tool, near } => {
                write!(f, "the native tool `{tool}` has no implementation in this program: ")?;
                match near {
                    Some(near) => write!(f, "there is one under the name `{near}`"),
                    None => f.write_str("give it one with `Program::native`, or leave its config out"),
                }
            }
            Self::RunsProgram { tool, cli } => write!(
                f,
                "the tool `{tool}` is implemented in this program, but it runs a command line by the config of `{cli}`: \
                 rename one of the two"
            ),
            Self::Undefined { tool } => write!(
                f,
                "the tool `{tool}` is implemented in this program, but no config defines it: \
                 describe it in a config with `native: true`"
            ),
        }
    }
}

impl std::error::Error for Mismatch {}

impl Natives {
    /// Adds what the tool of this name does; what was added under the same name before is replaced.
    pub fn insert(&mut self, tool: impl Into<String>, native: impl Native + 'static) {
        self.0.insert(tool.into(), Arc::new(native));
    }

    pub(crate) fn get(&self, tool: &str) -> Option<&dyn Native> {
        self.0.get(tool).map(AsRef::as_ref)
    }

    /// Checks that each native tool of the catalog is implemented, and that nothing else is.
    ///
    /// Where a policy is compiled in, what it hides is not in the catalog, and may be implemented all the same.
    ///
    /// # Errors
    /// Everything that does not fit.
    pub fn check(&self, catalog: &Catalog) -> Result<(), Vec<Mismatch>> {
        // Only CLIs without a base command are looked into: the rest of a large catalog is not paged in for this.
        let clis = (0..).zip(catalog.clis.iter()).map(|(row, _)| CliView::new(catalog, row));
        let tools = clis.filter(|cli| cli.words().len() == 0).flat_map(CliView::tools);
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
