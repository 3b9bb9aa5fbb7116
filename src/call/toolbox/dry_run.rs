//! Plans a call without running it.

use std::collections::BTreeMap;
use std::future::pending;
use std::path::PathBuf;

use climax_catalog::{Cage, Risk};
use serde_json::{Map, Value};

use super::Toolbox;
use super::planning::Additions;
use crate::call::approval::Approver;
use crate::call::outcome::{CallError, CallResult};
use crate::call::plan_outcome::PlanFailure;
use crate::call::request::{Request, Session};
use crate::exec;

/// What stands for the directory of result files, which a dry run does not make.
const RESULT_FILES: &str = "<result files>";

/// How a call would run.
#[derive(Clone, Debug)]
pub struct DryRun {
    /// The words of the command line. Paths of result files start with `<result files>`.
    pub argv: Vec<String>,
    /// Variables that the call adds to the environment, each once.
    pub env: BTreeMap<String, String>,
    /// The text of the standard input.
    pub stdin: Option<String>,
    /// The directory in which the program would run.
    pub directory: PathBuf,
    /// The cage that the program would run in.
    pub cage: Option<Cage>,
    /// The risk of the call and of the commands that it starts.
    pub risk: Risk,
    /// Whether the user would have to approve the call.
    pub needs_approval: bool,
}

impl Toolbox {
    /// Plans a call with the user's values, and says how it would run. Nobody is asked for approval, and nothing runs.
    ///
    /// # Errors
    /// The result with which the call would end.
    pub async fn dry_run<A: Approver>(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        session: Session<'_>,
        approver: &A,
    ) -> Result<DryRun, CallResult<A::Question>> {
        let request = Request::Tool { name, arguments };
        let failed = |failure: Box<PlanFailure>| CallResult::Failed(failure.error);
        let plan = self.plan(request, session).map_err(failed)?;
        let answers = self.answers(&plan, approver, pending()).await?;
        let additions = Additions { answers, files_dir: Some(PathBuf::from(RESULT_FILES)) };
        let plan = self.plan_with(request, session, &additions).map_err(failed)?;

        let (risk, needs_approval) = (plan.risk(), plan.needs_approval());
        let Some((invocation, cage)) = plan.calls().next().map(|call| (call.invocation.clone(), call.cage())) else {
            return Err(CallResult::Failed(CallError::UnknownTool { suggestions: Vec::new() }));
        };
        let directory = invocation.cwd.map_or_else(exec::directory, |cwd| exec::directory().join(cwd));
        Ok(DryRun {
            argv: invocation.argv,
            env: invocation.env.into_iter().collect(),
            stdin: invocation.stdin,
            directory,
            cage,
            risk,
            needs_approval,
        })
    }
}
