//! The registry of everything that is served, which can read its files again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use climax_catalog::{Catalog, Diagnostics, ToolIndex};

use crate::call::Toolbox;
use crate::call::audit::Audit;
use crate::call::native::Natives;
use crate::exec::Runner;
use crate::serving::load::{self, LoadError, Served};
use crate::serving::snapshot::{Publisher, ServedHandle};
use crate::telemetry::CallObserver;

/// The parts that toolboxes are made of, apart from a policy.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) catalog: &'static Catalog,
    /// The compiled-in CLIs to serve; empty means all. CLIs of `configs` may be named too.
    pub(crate) names: Vec<String>,
    pub(crate) configs: Vec<PathBuf>,
    pub(crate) runner: Runner,
    pub(crate) natives: Natives,
    pub(crate) audit: Option<Arc<Audit>>,
    pub(crate) observer: Option<Arc<dyn CallObserver>>,
}

/// The list of tools as clients see it.
type ToolList = Box<dyn Fn(&ToolIndex) -> String + Send + Sync>;

/// Everything that is served: one published toolbox per policy.
pub(crate) struct Registry {
    parts: Parts,
    tool_list: ToolList,
    published: Vec<(Option<PathBuf>, Publisher)>,
}

impl Parts {
    fn toolbox(&self, policy: Option<&Path>) -> Result<(Toolbox, Diagnostics), LoadError> {
        let (served, warnings) = load::served(self.catalog, &self.names, &self.configs, policy)?;
        let Served { index, policy } = served;
        let runner = self.runner.with_executor(policy.executor().clone());
        let toolbox = Toolbox::new(index, policy, runner, self.audit.clone()).with_natives(self.natives.clone());
        let toolbox = match &self.observer {
            Some(observer) => toolbox.observed_by(observer.clone()),
            None => toolbox,
        };
        Ok((toolbox, warnings))
    }
}

impl Registry {
    /// Makes a registry without toolboxes. `tool_list` gives the list of tools as clients see it.
    pub(crate) fn new(parts: Parts, tool_list: impl Fn(&ToolIndex) -> String + Send + Sync + 'static) -> Self {
        Self { parts, tool_list: Box::new(tool_list), published: Vec::new() }
    }

    /// Has `observer` count the calls of all toolboxes that are added from now on.
    #[cfg(feature = "http")]
    pub(crate) fn observe(&mut self, observer: Arc<dyn CallObserver>) {
        self.parts.observer = Some(observer);
    }

    /// The audit file.
    pub(crate) fn audit(&self) -> Option<Arc<Audit>> {
        self.parts.audit.clone()
    }

    /// Publishes a toolbox under a policy.
    ///
    /// # Errors
    /// A file cannot be used.
    pub(crate) fn add(&mut self, policy: Option<&Path>) -> Result<(ServedHandle, Diagnostics), LoadError> {
        let (toolbox, warnings) = self.parts.toolbox(policy)?;
        let (publisher, handle) = Publisher::new(Arc::new(toolbox));
        self.published.push((policy.map(Path::to_owned), publisher));
        Ok((handle, warnings))
    }

    /// The configs and policies, as files or directories.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let policies = self.published.iter().filter_map(|(policy, _)| policy.as_deref());
        self.parts.configs.iter().map(PathBuf::as_path).chain(policies)
    }

    /// Reads all files again and publishes the toolboxes that they describe now.
    ///
    /// # Errors
    /// A file cannot be used. Every toolbox stays as it was.
    pub(crate) fn reload(&self) -> Result<Diagnostics, LoadError> {
        let mut warnings = Diagnostics::default();
        let mut toolboxes = Vec::new();
        for (policy, _) in &self.published {
            let (toolbox, found) = self.parts.toolbox(policy.as_deref())?;
            toolboxes.push(Arc::new(toolbox));
            warnings.extend(found);
        }
        for ((_, publisher), toolbox) in self.published.iter().zip(toolboxes) {
            publisher.publish(toolbox, &self.tool_list);
        }
        Ok(warnings)
    }
}
