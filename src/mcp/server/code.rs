//! Runs programs for requests. Their calls take the way of all calls.

use std::convert::Infallible;
use std::pin::pin;
use std::time::Instant;

use climax_catalog::OutputForm;
use futures_util::future::BoxFuture;
use rmcp::model::{CallToolResponse, ErrorData, InputRequiredResult};
use serde_json::{Map, Value};

use super::super::client::Client;
use super::super::code::signature::signature;
use super::super::code::{code_reply, failure, line_answer, outcome_answer, refusal, wrong_arguments};
use super::super::errors::unknown_log;
use super::super::ignored::Ignored;
use super::super::progress::Progress;
use super::super::replay_logs::{Done, WaitingRequest};
use super::super::surface::{CODE_KEYS, CodeArguments, EntryDetail, RunArguments, search};
use super::super::{reply, request_context};
use super::Server;
use super::calls::answerable;
use super::tool_request::ToolRequest;
use crate::call::arguments::{Violation, echo, keys_ignored_from_agents, type_problem};
use crate::call::{CallError, CallResult, PlanResult, Purpose, Request, suggest_tools};
use crate::code::{self, Answer, Callee, CodeOutcome, RunEnd};

/// The calls of one program.
struct ProgramCalls<'a> {
    server: &'a Server,
    call: &'a ToolRequest,
    progress: Option<Progress>,
    run: u64,
    /// The call whose user has answered with this request.
    asked: Option<u64>,
}

/// The reason why a program does not go on.
enum Interruption {
    /// The client has to ask its user first.
    Asks(InputRequiredResult),
    /// The request has no result.
    Fails(ErrorData),
}

impl Server {
    /// Runs a program. If its client has to ask its user, the program runs again from its log when the answer has come.
    ///
    /// # Errors
    /// The request came with a state that was not made for it, or whose log is gone.
    pub(super) async fn call_code(
        &self,
        given: &CodeArguments,
        call: &ToolRequest,
        client: &Client<'_>,
    ) -> Result<CallToolResponse, ErrorData> {
        let ToolRequest { toolbox, context, .. } = call;
        let caller = request_context::caller_identity(context);
        let log = match client.sealed_state() {
            None => self.programs.begin(),
            Some(state) => match self.logs.take(state, &caller, &call.arguments) {
                Some(Done::Code(log)) => log,
                _ => return Err(unknown_log()),
            },
        };
        let progress = Progress::of(context);
        let calls = ProgramCalls { server: self, call, progress, run: log.run, asked: log.asked };
        let program = given.program();
        let mut stop = pin!(self.stop(context));
        let slot = self.programs.slot(&caller, stop.as_mut()).await;
        let ran = match slot {
            Ok(_slot) => code::run(program, log, &calls, &toolbox.runner, stop).await,
            Err(why) => Ok(RunEnd::Ended(CodeOutcome::not_started(why))),
        };
        let reply = match ran {
            Ok(RunEnd::Asks(Interruption::Fails(error), _)) => return Err(error),
            Ok(RunEnd::Asks(Interruption::Asks(question), log)) => {
                if let Some(state) = question.request_state.clone() {
                    let (arguments, done) = (call.arguments.clone(), Done::Code(log));
                    self.logs.store(WaitingRequest { state, caller, arguments, done, asked_at: Instant::now() });
                }
                return Ok(question.into());
            }
            Ok(RunEnd::Ended(outcome)) => {
                let beside = Ignored::of_meta_tool(&call.name, &call.arguments, &CODE_KEYS);
                code_reply(outcome, beside, program, self.options.text_form)
            }
            Err(error) => {
                let failed = Err(CallError::Spawn(error));
                reply::reply(&call.name, OutputForm::Text, failed, self.options.text_form)
            }
        };

        Ok(self.respond(&call.name, None, reply, context).into())
    }
}

impl ProgramCalls<'_> {
    /// The client, with the answer of its user if that belongs to the call `id`.
    fn client(&self, id: u64) -> Client<'_> {
        let states = &self.server.states;
        if self.asked == Some(id) { self.call.client(states) } else { self.call.client_without_answers(states) }
    }

    async fn tool(&self, id: u64, name: &str, arguments: Value) -> Result<Answer, Interruption> {
        let Value::Object(arguments) = arguments else {
            let problem = type_problem(&arguments, "an object of arguments");
            return Ok(Err(wrong_arguments(name, &[Violation { argument: "args".to_owned(), problem }])));
        };
        let toolbox = &self.call.toolbox;
        let called = Request::Tool { name, arguments: &arguments };
        let result = self.run(id, called, self.progress.as_ref()).await?.into_call();
        let tool = toolbox.index.get(name).into_iter();
        let ignored = tool.flat_map(|tool| keys_ignored_from_agents(tool, &arguments)).map(echo).collect();

        Ok(match result {
            CallResult::InputRequired(never) => match never {},
            CallResult::Ran(outcome) => outcome_answer(name, outcome, ignored, self.server.options.text_form),
            CallResult::Failed(error) => Err(refusal(name, error, &ignored)),
        })
    }

    async fn line(&self, id: u64, given: &Map<String, Value>) -> Result<Answer, Interruption> {
        let given = match RunArguments::read(given) {
            Ok(given) => given,
            Err(violations) => return Ok(Err(wrong_arguments("run", &violations))),
        };
        match self.run(id, given.request(), None).await? {
            PlanResult::InputRequired(never) => match never {},
            PlanResult::Done(done) => Ok(line_answer(done, self.server.options.text_form)),
        }
    }

    /// Runs a call or a line of the program.
    ///
    /// # Errors
    /// The program cannot go on.
    async fn run(
        &self,
        id: u64,
        request: Request<'_>,
        progress: Option<&Progress>,
    ) -> Result<PlanResult<Infallible>, Interruption> {
        let ToolRequest { toolbox, context, .. } = self.call;
        let purpose = Purpose::Code { run: self.run };
        match self.server.run(toolbox, request, purpose, &self.client(id), progress, context).await {
            PlanResult::InputRequired(question) => Err(Interruption::Asks(question)),
            PlanResult::Done(done) => {
                if let Some(failure) = &done.failure {
                    answerable(&failure.error, context).map_err(Interruption::Fails)?;
                }
                Ok(PlanResult::Done(done))
            }
        }
    }

    /// What `climax_search` finds, without schemas.
    fn search(&self, given: &Map<String, Value>) -> Answer {
        let ToolRequest { toolbox, .. } = self.call;
        let found = search(&toolbox.index, self.server.options.strategy, EntryDetail::WithRisk, given);
        let found = found.map_err(|violations| wrong_arguments("search", &violations))?;
        let mut found: Value = serde_json::from_str(&found).unwrap_or_default();
        let mut entries = found["results"].take();
        for entry in entries.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
            entry.remove("input_schema");
        }

        Ok(if entries.is_null() { found["summary"].take() } else { entries })
    }

    /// The signature of a tool.
    fn describe(&self, name: &Value) -> Answer {
        let index = &self.call.toolbox.index;
        let Some(name) = name.as_str() else {
            let violation = Violation { argument: "name".to_owned(), problem: type_problem(name, "string") };
            return Err(wrong_arguments("describe", &[violation]));
        };
        let unknown = || failure(name, CallError::UnknownTool { suggestions: suggest_tools(index, name) });
        index.get(name).map(|tool| signature(tool).into()).ok_or_else(unknown)
    }
}

impl Callee for ProgramCalls<'_> {
    type Question = Interruption;

    fn answer(&self, id: u64, request: code::Request) -> BoxFuture<'_, Result<Answer, Interruption>> {
        Box::pin(async move {
            match request {
                code::Request::Tool { name, arguments } => self.tool(id, &name, arguments).await,
                code::Request::Line(given) => self.line(id, &given).await,
                code::Request::Search(given) => Ok(self.search(&given)),
                code::Request::Describe(name) => Ok(self.describe(&name)),
            }
        })
    }
}
