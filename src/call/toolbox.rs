//! One call of a tool, from name and JSON to what the process did: the one path that MCP and the command line take.

use std::fmt;
use std::future::Future;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use climax_catalog::{Policy, Prompt, ResolvedTool, ToolIndex, digest, near_misses};
use serde_json::{Map, Value};

use crate::call::approval::{Answer, Approver, Denial, Pending, Verdict, identity};
use crate::call::arguments::MAX_UNKNOWN_KEYS;
use crate::call::arguments::{self, Violation};
use crate::call::audit::{Audit, Record};
use crate::call::command_line;
use crate::call::form::Form;
use crate::call::native::Natives;
use crate::exec::{self, End, Invocation, Outcome, Outputs, Runner, SpawnError, Stop, Watch};
use climax_catalog::MAX_SUGGESTIONS;

/// Everything that calls need: what is served, under which policy, and what runs it.
#[derive(Debug)]
pub struct Toolbox {
    /// The tools that can be called. A policy has been put over it already.
    pub index: ToolIndex,
    /// What a call may do.
    pub policy: Policy,
    /// What runs programs.
    pub runner: Runner,
    /// Where calls are written down.
    pub audit: Option<Arc<Audit>>,
    natives: Natives,
    observer: Option<Arc<dyn Observer>>,
    /// Computed when it is first asked for.
    digest: OnceLock<String>,
}

/// Whoever counts calls.
pub trait Observer: fmt::Debug + Send + Sync {
    /// A call of `tool` has ended; the name is empty if no such tool is served.
    fn ended(&self, tool: &str, outcome: &'static str, duration: Duration, output_bytes: u64);
}

/// One call, as a client made it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// Its arguments.
    pub arguments: &'a Map<String, Value>,
    /// Who looks on while it runs.
    pub watch: Option<&'a Watch>,
    /// Variables of the child's environment that are about this call; the config's go before them.
    pub env: &'a [(String, String)],
    /// Who calls, where callers have names.
    pub caller: Option<&'a str>,
    /// What it is called for.
    pub via: Purpose,
}

/// What a tool is called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Purpose {
    /// Its result.
    Call,
    /// The resource that it prints.
    Resource,
    /// A prompt that shows what it prints.
    Prompt,
}

impl Purpose {
    /// The word in the audit file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What came of a call.
#[derive(Debug)]
pub enum CallResult<Q> {
    /// The program ran.
    Ran(Outcome),
    /// It did not.
    Failed(CallError),
    /// Somebody has to be asked first, and will be; nothing ran.
    Asked(Q),
}

impl<Q> CallResult<Q> {
    /// What came of it, in a word: `ok`, `asked`, or the code of its error.
    #[must_use]
    pub fn outcome(&self) -> &'static str {
        match self {
            Self::Asked(_) => "asked",
            Self::Failed(CallError::UnknownTool { .. }) => "unknown_tool",
            Self::Failed(CallError::InvalidArguments { .. }) => "invalid_arguments",
            Self::Failed(CallError::PolicyDenied { .. }) => "policy_denied",
            Self::Failed(CallError::ApprovalDenied(_) | CallError::Answer { .. }) => "approval_denied",
            Self::Failed(CallError::Spawn(_) | CallError::Unaudited(_)) => "spawn_failed",
            Self::Ran(outcome) => match outcome.end {
                End::Exited(0) => "ok",
                End::Exited(_) | End::Signaled(_) => "command_failed",
                End::TimedOut(_) => "timed_out",
                End::Stopped(_) => "cancelled",
            },
        }
    }
}

/// A call that did not run.
#[derive(Debug)]
pub enum CallError {
    /// No tool of this name is served.
    UnknownTool {
        /// Names that may have been meant, nearest first.
        suggestions: Vec<String>,
    },
    /// Arguments were refused.
    InvalidArguments {
        /// Everything that is wrong with them.
        violations: Vec<Violation>,
        /// The tool's argument names that unknown keys may have been meant to be.
        suggestions: Vec<String>,
        /// What the tool takes, as JSON.
        input_schema: String,
    },
    /// The policy does not permit the arguments.
    PolicyDenied {
        /// Everything that it does not permit.
        violations: Vec<Violation>,
    },
    /// Nobody approved it.
    ApprovalDenied(Denial),
    /// What the user has filled in cannot be used. The agent is not told what it is.
    Answer {
        /// The name of the question.
        question: String,
        /// The args that it cannot be used for.
        unusable: Vec<String>,
    },
    /// The program could not be started.
    Spawn(SpawnError),
    /// Calls are to be written down and cannot be.
    Unaudited(io::Error),
}

/// What a call runs by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permission {
    /// Nobody has to be asked.
    Unasked,
    /// Somebody was asked, or the policy approves where nobody can be.
    Approved,
    /// None yet: somebody had been asked when the call was given up.
    Awaited,
}

impl Toolbox {
    /// A toolbox; the policy has been put over the index already.
    #[must_use]
    pub fn new(index: ToolIndex, policy: Policy, runner: Runner, audit: Option<Arc<Audit>>) -> Self {
        Self { index, policy, runner, audit, natives: Natives::default(), observer: None, digest: OnceLock::new() }
    }

    /// Implements the native tools of the index.
    #[must_use]
    pub fn with_natives(self, natives: Natives) -> Self {
        Self { natives, ..self }
    }

    /// Tells `observer` of each call.
    #[must_use]
    pub fn observed_by(self, observer: Arc<dyn Observer>) -> Self {
        Self { observer: Some(observer), ..self }
    }

    /// The prompts that can be used without that somebody approves what they call.
    pub fn prompts(&self) -> impl Iterator<Item = &Prompt> {
        let unasked = |name: &str| self.index.get(name).is_some_and(|tool| !self.policy.needs_approval(tool));
        self.index.prompts().iter().filter(move |prompt| prompt.calls().all(|(name, _)| unasked(name)))
    }

    /// What tells this from other catalogs and policies ([`climax_catalog::digest`]).
    #[must_use]
    pub fn digest(&self) -> &str {
        self.digest.get_or_init(|| digest(&self.index, &self.policy).into_owned())
    }

    /// Calls a tool; `stop` completing ends it early. The call is in the audit file before this returns.
    pub async fn call<A: Approver>(
        &self,
        request: Request<'_>,
        approver: &A,
        stop: impl Future<Output = Stop>,
    ) -> CallResult<A::Question> {
        let start = Instant::now();
        let called = self.audited(request, approver, stop).await;
        if let Some(observer) = &self.observer {
            let bytes = match &called {
                CallResult::Ran(outcome) => outcome.stdout.total_bytes() + outcome.stderr.total_bytes(),
                CallResult::Failed(_) | CallResult::Asked(_) => 0,
            };
            let is_served = !matches!(called, CallResult::Failed(CallError::UnknownTool { .. }));
            observer.ended(if is_served { request.tool } else { "" }, called.outcome(), start.elapsed(), bytes);
        }
        called
    }

    async fn audited<A: Approver>(
        &self,
        request: Request<'_>,
        approver: &A,
        stop: impl Future<Output = Stop>,
    ) -> CallResult<A::Question> {
        let Some(audit) = &self.audit else { return self.decide_and_run(request, None, approver, stop).await.1 };
        let call = match audit.admit() {
            Ok(call) => call,
            Err(error) => return CallResult::Failed(CallError::Unaudited(error)),
        };
        let start = Instant::now();
        let (permission, called) = self.decide_and_run(request, Some((audit, call)), approver, stop).await;
        let tool = self.index.get(request.tool);
        let record = Record { call, catalog: self.digest(), request, tool, permission, duration: start.elapsed() };
        if let Err(error) = audit.write(&record.to_json(&called)) {
            tracing::error!(%error, "the call is not in the audit file; no other will run until it can be written");
        }
        called
    }

    async fn decide_and_run<A: Approver>(
        &self,
        request: Request<'_>,
        audited: Option<(&Audit, u64)>,
        approver: &A,
        stop: impl Future<Output = Stop>,
    ) -> (Permission, CallResult<A::Question>) {
        let mut stop = std::pin::pin!(stop);
        let (tool, own) = match self.bind(request.tool, request.arguments) {
            Ok(bound) => bound,
            Err(error) => return (Permission::Unasked, CallResult::Failed(error)),
        };
        let bound = match self.answered(tool, own, request.arguments, approver, stop.as_mut()).await {
            Ok(bound) => bound,
            Err(called) => return (Permission::Awaited, called),
        };
        let outputs = match Outputs::of(tool) {
            Ok(outputs) => outputs,
            Err(error) => return (Permission::Unasked, CallResult::Failed(CallError::Spawn(SpawnError::Files(error)))),
        };
        let bound = match &outputs {
            Some(outputs) => bound.with_files(tool, |output| outputs.dir().join(output.file).display().to_string()),
            None => bound,
        };
        let mut invocation = command_line::plan(tool, &bound, &exec::variable);
        invocation.env.splice(0..0, request.env.iter().cloned());
        invocation.files_dir = outputs.as_ref().map(|outputs| outputs.dir().to_owned());
        let pending =
            Pending { tool, bound: &bound, invocation: &invocation, policy: &self.policy, runner: &self.runner };
        let permission = match permission(&pending, approver, stop.as_mut()).await {
            Ok(permission) => permission,
            Err(called) => return (Permission::Awaited, called),
        };
        let _share = match self.runner.share(request.caller, stop.as_mut()).await {
            Ok(share) => share,
            Err(why) => return (permission, CallResult::Ran(Outcome::not_started(why))),
        };
        let _vouched = audited.and_then(|(audit, call)| {
            let record = Record {
                call,
                catalog: self.digest(),
                request,
                tool: Some(tool),
                permission,
                duration: Duration::ZERO,
            };
            self.runner.register_audit_line(audit.path(), &record.unfinished())
        });
        tracing::info!(tool = request.tool, program = invocation.argv[0], "running");
        let ran = if tool.is_native() {
            self.run_native(&bound, &invocation, request.watch, stop).await
        } else {
            self.runner.run(&invocation, request.watch, stop).await
        };
        tracing::info!(tool = request.tool, end = ?ran.as_ref().map(|outcome| outcome.end), "ended");
        let called = match ran {
            Ok(outcome) => CallResult::Ran(with_files(outcome, outputs).await),
            Err(error) => CallResult::Failed(CallError::Spawn(error)),
        };
        (permission, called)
    }

    async fn run_native(
        &self,
        bound: &arguments::Bound<'_>,
        invocation: &Invocation,
        watch: Option<&Watch>,
        stop: impl Future<Output = Stop>,
    ) -> Result<Outcome, SpawnError> {
        let name = &invocation.argv[0];
        let native = self.natives.get(name).ok_or_else(|| SpawnError::NotFound(name.clone()))?;
        Ok(self.runner.run_native(invocation, async { native.call(bound).await }, watch, stop).await)
    }

    fn bind(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Result<(ResolvedTool<'_>, arguments::Bound<'_>), CallError> {
        let unknown = || CallError::UnknownTool { suggestions: suggest_tools(&self.index, name) };
        let tool = self.index.get(name).filter(|tool| self.policy.permits(tool.name())).ok_or_else(unknown)?;
        let bound = arguments::bind(tool, arguments).map_err(|violations| invalid(tool, arguments, violations))?;
        arguments::check(&bound).map_err(|violations| CallError::PolicyDenied { violations })?;
        Ok((tool, bound))
    }

    /// The values of a call with what the user gives, who is asked for it once all else is right.
    async fn answered<'a, A: Approver>(
        &self,
        tool: ResolvedTool<'a>,
        own: arguments::Bound<'a>,
        arguments: &Map<String, Value>,
        approver: &A,
        stop: impl Future<Output = Stop>,
    ) -> Result<arguments::Bound<'a>, CallResult<A::Question>> {
        if tool.questions().len() == 0 {
            return Ok(own);
        }
        let given = tokio::select! {
            biased;
            why = stop => return Err(CallResult::Ran(Outcome::not_started(why))),
            given = answers(tool, &own, approver) => given?,
        };
        let bound = arguments::bind_answered(tool, arguments, &given);
        bound.map_err(|violations| CallResult::Failed(invalid(tool, arguments, violations)))
    }
}

/// Adds the files that a program was to write, if it ended well.
async fn with_files(outcome: Outcome, outputs: Option<Outputs>) -> Outcome {
    let Some(outputs) = outputs.filter(|_| outcome.end == End::Exited(0)) else { return outcome };
    let files = tokio::task::spawn_blocking(|| outputs.read()).await.unwrap_or_default();
    Outcome { files, ..outcome }
}

/// Asks the user all that a tool asks.
async fn answers<A: Approver>(
    tool: ResolvedTool<'_>,
    own: &arguments::Bound<'_>,
    approver: &A,
) -> Result<Map<String, Value>, CallResult<A::Question>> {
    let identity = identity(tool, own);
    let mut given = Map::new();
    for question in tool.questions() {
        let form = Form::of_question(tool, question, own);
        match approver.ask(&form, &identity).await {
            Answer::Given(values) => {
                let names: Vec<&str> = question.args().collect();
                let unusable = arguments::unusable_answers(tool, &names, &values);
                if !unusable.is_empty() {
                    let question = question.name().to_owned();
                    return Err(CallResult::Failed(CallError::Answer { question, unusable }));
                }
                given.extend(values);
            }
            Answer::Denied(denial) => return Err(CallResult::Failed(CallError::ApprovalDenied(denial))),
            Answer::Asked(question) => return Err(CallResult::Asked(question)),
        }
    }
    Ok(given)
}

fn invalid(tool: ResolvedTool<'_>, arguments: &Map<String, Value>, violations: Vec<Violation>) -> CallError {
    CallError::InvalidArguments {
        violations,
        suggestions: misspelt_arguments(tool, arguments),
        input_schema: tool.input_schema().to_owned(),
    }
}

/// Asks, if the policy has it that somebody is asked; what came of the call if it may not run.
async fn permission<A: Approver>(
    pending: &Pending<'_>,
    approver: &A,
    stop: impl Future<Output = Stop>,
) -> Result<Permission, CallResult<A::Question>> {
    if !pending.policy.needs_approval(pending.tool) {
        return Ok(Permission::Unasked);
    }
    let verdict = tokio::select! {
        biased;
        why = stop => return Err(CallResult::Ran(Outcome::not_started(why))),
        verdict = approver.decide(pending) => verdict,
    };
    match verdict {
        Verdict::Approved => Ok(Permission::Approved),
        Verdict::Denied(denial) => Err(CallResult::Failed(CallError::ApprovalDenied(denial))),
        Verdict::Asked(question) => Err(CallResult::Asked(question)),
    }
}

/// Names of served tools that `name` may have been meant to be, nearest first.
#[must_use]
pub fn suggest_tools(index: &ToolIndex, name: &str) -> Vec<String> {
    let near = near_misses(name, index.tools().map(ResolvedTool::name), MAX_SUGGESTIONS);
    near.into_iter().map(str::to_owned).collect()
}

/// Args that unknown keys may have been meant to be: where a call fails, that may be why.
fn misspelt_arguments(tool: ResolvedTool<'_>, arguments: &Map<String, Value>) -> Vec<String> {
    let known = || tool.agent_args().map(climax_catalog::ArgView::name);
    let unknown = arguments.keys().filter(|key| known().all(|name| name != key.as_str())).take(MAX_UNKNOWN_KEYS);
    let mut near: Vec<String> = unknown.flat_map(|key| near_misses(key, known(), 1)).map(str::to_owned).collect();
    near.sort();
    near.dedup();
    near
}
