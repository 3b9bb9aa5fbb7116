//! What is served to whom, made at start and made again when files have changed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use climax_catalog::{Catalog, Diagnostics};

use crate::call::audit::Audit;
use crate::call::native::Natives;
use crate::call::Toolbox;
use crate::telemetry::CallObserver;
use crate::exec::Runner;
use crate::mcp::Mode;
use crate::serving::load::{self, LoadError, Served};
use crate::serving::snapshot::{Publisher, ServedHandle};

/// What toolboxes are made of, apart from a policy.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) catalog: &'static Catalog,
    /// Compiled-in CLIs that are served, none means all; names of the configs' CLIs may be among them.
    pub(crate) names: Vec<String>,
    pub(crate) configs: Vec<PathBuf>,
    pub(crate) runner: Runner,
    pub(crate) natives: Natives,
    pub(crate) audit: Option<Arc<Audit>>,
    pub(crate) observer: Option<Arc<dyn CallObserver>>,
}

/// Everything that is served, by the policy that it is served under.
#[derive(Debug)]
pub(crate) struct Registry {
    parts: Parts,
    mode: Mode,
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
    /// Serves nothing yet.
    pub(crate) fn new(parts: Parts, mode: Mode) -> Self {
        Self { parts, mode, published: Vec::new() }
    }

    /// Tells `observer` of the calls of all that is added from now on.
    #[cfg(feature = "http")]
    pub(crate) fn observe(&mut self, observer: Arc<dyn CallObserver>) {
        self.parts.observer = Some(observer);
    }

    /// Where calls are written down.
    pub(crate) fn audit(&self) -> Option<Arc<Audit>> {
        self.parts.audit.clone()
    }

    /// Serves what there is under another policy too.
    pub(crate) fn add(&mut self, policy: Option<&Path>) -> Result<(ServedHandle, Diagnostics), LoadError> {
        let (toolbox, warnings) = self.parts.toolbox(policy)?;
        let (publisher, live) = Publisher::new(Arc::new(toolbox));
        self.published.push((policy.map(Path::to_owned), publisher));
        Ok((live, warnings))
    }

    /// The files and directories that decide what is served.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let policies = self.published.iter().filter_map(|(policy, _)| policy.as_deref());
        self.parts.configs.iter().map(PathBuf::as_path).chain(policies)
    }

    /// Reads all files again and serves what they say now; if one of them cannot be used, everything stays as it was.
    pub(crate) fn renew(&self) -> Result<Diagnostics, LoadError> {
        let mut warnings = Diagnostics::default();
        let mut toolboxes = Vec::new();
        for (policy, _) in &self.published {
            let (toolbox, found) = self.parts.toolbox(policy.as_deref())?;
            toolboxes.push(Arc::new(toolbox));
            warnings.extend(found);
        }
        for ((_, publisher), toolbox) in self.published.iter().zip(toolboxes) {
            publisher.publish(toolbox, self.mode);
        }
        Ok(warnings)
    }
}
