//! [`Toolbox`]: everything that calls need, and the steps of a call in their order.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use climax_catalog::{MAX_SUGGESTIONS, Policy, Prompt, ResolvedTool, ToolIndex, digest, near_misses};
use serde_json::{Map, Value};

use crate::call::approval::{Approver, PendingCall};
use crate::call::arguments::{self, Bound, MAX_UNKNOWN_KEYS, Violation};
use crate::call::audit::{Audit, Record};
use crate::call::command_line;
use crate::call::native::Natives;
use crate::call::outcome::{CallError, CallResult, Permission};
use crate::call::request::Request;
use crate::call::user_input::{approve, fill_in_forms};
use crate::exec::{self, CleanupGuard, End, Invocation, Outcome, ResultFiles, Runner, SpawnError, Stop};
use crate::telemetry::CallObserver;

/// Everything that calls need: the tools, the policy, and the runner of programs.
#[derive(Debug)]
pub struct Toolbox {
    /// The tools that can be called. The policy has been applied to it.
    pub index: ToolIndex,
    /// The policy.
    pub policy: Policy,
    /// Runs programs.
    pub runner: Runner,
    /// The audit file.
    pub audit: Option<Arc<Audit>>,
    natives: Natives,
    observer: Option<Arc<dyn CallObserver>>,
    /// Computed when it is first needed.
    digest: OnceLock<String>,
}

/// A step of a call: what the next step needs, or the result of the call and the permission that it had by then.
type Step<T, Q> = Result<T, (Permission, CallResult<Q>)>;

impl Toolbox {
    /// Makes a toolbox. The policy has been applied to the index already.
    #[must_use]
    pub fn new(index: ToolIndex, policy: Policy, runner: Runner, audit: Option<Arc<Audit>>) -> Self {
        Self { index, policy, runner, audit, natives: Natives::default(), observer: None, digest: OnceLock::new() }
    }

    /// Implements the native tools of the index.
    #[must_use]
    pub fn with_natives(self, natives: Natives) -> Self {
        Self { natives, ..self }
    }

    /// Has `observer` count each call.
    #[must_use]
    pub fn observed_by(self, observer: Arc<dyn CallObserver>) -> Self {
        Self { observer: Some(observer), ..self }
    }

    /// The prompts that call no tool whose calls need approval.
    pub fn prompts(&self) -> impl Iterator<Item = &Prompt> {
        let needs_none = |name: &str| self.index.get(name).is_some_and(|tool| !self.policy.needs_approval(tool));
        self.index.prompts().iter().filter(move |prompt| prompt.calls().all(|(name, _)| needs_none(name)))
    }

    /// The digest of the catalog and the policy ([`climax_catalog::digest`]).
    #[must_use]
    pub fn digest(&self) -> &str {
        self.digest.get_or_init(|| digest(&self.index, &self.policy).into_owned())
    }

    /// Calls a tool. Completing `stop` ends the call early.
    ///
    /// The audit line is written before this returns.
    pub async fn call<A: Approver>(
        &self,
        request: Request<'_>,
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

    async fn audited<A: Approver>(
        &self,
        request: Request<'_>,
        approver: &A,
        stop: impl Future<Output = Stop>,
    ) -> CallResult<A::Question> {
        let Some(audit) = &self.audit else { return self.permitted(request, None, approver, stop).await.1 };
        let number = match audit.admit() {
            Ok(number) => number,
            Err(error) => return CallResult::Failed(CallError::Unaudited(error)),
        };
        let start = Instant::now();
        let (permission, result) = self.permitted(request, Some((audit, number)), approver, stop).await;
        let record = self.record(request, number, permission, start.elapsed());
        if let Err(error) = audit.write(&record.to_json(&result)) {
            tracing::error!(%error, "the call is not in the audit file; no other will run until it can be written");
        }
        result
    }

    /// Takes a call through all steps; `audited` holds the audit file and the call's number in it.
    async fn permitted<A: Approver>(
        &self,
        request: Request<'_>,
        audited: Option<(&Audit, u64)>,
        approver: &A,
        stop: impl Future<Output = Stop>,
    ) -> (Permission, CallResult<A::Question>) {
        let mut stop = std::pin::pin!(stop);
        let result = self.steps(request, audited, approver, stop.as_mut()).await;
        result.map_or_else(|early| early, |(permission, outcome)| (permission, CallResult::Ran(outcome)))
    }

    async fn steps<A: Approver, S: Future<Output = Stop>>(
        &self,
        request: Request<'_>,
        audited: Option<(&Audit, u64)>,
        approver: &A,
        mut stop: Pin<&mut S>,
    ) -> Step<(Permission, Outcome), A::Question> {
        let (tool, given) = self.bind(request).map_err(unpermitted)?;
        let bound = self.with_answers(tool, given, request, approver, stop.as_mut()).await.map_err(awaited)?;
        let files = ResultFiles::of(tool).map_err(|error| unpermitted(SpawnError::Files(error).into()))?;
        let bound = with_paths(tool, bound, files.as_ref());
        let invocation = plan(tool, &bound, request, files.as_ref());
        let call =
            PendingCall { tool, bound: &bound, invocation: &invocation, policy: &self.policy, runner: &self.runner };
        let permission = approve(&call, approver, stop.as_mut()).await.map_err(awaited)?;
        let slot = self.runner.caller_slot(request.caller, stop.as_mut()).await;
        let _slot = slot.map_err(|why| (permission, CallResult::Ran(Outcome::not_started(why))))?;
        let _line = audited.and_then(|(audit, number)| self.unfinished_line(audit, request, number, permission));
        let ran = self.run(tool, &bound, &invocation, request, stop).await;
        let outcome = ran.map_err(|error| (permission, CallResult::Failed(error.into())))?;
        Ok((permission, with_content(outcome, files).await))
    }

    /// Looks the tool up and checks the agent's arguments, by the tool and by the policy.
    fn bind(&self, request: Request<'_>) -> Result<(ResolvedTool<'_>, Bound<'_>), CallError> {
        let Request { tool: name, arguments, .. } = request;
        let unknown = || CallError::UnknownTool { suggestions: suggest_tools(&self.index, name) };
        let tool = self.index.get(name).filter(|tool| self.policy.permits(tool.name())).ok_or_else(unknown)?;
        let bound = arguments::bind(tool, arguments).map_err(|violations| invalid(tool, arguments, violations))?;
        arguments::check(&bound).map_err(|violations| CallError::PolicyDenied { violations })?;
        Ok((tool, bound))
    }

    /// Adds the user's answers to the agent's values.
    async fn with_answers<'a, A: Approver>(
        &self,
        tool: ResolvedTool<'a>,
        given: Bound<'a>,
        request: Request<'_>,
        approver: &A,
        stop: impl Future<Output = Stop>,
    ) -> Result<Bound<'a>, CallResult<A::Question>> {
        if tool.questions().len() == 0 {
            return Ok(given);
        }
        let answers = fill_in_forms(tool, &given, approver, stop).await?;
        let bound = arguments::bind_answered(tool, request.arguments, &answers);
        bound.map_err(|violations| CallResult::Failed(invalid(tool, request.arguments, violations)))
    }

    /// Runs the program of a tool, or its native implementation.
    async fn run(
        &self,
        tool: ResolvedTool<'_>,
        bound: &Bound<'_>,
        invocation: &Invocation,
        request: Request<'_>,
        stop: impl Future<Output = Stop>,
    ) -> Result<Outcome, SpawnError> {
        let name = &invocation.argv[0];
        tracing::info!(tool = request.tool, program = name, "running");
        let ran = if tool.is_native() {
            let native = self.natives.get(name).ok_or_else(|| SpawnError::NotFound(name.clone()))?;
            let call = async { native.call(bound).await };
            Ok(self.runner.run_native(invocation, call, request.watch, stop).await)
        } else {
            self.runner.run(invocation, request.watch, stop).await
        };
        tracing::info!(tool = request.tool, end = ?ran.as_ref().map(|outcome| outcome.end), "ended");
        ran
    }

    /// The audit record of a call.
    fn record<'a>(
        &'a self,
        request: Request<'a>,
        number: u64,
        permission: Permission,
        duration: Duration,
    ) -> Record<'a> {
        let tool = self.index.get(request.tool);
        Record { call: number, catalog: self.digest(), request, tool, permission, duration }
    }

    /// Registers the audit line that is written if this process is killed during the call.
    fn unfinished_line(
        &self,
        audit: &Audit,
        request: Request<'_>,
        number: u64,
        permission: Permission,
    ) -> Option<CleanupGuard<'_>> {
        let record = self.record(request, number, permission, Duration::ZERO);
        self.runner.register_audit_line(audit.path(), &record.unfinished())
    }
}

/// A call that failed before anybody was asked.
fn unpermitted<Q>(error: CallError) -> (Permission, CallResult<Q>) {
    (Permission::NotNeeded, CallResult::Failed(error))
}

/// A call that ended while the user was asked.
fn awaited<Q>(result: CallResult<Q>) -> (Permission, CallResult<Q>) {
    (Permission::Awaited, result)
}

/// Gives the args of result files their paths.
fn with_paths<'a>(tool: ResolvedTool<'a>, bound: Bound<'a>, files: Option<&ResultFiles>) -> Bound<'a> {
    match files {
        Some(files) => bound.with_files(tool, |output| files.dir().join(output.file).display().to_string()),
        None => bound,
    }
}

/// Plans the command line, with the environment and the directory of this request.
fn plan(tool: ResolvedTool<'_>, bound: &Bound<'_>, request: Request<'_>, files: Option<&ResultFiles>) -> Invocation {
    let mut invocation = command_line::plan(tool, bound, &exec::variable);
    invocation.env.splice(0..0, request.env.iter().cloned());
    invocation.files_dir = files.map(|files| files.dir().to_owned());
    invocation
}

/// Reads the result files of a program that ended with status 0.
async fn with_content(outcome: Outcome, files: Option<ResultFiles>) -> Outcome {
    let Some(files) = files.filter(|_| outcome.end == End::Exited(0)) else { return outcome };
    let files = tokio::task::spawn_blocking(|| files.read()).await.unwrap_or_default();
    Outcome { files, ..outcome }
}

fn invalid(tool: ResolvedTool<'_>, arguments: &Map<String, Value>, violations: Vec<Violation>) -> CallError {
    CallError::InvalidArguments {
        violations,
        suggestions: misspelt_arguments(tool, arguments),
        input_schema: tool.input_schema().to_owned(),
    }
}

/// Names of served tools that resemble `name`, nearest first.
#[must_use]
pub fn suggest_tools(index: &ToolIndex, name: &str) -> Vec<String> {
    let near = near_misses(name, index.tools().map(ResolvedTool::name), MAX_SUGGESTIONS);
    near.into_iter().map(str::to_owned).collect()
}

/// Args whose names unknown keys resemble: a misspelt key may be why the call fails.
fn misspelt_arguments(tool: ResolvedTool<'_>, arguments: &Map<String, Value>) -> Vec<String> {
    let known = || tool.agent_args().map(climax_catalog::ArgView::name);
    let unknown = arguments.keys().filter(|key| known().all(|name| name != key.as_str())).take(MAX_UNKNOWN_KEYS);
    let mut near: Vec<String> = unknown.flat_map(|key| near_misses(key, known(), 1)).map(str::to_owned).collect();
    near.sort();
    near.dedup();
    near
}
