//! Lets calls go on after their requests: as tasks of clients that have the extension, else as jobs.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use climax_catalog::{ResolvedTool, Strategy};
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, CreateTaskResult, DetailedTask, ErrorData, GetTaskResult,
    InputRequiredResult, InputResponses, Task, TaskPayload,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::super::errors::{elicitation_required, unanswered, unknown_task};
use super::super::job_tool::{JOB_TOOL, output_so_far};
use super::super::jobs::{Job, JobEnd, MAX_JOB_AGE, Phase};
use super::super::request_context::{self, Detaching};
use super::super::surface::{MetaRequest, Surface, Work};
use super::super::typed;
use super::Server;
use super::panics::catch_panic;
use super::tool_request::ToolRequest;
use crate::call::approval::APPROVAL_LIMIT;
use crate::call::arguments::echo;
use crate::telemetry::log::now;

/// How long a call may take before it becomes a task, without `--detach-after`.
const TASK_AFTER: Duration = Duration::from_secs(5);

/// How often clients should ask for the state of a task, in milliseconds.
const POLL_INTERVAL_MS: u64 = 500;

/// The form in which a client sees a call that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JobForm {
    /// A task of the extension.
    Task,
    /// An id for the tool `climax_job`.
    Id,
}

type Answer = Pin<Box<dyn Future<Output = Result<CallToolResponse, ErrorData>> + Send>>;

impl ToolRequest {
    /// Answers the request.
    ///
    /// # Errors
    /// The surface has no such tool, or the call has no result.
    pub(super) async fn answer(&self, server: &Server) -> Result<CallToolResponse, ErrorData> {
        let client = self.client(&server.states);
        let answer = catch_panic(server.answer(self, &client));
        let answer = request_context::acting_for(&self.context, answer).await?;
        // MCP 2025-11-25, server/tools, "Error Handling": an unknown tool is a protocol error.
        answer.ok_or_else(|| ErrorData::invalid_params(format!("Unknown tool: {}", echo(&self.name)), None))
    }

    fn into_answer(self, server: Server) -> Answer {
        Box::pin(async move { self.answer(&server).await })
    }

    /// The tool of the catalog that it calls, and its arguments; `None` for lines, chains and searches.
    fn called(&self, surface: &Surface, strategy: Strategy) -> Option<(ResolvedTool<'_>, Map<String, Value>)> {
        let index = &self.toolbox.index;
        match surface {
            Surface::Classic => Some((index.get(&self.name)?, self.arguments.clone())),
            Surface::Meta(surface) if surface.has_own_job_tool() && self.name == JOB_TOOL => {
                Some((index.get(JOB_TOOL)?, self.arguments.clone()))
            }
            Surface::Meta(surface) => {
                let tool = surface.find(&self.name).filter(|tool| tool.starts_calls())?;
                let request = MetaRequest { surface, toolbox: &self.toolbox, strategy, arguments: &self.arguments };
                match tool.work(request) {
                    Ok(Work::Call(call, _)) => Some((index.get(&call.tool_name)?, call.arguments)),
                    _ => None,
                }
            }
        }
    }
}

impl Server {
    /// Answers a request for a tool. A call that takes long goes on as a task or a job, if the client can follow it.
    ///
    /// # Errors
    /// The surface has no such tool, or the call has no result.
    pub(super) async fn answer_or_detach(&self, call: ToolRequest) -> Result<CallToolResponse, ErrorData> {
        match self.detaching(&call) {
            None => call.answer(self).await,
            Some((form, after)) => self.detach(call, form, after).await,
        }
    }

    /// The form in which a call goes on, and when it does; `None` if it does not.
    fn detaching(&self, call: &ToolRequest) -> Option<(JobForm, Duration)> {
        let has_tasks = call.context.client_capabilities().is_some_and(|client| client.supports_tasks());
        let form = match (has_tasks, self.options.detach_after) {
            (true, after) => (JobForm::Task, after.unwrap_or(TASK_AFTER)),
            (false, Some(after)) if self.can_call_job_tool(call) => (JobForm::Id, after),
            (false, _) => return None,
        };
        match (form, call.called(&self.options.surface, self.options.strategy)) {
            (_, Some((tool, _))) if tool.name() == JOB_TOOL => None,
            // Clients refuse a result without the structure that the tool publishes.
            ((JobForm::Id, _), Some((tool, _))) if self.publishes_structure(tool) => None,
            ((JobForm::Task, _), Some((tool, arguments))) if tool.is_long() => {
                // What is wrong with a call is said at once.
                call.toolbox.check(tool.name(), &arguments).ok().map(|()| (JobForm::Task, Duration::ZERO))
            }
            (form, _) => Some(form),
        }
    }

    /// Whether the list of tools has a schema for the structure of this tool's results.
    fn publishes_structure(&self, tool: ResolvedTool<'_>) -> bool {
        self.options.surface == Surface::Classic && typed::output_schema(tool).is_some()
    }

    /// Whether the client can call `climax_job`.
    fn can_call_job_tool(&self, call: &ToolRequest) -> bool {
        let is_callable = match &self.options.surface {
            Surface::Classic => true,
            Surface::Meta(surface) => surface.caller().is_some() || surface.has_own_job_tool(),
        };
        is_callable && call.toolbox.index.get(JOB_TOOL).is_some()
    }

    /// The answer for clients without tasks: where to find the rest. Of a line whose commands in the background alone go on,
    /// it has what the others have printed.
    fn still_running(&self, job: &Job, is_background: bool) -> CallToolResult {
        let call = |args: Value| match &self.options.surface {
            Surface::Classic => format!("{JOB_TOOL} {args}"),
            Surface::Meta(surface) => match surface.caller() {
                None => format!("{JOB_TOOL} {args}"),
                Some(caller) => {
                    format!("{} {}", caller.name(), json!({ (surface.call_name().as_str()): JOB_TOOL, "args": args }))
                }
            },
        };
        let id = &job.id;
        let wait = call(json!({ "job": id, "wait": 30 }));
        let cancel = call(json!({ "job": id, "cancel": true }));
        let (offset, what) = if is_background {
            (Some(0), "What runs in the background goes on as a job. See more of its output")
        } else {
            (None, "The call goes on as a job. Wait for its end")
        };
        let text = format!("{}\n{what}: {wait}. End it: {cancel}.", output_so_far(job, offset));

        CallToolResult::success(vec![ContentBlock::text(text)])
    }

    /// Answers a request, and lets its call go on if it takes longer than `after`.
    async fn detach(
        &self,
        mut call: ToolRequest,
        form: JobForm,
        after: Duration,
    ) -> Result<CallToolResponse, ErrorData> {
        let stop = CancellationToken::new();
        let goes_on = (form == JobForm::Id).then(CancellationToken::new);
        let detaching = Arc::new(Detaching { goes_on: goes_on.clone(), ..Detaching::default() });
        let began = (now(), Instant::now());
        let request = std::mem::replace(&mut call.context.ct, stop.clone());
        call.context.extensions.insert(detaching.clone());
        let mut answer = call.clone().into_answer(self.clone());
        // A call that goes on at once does not even begin before: it may ask as a task.
        if !after.is_zero() {
            tokio::select! {
                biased;
                response = until_cancelled(&mut answer, &request, &stop) => return response,
                () = tokio::time::sleep(after) => {}
                () = only_background(goes_on.as_ref()) => {}
            }
        }
        let caller = request_context::caller_identity(&call.context);
        let replica = self.options.replica.as_ref();
        let Some(job) = self.jobs.add(replica, caller, detaching.transcript.clone(), stop.clone(), began) else {
            return until_cancelled(&mut answer, &request, &stop).await;
        };
        detaching.detached.cancel();
        let response = match form {
            JobForm::Task => CallToolResponse::Task(CreateTaskResult::new(detailed(&job).task)),
            JobForm::Id => self.still_running(&job, goes_on.is_some_and(|goes_on| goes_on.is_cancelled())).into(),
        };
        self.jobs.run(job.clone(), self.clone().finish(job, call, form, answer));

        Ok(response)
    }

    /// Awaits the end of a job. As a task it may ask the user.
    async fn finish(self, job: Arc<Job>, call: ToolRequest, form: JobForm, mut answer: Answer) -> JobEnd {
        let mut round = 0_u32;
        loop {
            let response = answer.await;
            if job.stop.is_cancelled() {
                return JobEnd::Cancelled;
            }
            match response {
                Ok(CallToolResponse::Complete(result)) => return JobEnd::of(result),
                Ok(CallToolResponse::InputRequired(question)) if form == JobForm::Task => {
                    round += 1;
                    let responses = match self.ask_user(&job, &question, round).await {
                        Ok(responses) => responses,
                        Err(end) => return end,
                    };
                    let again =
                        ToolRequest { responses: Some(responses), state: question.request_state, ..call.clone() };
                    answer = again.into_answer(self.clone());
                }
                Ok(_) => return JobEnd::Error(elicitation_required()),
                Err(error) => return JobEnd::Error(error),
            }
        }
    }

    /// Asks the user about a task.
    ///
    /// # Errors
    /// The end of the task: no response has come in time, or the task was cancelled.
    async fn ask_user(&self, job: &Job, question: &InputRequiredResult, round: u32) -> Result<InputResponses, JobEnd> {
        // MCP tasks, "Input Required": a key is unique for the life of its task.
        let prefix = format!("{round}:");
        let requests = question.input_requests.iter().flatten();
        let requests = requests.map(|(key, request)| (format!("{prefix}{key}"), request.clone())).collect();
        let asked = self.shutdown.run_until_cancelled(timeout(APPROVAL_LIMIT, job.ask(requests)));
        let in_time = asked.await.ok_or(JobEnd::Cancelled)?;
        let answered = in_time.map_err(|_| JobEnd::Error(unanswered()))?;
        let responses = answered.ok_or(JobEnd::Cancelled)?;
        let key = |key: String| key.strip_prefix(&prefix).map(str::to_owned);
        Ok(responses.into_iter().filter_map(|(name, response)| Some((key(name)?, response))).collect())
    }

    /// Returns the state of a task.
    ///
    /// # Errors
    /// The caller has no such task.
    pub(super) fn task(&self, id: &str, context: &RequestContext<RoleServer>) -> Result<GetTaskResult, ErrorData> {
        self.job(id, context).map(|job| GetTaskResult::new(detailed(&job)))
    }

    /// Passes responses on to a task that asked for them.
    ///
    /// # Errors
    /// The caller has no such task.
    pub(super) fn update(
        &self,
        id: &str,
        responses: InputResponses,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.job(id, context).map(|job| job.answer(responses))
    }

    /// Ends a task. Nothing happens if it has ended.
    ///
    /// # Errors
    /// The caller has no such task.
    pub(super) fn cancel(&self, id: &str, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.job(id, context).map(|job| job.stop.cancel())
    }

    fn job(&self, id: &str, context: &RequestContext<RoleServer>) -> Result<Arc<Job>, ErrorData> {
        self.jobs.find(id, &request_context::caller_identity(context)).ok_or_else(|| unknown_task(id))
    }
}

/// Waits until only the commands in the background of a line go on.
async fn only_background(goes_on: Option<&CancellationToken>) {
    match goes_on {
        Some(goes_on) => goes_on.cancelled().await,
        None => std::future::pending().await,
    }
}

/// Awaits an answer. The end of its request cancels the call.
async fn until_cancelled(
    answer: &mut Answer,
    request: &CancellationToken,
    stop: &CancellationToken,
) -> Result<CallToolResponse, ErrorData> {
    tokio::select! {
        biased;
        response = answer.as_mut() => response,
        () = request.cancelled() => {
            stop.cancel();
            answer.await
        }
    }
}

/// A job as a task.
fn detailed(job: &Job) -> DetailedTask {
    let state = job.state();
    let payload = payload(state.phase);
    let mut task = Task::new(&job.id, payload.status(), &job.created_at, &state.changed_at);

    // While it runs, nobody can say when it ends.
    if payload.status().is_terminal() {
        let stored = state.changed.duration_since(job.began) + MAX_JOB_AGE;
        task = task.with_ttl_ms(u64::try_from(stored.as_millis()).unwrap_or(u64::MAX));
    }

    DetailedTask::new(task.with_poll_interval_ms(POLL_INTERVAL_MS), payload)
}

/// What a task of this phase has besides its status.
fn payload(phase: Phase) -> TaskPayload {
    let object = |value: Value| if let Value::Object(object) = value { object } else { Map::new() };
    match phase {
        Phase::Working => TaskPayload::Working,
        Phase::InputRequired { requests, responses } => {
            let open = requests.into_iter().filter(|(key, _)| !responses.contains_key(key));
            TaskPayload::InputRequired { input_requests: open.collect() }
        }
        Phase::Ended(end) => match end.as_ref() {
            JobEnd::Result { result, .. } => TaskPayload::Completed { result: object(json!(result)) },
            JobEnd::Error(error) => TaskPayload::Failed { error: object(json!(error)) },
            JobEnd::Cancelled => TaskPayload::Cancelled,
        },
    }
}
