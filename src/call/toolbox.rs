//! [`Toolbox`]: the tools, the policy and the runner. It plans requests and runs the plans.

mod commands;
mod dry_run;
mod effects;
mod ignored;
mod journal;
mod planning;
mod run;
mod values;

use std::sync::{Arc, OnceLock};

use climax_catalog::{MAX_SUGGESTIONS, Policy, Prompt, ResolvedTool, Skill, ToolIndex, digest, near_misses};
use serde_json::{Map, Value};

pub use self::dry_run::DryRun;
pub(crate) use self::ignored::FILES_OF_GIT;
pub(in crate::call) use self::journal::{Entry, Journal};
pub(in crate::call) use self::planning::LineStage;
pub(in crate::call) use self::run::explained;
use crate::call::audit::Audit;
use crate::call::native::NativeTools;
use crate::call::outcome::CallError;
use crate::call::request::{Purpose, Request, Session};
use crate::exec::{Project, Runner};
use crate::telemetry::CallObserver;

/// Runs calls of the tools in an index, under a policy.
///
/// ```
/// use std::future::pending;
///
/// use climax::call::approval::Unattended;
/// use climax::call::{CallResult, Purpose, Session, Toolbox};
/// use climax::catalog::policy::Executor;
/// use climax::catalog::{Layer, Policy, ToolIndex};
/// use climax::exec::{Limits, Runner};
/// use serde_json::Map;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let index = ToolIndex::from_configs(vec![Layer::compiled(&climax::CATALOG)]);
/// let runner = Runner::new(Executor::Local, Limits::default(), 4);
/// let toolbox = Toolbox::new(index, Policy::default(), runner, None);
///
/// let session = Session::anonymous(Purpose::Call);
/// let ran = toolbox.call("coreutils_date", &Map::new(), session, &Unattended, pending()).await;
/// let CallResult::Ran(outcome) = ran else {
///     panic!("the program ran");
/// };
/// println!("{}", outcome.stdout.text());
/// # }
/// ```
#[derive(Debug)]
pub struct Toolbox {
    /// The tools. The policy has been applied to them.
    pub index: ToolIndex,
    /// The policy.
    pub policy: Policy,
    /// Runs programs.
    pub runner: Runner,
    /// The audit file.
    pub audit: Option<Arc<Audit>>,
    natives: NativeTools,
    skills: Vec<Skill>,
    observer: Option<Arc<dyn CallObserver>>,
    /// The digest of the index and the policy, computed on first use.
    digest: OnceLock<String>,
    /// The project that cages are about, found on first use.
    project: OnceLock<Option<Project>>,
}

impl Toolbox {
    /// Makes a toolbox. The policy must have been applied to the index.
    #[must_use]
    pub fn new(index: ToolIndex, policy: Policy, runner: Runner, audit: Option<Arc<Audit>>) -> Self {
        let natives = NativeTools::default();
        let (digest, project) = (OnceLock::new(), OnceLock::new());
        Self { index, policy, runner, audit, natives, skills: Vec::new(), observer: None, digest, project }
    }

    /// Adds skills, which mention tools of the index only.
    #[must_use]
    pub fn with_skills(self, skills: Vec<Skill>) -> Self {
        Self { skills, ..self }
    }

    /// The skills.
    #[must_use]
    pub fn skills(&self) -> &[Skill] {
        &self.skills
    }

    /// Adds the implementations of native tools.
    #[must_use]
    pub fn with_natives(self, natives: NativeTools) -> Self {
        Self { natives, ..self }
    }

    /// Reports each call to `observer`.
    #[must_use]
    pub fn observed_by(self, observer: Arc<dyn CallObserver>) -> Self {
        Self { observer: Some(observer), ..self }
    }

    /// Iterates over the prompts that call no tool whose calls require approval.
    pub fn prompts(&self) -> impl Iterator<Item = &Prompt> {
        let is_free = |name: &str| self.index.get(name).is_some_and(|tool| !self.policy.needs_approval(tool));
        self.index.prompts().iter().filter(move |prompt| prompt.calls().all(|(name, _)| is_free(name)))
    }

    /// Returns the digest of the catalog and the policy ([`climax_catalog::digest`]).
    #[must_use]
    pub fn digest(&self) -> &str {
        self.digest.get_or_init(|| digest(&self.index, &self.policy).into_owned())
    }

    /// Checks a call without running it: the tool, the arguments and the policy.
    ///
    /// # Errors
    /// The reason why the call would fail.
    pub fn check(&self, tool: &str, arguments: &Map<String, Value>) -> Result<(), CallError> {
        let request = Request::Tool { name: tool, arguments };
        match self.plan(request, Session::anonymous(Purpose::Call)) {
            Ok(_) => Ok(()),
            Err(failure) => Err(failure.error),
        }
    }
}

/// Returns the names of served tools that resemble `name`, nearest first.
#[must_use]
pub fn suggest_tools(index: &ToolIndex, name: &str) -> Vec<String> {
    let near = near_misses(name, index.tools().map(ResolvedTool::name), MAX_SUGGESTIONS);
    near.into_iter().map(str::to_owned).collect()
}
