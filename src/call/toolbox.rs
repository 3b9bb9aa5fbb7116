//! [`Toolbox`]: the tools, the policy and the runner of calls, and the steps of a call in order.

mod checked;
mod dry_run;
mod lines;
mod values;

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use climax_catalog::{MAX_SUGGESTIONS, Policy, Prompt, ResolvedTool, Skill, ToolIndex, digest, near_misses};
use serde_json::{Map, Value};

pub use self::dry_run::DryRun;
use self::values::{bind_known, invalid, only_reads, permitted_paths, permitted_values};
use crate::call::approval::{Approver, PendingCall, PlannedCall};
use crate::call::arguments::{self, Bound};
use crate::call::audit::{Audit, Record};
use crate::call::command_line;
use crate::call::confinement;
use crate::call::denial;
use crate::call::environment;
use crate::call::native::{Native, NativeTools};
use crate::call::outcome::{CallError, CallResult, Permission};
use crate::call::request::{CallRequest, Purpose};
use crate::call::space::claimed_bytes;
use crate::call::user_input::{approve, fill_in_forms};
use crate::exec::{self, CleanupGuard, End, Invocation, Outcome, ResultFiles, Runner, SpawnError, Stop};
use crate::telemetry::CallObserver;

/// Runs calls of the tools in an index, under a policy.
///
/// ```
/// use std::future::pending;
///
/// use climax::call::approval::Unattended;
/// use climax::call::{CallRequest, CallResult, Purpose, Toolbox};
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
/// let request = CallRequest {
///     tool: "coreutils_date",
///     arguments: &Map::new(),
///     watch: None,
///     env: &[],
///     caller: None,
///     purpose: Purpose::Call,
///     space: None,
/// };
/// let CallResult::Ran(outcome) = toolbox.call(request, &Unattended, pending()).await else {
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
}

/// The result of a step: the input of the next step, or an early end of the call with its permission so far.
type Step<T, Q> = Result<T, (Permission, CallResult<Q>)>;

impl Toolbox {
    /// Makes a toolbox. The policy must have been applied to the index.
    #[must_use]
    pub fn new(index: ToolIndex, policy: Policy, runner: Runner, audit: Option<Arc<Audit>>) -> Self {
        let natives = NativeTools::default();
        Self { index, policy, runner, audit, natives, skills: Vec::new(), observer: None, digest: OnceLock::new() }
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

    /// Calls a tool. When `stop` completes, the call ends early.
    ///
    /// The audit line is written before this returns. A call without an audit line does not run.
    pub async fn call<A: Approver>(
        &self,
        request: CallRequest<'_>,
        approver: &A,
        stop: impl Future<Output = Stop>,
    ) -> CallResult<A::Question> {
        let start = Instant::now();
        let result = self.audited(request, approver, stop).await;
        if let Some(observer) = &self.observer {
            let bytes = match &result {
                CallResult::Ran(outcome) => outcome.stdout.total_bytes() + outcome.stderr.total_bytes(),
                CallResult::Failed(_) | CallResult::InputRequired(_) => 0,
            };
            let is_served = !matches!(result, CallResult::Failed(CallError::UnknownTool { .. }));
            let tool = if is_served { request.tool } else { "" };
            observer.call_ended(tool, result.codes().outcome, start.elapsed(), bytes);
        }
        result
    }

    /// Runs a call and writes its audit line, if there is an audit file.
    async fn audited<A: Approver>(
        &self,
        request: CallRequest<'_>,
        approver: &A,
        stop: impl Future<Output = Stop>,
    ) -> CallResult<A::Question> {
        let Some(audit) = &self.audit else { return self.permitted(request, None, approver, stop).await.1 };
        let number = match audit.begin_call() {
            Ok(number) => number,
            Err(error) => return CallResult::Failed(CallError::Unaudited(error)),
        };
        let start = Instant::now();
        let (permission, result) = self.permitted(request, Some((audit, number)), approver, stop).await;
        let record = self.record(request, number, permission, start.elapsed());
        if let Err(error) = audit.write(&record.to_json(&result)) {
            tracing::error!(%error, "the audit line cannot be written; further calls fail until it can");
        }
        result
    }

    /// Runs all steps of a call. `audited` holds the audit file and the number of the call.
    async fn permitted<A: Approver>(
        &self,
        request: CallRequest<'_>,
        audited: Option<(&Audit, u64)>,
        approver: &A,
        stop: impl Future<Output = Stop>,
    ) -> (Permission, CallResult<A::Question>) {
        let mut stop = std::pin::pin!(stop);
        let result = self.steps(request, audited, approver, stop.as_mut()).await;
        result.map_or_else(|early| early, |(permission, outcome)| (permission, CallResult::Ran(outcome)))
    }

    /// The steps of a call, in order.
    async fn steps<A: Approver, S: Future<Output = Stop>>(
        &self,
        request: CallRequest<'_>,
        audited: Option<(&Audit, u64)>,
        approver: &A,
        mut stop: Pin<&mut S>,
    ) -> Step<(Permission, Outcome), A::Question> {
        let (tool, given) = self.bind(request).map_err(unpermitted)?;
        let bound = self.with_answers(tool, given, request, approver, stop.as_mut()).await.map_err(awaited)?;
        let files = ResultFiles::for_tool(tool).map_err(|error| unpermitted(SpawnError::Files(error).into()))?;
        let bound = with_paths(tool, bound, files.as_ref());
        let mut invocation = plan(tool, &bound, request, files.as_ref());
        self.confine(tool, &bound, &mut invocation);
        let started = self.check_started_by(tool, &bound, &mut invocation, request.purpose).map_err(unpermitted)?;
        environment::add(&self.policy, &mut invocation, &exec::variable).map_err(|error| unpermitted(error.into()))?;
        let mut calls = vec![PlannedCall { tool, bound: &bound, invocation: &invocation }];
        if let Some(started) = &started {
            calls.extend(started.planned());
        }
        let call = PendingCall { calls, policy: &self.policy, runner: &self.runner };
        let permission = approve(&call, approver, stop.as_mut()).await.map_err(awaited)?;
        let not_started = |why| (permission, CallResult::Ran(Outcome::not_started(why)));
        self.claim_space(tool, request, stop.as_mut()).await.map_err(not_started)?;
        let _slot = if self.takes_slot(tool) {
            self.runner.caller_slot(request.caller, stop.as_mut()).await.map_err(not_started)?
        } else {
            None
        };
        let _line = audited.and_then(|(audit, number)| self.unfinished_line(audit, request, number, permission));
        let ran = self.run(tool, &bound, &invocation, request, stop).await;
        let outcome = ran.map_err(|error| (permission, CallResult::Failed(error.into())))?;
        let outcome = denial::told(&invocation, with_answer(tool, outcome), &exec::could_write);
        Ok((permission, with_content(outcome, files).await))
    }

    /// Holds a planned call to the needs of its tool, as the policy says.
    fn confine(&self, tool: ResolvedTool<'_>, bound: &Bound<'_>, invocation: &mut Invocation) {
        let level = self.policy.confine().level.unwrap_or_default();
        confinement::confine(invocation, tool, bound, level, &exec::variable);
    }

    /// Checks a call without running it: the tool, the arguments and the policy.
    ///
    /// # Errors
    /// The reason why the call would fail.
    pub fn check(&self, tool: &str, arguments: &Map<String, Value>) -> Result<(), CallError> {
        let (watch, env, caller, purpose, space) = (None, &[], None, Purpose::Call, None);
        self.bind(CallRequest { tool, arguments, watch, env, caller, purpose, space }).map(drop)
    }

    /// Looks up the tool, and checks the agent's arguments against its args and the policy.
    fn bind(&self, request: CallRequest<'_>) -> Result<(ResolvedTool<'_>, Bound<'_>), CallError> {
        let CallRequest { tool: name, arguments, purpose, .. } = request;
        let unknown = || CallError::UnknownTool { suggestions: suggest_tools(&self.index, name) };
        let tool = self.index.get(name).filter(|tool| self.policy.permits(*tool)).ok_or_else(unknown)?;
        let bound = match purpose {
            Purpose::CommandLine => bind_known(tool, arguments),
            _ => arguments::bind(tool, arguments),
        };
        let bound = bound.map_err(|violations| invalid(tool, arguments, violations))?;
        permitted_values(tool, arguments, &bound, purpose)?;
        Ok((tool, bound))
    }

    /// Adds the user's answers to the agent's values.
    async fn with_answers<'a, A: Approver>(
        &self,
        tool: ResolvedTool<'a>,
        given: Bound<'a>,
        request: CallRequest<'_>,
        approver: &A,
        stop: impl Future<Output = Stop>,
    ) -> Result<Bound<'a>, CallResult<A::Question>> {
        if tool.questions().len() == 0 {
            return Ok(given);
        }
        let answers = fill_in_forms(tool, &given, approver, stop).await?;
        let bound = arguments::bind_answered(tool, request.arguments, &answers);
        let checked = bound.and_then(|bound| {
            only_reads(tool, &bound, request.purpose).map_err(|violation| vec![violation])?;
            Ok(bound)
        });
        let bound = checked.map_err(|violations| CallResult::Failed(invalid(tool, request.arguments, violations)))?;
        permitted_paths(tool, &bound).map_err(CallResult::Failed)?;
        Ok(bound)
    }

    /// Waits until there is space for the result. When `stop` completes, the wait ends.
    ///
    /// # Errors
    /// The reason of the stop.
    async fn claim_space(
        &self,
        tool: ResolvedTool<'_>,
        request: CallRequest<'_>,
        stop: impl Future<Output = Stop>,
    ) -> Result<(), Stop> {
        let Some(space) = request.space else { return Ok(()) };
        tokio::select! {
            biased;
            why = stop => Err(why),
            () = space.wait_for(claimed_bytes(tool, self.runner.limits())) => Ok(()),
        }
    }

    /// Whether a call counts among those that may run at once.
    fn takes_slot(&self, tool: ResolvedTool<'_>) -> bool {
        !tool.is_native() || self.natives.get(tool.name()).is_none_or(Native::takes_slot)
    }

    /// Runs the program of a tool, or its native implementation.
    async fn run(
        &self,
        tool: ResolvedTool<'_>,
        bound: &Bound<'_>,
        invocation: &Invocation,
        request: CallRequest<'_>,
        stop: impl Future<Output = Stop>,
    ) -> Result<Outcome, SpawnError> {
        let name = &invocation.argv[0];
        tracing::info!(tool = request.tool, program = name, "running");
        let ran = if tool.is_native() {
            let native = self.natives.get(name).ok_or_else(|| SpawnError::NotFound(name.clone()))?;
            let call = async { native.call(bound).await };
            Ok(self.runner.run_native(invocation, (call, native.takes_slot()), request.watch, stop).await)
        } else {
            self.runner.run(invocation, request.watch, stop).await
        };
        tracing::info!(tool = request.tool, end = ?ran.as_ref().map(|outcome| outcome.end), "ended");
        ran
    }

    /// Makes the audit record of a call.
    fn record<'a>(
        &'a self,
        request: CallRequest<'a>,
        number: u64,
        permission: Permission,
        duration: Duration,
    ) -> Record<'a> {
        let tool = self.index.get(request.tool);
        let starts = tool.map_or_else(Vec::new, |tool| self.started_tools(tool, request.arguments));
        Record { call: number, line: None, starts, catalog: self.digest(), request, tool, permission, duration }
    }

    /// Registers the audit line that the janitor writes if this process is killed during the call.
    fn unfinished_line(
        &self,
        audit: &Audit,
        request: CallRequest<'_>,
        number: u64,
        permission: Permission,
    ) -> Option<CleanupGuard<'_>> {
        let record = self.record(request, number, permission, Duration::ZERO);
        self.runner.register_audit_line(audit.path(), &record.unfinished())
    }
}

/// The early end of a call that failed before the user was asked.
fn unpermitted<Q>(error: CallError) -> (Permission, CallResult<Q>) {
    (Permission::NotNeeded, CallResult::Failed(error))
}

/// The early end of a call while the user was asked.
fn awaited<Q>(result: CallResult<Q>) -> (Permission, CallResult<Q>) {
    (Permission::Awaited, result)
}

/// Adds the paths of result files to the values.
fn with_paths<'a>(tool: ResolvedTool<'a>, bound: Bound<'a>, files: Option<&ResultFiles>) -> Bound<'a> {
    match files {
        Some(files) => bound.with_files(tool, |output| files.dir().join(output.file).display().to_string()),
        None => bound,
    }
}

/// Plans the command line, with the environment of the request and the directory for result files.
fn plan(
    tool: ResolvedTool<'_>,
    bound: &Bound<'_>,
    request: CallRequest<'_>,
    files: Option<&ResultFiles>,
) -> Invocation {
    let mut invocation = command_line::plan(tool, bound, &exec::variable);
    invocation.env.splice(0..0, request.env.iter().cloned());
    invocation.files_dir = files.map(|files| files.dir().to_owned());
    invocation
}

/// Adds the meaning of the exit code, if the tool lists it as an answer.
fn with_answer(tool: ResolvedTool<'_>, outcome: Outcome) -> Outcome {
    let End::Exited(status) = outcome.end else { return outcome };
    let answer = tool.exit_codes().find(|(code, _)| i32::from(*code) == status);
    Outcome { answer: answer.map(|(_, meaning)| meaning.to_owned()), ..outcome }
}

/// Reads the result files of a program that succeeded.
async fn with_content(outcome: Outcome, files: Option<ResultFiles>) -> Outcome {
    let Some(files) = files.filter(|_| outcome.succeeded()) else { return outcome };
    let masks = outcome.masks.clone();
    let files = tokio::task::spawn_blocking(move || files.read(&masks)).await.unwrap_or_default();
    Outcome { files, ..outcome }
}

/// Returns the names of served tools that resemble `name`, nearest first.
#[must_use]
pub fn suggest_tools(index: &ToolIndex, name: &str) -> Vec<String> {
    let near = near_misses(name, index.tools().map(ResolvedTool::name), MAX_SUGGESTIONS);
    near.into_iter().map(str::to_owned).collect()
}
