//! Plans a call without running it.

use std::collections::BTreeMap;
use std::future::pending;
use std::path::PathBuf;

use climax_catalog::Risk;

use super::checked::CheckedCall;
use super::{Toolbox, plan};
use crate::call::approval::{Approver, PendingCall, PlannedCall};
use crate::call::outcome::CallResult;
use crate::call::request::CallRequest;
use crate::exec;

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
    /// The risk of the call and of the commands that it starts.
    pub risk: Risk,
    /// Whether the user would have to approve the call.
    pub needs_approval: bool,
}

impl Toolbox {
    /// Takes the steps of a call up to the question for approval, which is not asked. Nothing runs.
    ///
    /// # Errors
    /// The result with which the call would end.
    pub async fn dry_run<A: Approver>(
        &self,
        request: CallRequest<'_>,
        approver: &A,
    ) -> Result<DryRun, CallResult<A::Question>> {
        let (tool, given) = self.bind(request).map_err(CallResult::Failed)?;
        let bound = self.with_answers(tool, given, request, approver, pending()).await?;
        let bound = bound.with_files(tool, |output| format!("<result files>/{}", output.file));
        let mut invocation = plan(tool, &bound, request, None);
        let started =
            self.check_started_by(tool, &bound, &mut invocation, request.purpose).map_err(CallResult::Failed)?;
        let planned = PlannedCall { tool, bound: &bound, invocation: &invocation };
        let calls: Vec<PlannedCall<'_>> =
            std::iter::once(planned).chain(started.iter().flat_map(CheckedCall::planned)).collect();
        let risk = calls.iter().map(PlannedCall::risk).max().unwrap_or(Risk::Destructive);
        let needs_approval = PendingCall { calls, policy: &self.policy, runner: &self.runner }.needs_approval();
        let directory = invocation.cwd.map_or_else(exec::directory, |cwd| exec::directory().join(cwd));
        Ok(DryRun {
            argv: invocation.argv,
            env: invocation.env.into_iter().collect(),
            stdin: invocation.stdin,
            directory,
            risk,
            needs_approval,
        })
    }
}
