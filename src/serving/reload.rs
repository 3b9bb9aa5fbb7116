//! The registry of served toolboxes, which reloads their files.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use climax_catalog::{Catalog, Diagnostics};

use crate::call::Toolbox;
use crate::call::audit::Audit;
use crate::call::judge::Rewriter;
use crate::call::line_judge::LineJudge;
use crate::call::native::NativeTools;
use crate::exec::Runner;
use crate::lock::Unpoisoned as _;
use crate::serving::load::{self, LoadError, Loaded, LoadedTools, Wanted};
use crate::serving::snapshot::{Publisher, ServedHandle};
use crate::telemetry::CallObserver;

/// The settings that all toolboxes share. Only the policy differs.
#[derive(Clone, Debug)]
pub(crate) struct ToolboxSettings {
    pub(crate) catalog: &'static Catalog,
    pub(crate) wanted: Wanted,
    pub(crate) runner: Runner,
    pub(crate) natives: NativeTools,
    /// Whether the program has native tools, which may start processes of their own.
    pub(crate) has_own_natives: bool,
    pub(crate) audit: Option<Arc<Audit>>,
    pub(crate) observer: Option<Arc<dyn CallObserver>>,
    /// What rewritten lines start under no policy, if lines of other shells are judged.
    pub(crate) rewriter: Option<Rewriter>,
}

/// A toolbox with what judges lines beside it, the names of its tools that config files define, and warnings about the files.
struct LoadedToolbox {
    toolbox: Arc<Toolbox>,
    judge: Option<LineJudge>,
    of_configs: Vec<String>,
    warnings: Diagnostics,
}

/// A published toolbox.
pub(crate) struct Published {
    pub(crate) handle: ServedHandle,
    /// Names of the served tools that config files define.
    pub(crate) of_configs: Vec<String>,
    pub(crate) warnings: Diagnostics,
}

/// Renders the list of tools as clients see it.
type ToolList = Box<dyn Fn(&Toolbox) -> String + Send + Sync>;

/// The served toolboxes: one per policy.
pub(crate) struct Registry {
    settings: ToolboxSettings,
    tool_list: ToolList,
    published: Vec<(Option<PathBuf>, Publisher)>,
    /// Held while files are reloaded, so that an older version never replaces a newer one.
    reloading: Mutex<()>,
}

impl ToolboxSettings {
    /// Loads the files and makes a toolbox.
    fn toolbox(&self, path: Option<&Path>) -> Result<LoadedToolbox, LoadError> {
        let Loaded { served, skills, of_configs, warnings } = load::load_tools(self.catalog, &self.wanted, path)?;
        let LoadedTools { index, policy } = served;
        let withholds_tools = policy.withholds_tools();
        let runner = self.runner.with_executor(policy.executor().clone());
        let toolbox = Toolbox::new(index, policy, runner, self.audit.clone())
            .with_natives(self.natives.clone())
            .with_skills(skills);
        let judge = self.rewriter.as_ref().map(|rewriter| self.judge(rewriter, path, withholds_tools)).transpose()?;
        let toolbox = match &self.observer {
            Some(observer) => toolbox.observed_by(observer.clone()),
            None => toolbox,
        };

        Ok(LoadedToolbox { toolbox: Arc::new(toolbox), judge, of_configs, warnings })
    }

    /// Makes what judges lines beside a toolbox.
    fn judge(&self, rewriter: &Rewriter, policy: Option<&Path>, withholds_tools: bool) -> Result<LineJudge, LoadError> {
        let unrestricted = if withholds_tools {
            let LoadedTools { index, policy } = load::load_tools(self.catalog, &self.wanted, None)?.served;
            Some(Toolbox::new(index, policy, self.runner.clone(), None))
        } else {
            None
        };
        let rewriter = policy.map_or_else(|| rewriter.clone(), |path| rewriter.under(path));
        Ok(LineJudge::new(rewriter, unrestricted))
    }
}

impl Registry {
    /// Makes a registry without toolboxes. `tool_list` renders the list of tools as clients see it.
    pub(crate) fn new(
        settings: ToolboxSettings,
        tool_list: impl Fn(&Toolbox) -> String + Send + Sync + 'static,
    ) -> Self {
        Self { settings, tool_list: Box::new(tool_list), published: Vec::new(), reloading: Mutex::default() }
    }

    /// Reports the calls of all toolboxes that are added later to `observer`.
    #[cfg(feature = "http")]
    pub(crate) fn observe(&mut self, observer: Arc<dyn CallObserver>) {
        self.settings.observer = Some(observer);
    }

    /// Returns the audit file.
    pub(crate) fn audit(&self) -> Option<Arc<Audit>> {
        self.settings.audit.clone()
    }

    /// Loads and publishes a toolbox with a policy.
    ///
    /// # Errors
    /// A file has errors.
    pub(crate) fn add(&mut self, policy: Option<&Path>) -> Result<Published, LoadError> {
        let LoadedToolbox { toolbox, judge, of_configs, warnings } = self.settings.toolbox(policy)?;
        let (publisher, handle) = Publisher::new(toolbox);
        publisher.judge_by(judge);
        self.published.push((policy.map(Path::to_owned), publisher));
        Ok(Published { handle, of_configs, warnings })
    }

    /// Whether tools run in this process, and may start processes of their own.
    pub(crate) fn has_natives(&self) -> bool {
        self.settings.has_own_natives
    }

    /// Iterates over the paths of configs, skills and policies.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let policies = self.published.iter().filter_map(|(policy, _)| policy.as_deref());
        self.settings.wanted.configs.iter().map(PathBuf::as_path).chain(self.skills()).chain(policies)
    }

    /// Iterates over the directories of skills.
    pub(crate) fn skills(&self) -> impl Iterator<Item = &Path> {
        self.settings.wanted.skills.iter().map(PathBuf::as_path)
    }

    /// Reloads all files and publishes the new toolboxes.
    ///
    /// # Errors
    /// A file has errors. Then no toolbox is replaced.
    pub(crate) fn reload(&self) -> Result<Diagnostics, LoadError> {
        let _one_at_a_time = self.reloading.lock().unpoisoned();
        let mut warnings = Diagnostics::default();
        let mut toolboxes = Vec::new();

        for (policy, _) in &self.published {
            let loaded = self.settings.toolbox(policy.as_deref())?;
            toolboxes.push((loaded.toolbox, loaded.judge));
            warnings.extend(loaded.warnings);
        }

        for ((_, publisher), (toolbox, judge)) in self.published.iter().zip(toolboxes) {
            publisher.judge_by(judge);
            publisher.publish(toolbox, &self.tool_list);
        }

        Ok(warnings)
    }
}
