//! The client of a request, and the user behind it: fills in forms and approves calls (elicitation).
//!
//! Until revision 2025-11-25 the server sends a request of its own while the call waits. From 2026-07-28 on the request is
//! answered with the question, and the client sends it again with the answer and a state that only this server can make.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use climax_catalog::Type;
use rmcp::model::{
    ClientCapabilities, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequiredResult, InputResponses, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RequestHandle, RoleServer, ServiceError};
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::request_context;
use super::request_state::{Opened, State, StateSigner};
use super::server::is_modern;
use crate::call::approval::APPROVAL_LIMIT;
use crate::call::approval::{Answer, Approver, Denial, Identity, Pending, Verdict, identity_of};
use crate::call::form::{Field, Form};

/// The name of the question whether a call may run. No form of a config has it.
const APPROVAL: &str = climax_catalog::APPROVAL;

/// The client of one request.
pub(super) struct Client<'a> {
    pub(super) context: &'a RequestContext<RoleServer>,
    seals: &'a StateSigner,
    /// What came with the request: the answers to an earlier result, and that result's state.
    answers: Option<&'a InputResponses>,
    state: Option<&'a str>,
    opened: OnceLock<Option<Opened>>,
    /// What has been filled in in this round.
    given: Mutex<Map<String, Value>>,
}

impl<'a> Client<'a> {
    pub(super) fn new(
        context: &'a RequestContext<RoleServer>,
        seals: &'a StateSigner,
        answers: Option<&'a InputResponses>,
        state: Option<&'a str>,
    ) -> Self {
        Self { context, seals, answers, state, opened: OnceLock::new(), given: Mutex::default() }
    }

    /// Whether the client shows forms. One that names neither mode does: there was no other before 2025-11-25.
    fn can_ask(&self) -> bool {
        let shows = |capabilities: &ClientCapabilities| {
            capabilities.elicitation.as_ref().is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
        };
        if is_modern(self.context) {
            self.context.meta.client_capabilities().as_ref().is_some_and(shows)
        } else {
            self.context.peer.peer_info().is_some_and(|info| shows(&info.capabilities))
        }
    }

    /// The state that came with the request, `None` if none did.
    fn opened(&self, request: &Identity) -> Option<&Opened> {
        let open = || self.state.map(|state| self.seals.open(state, &self.subject(request)));
        self.opened.get_or_init(open).as_ref()
    }

    /// What a state is bound to: nobody redeems what somebody else was asked.
    fn subject(&self, request: &Identity) -> Vec<u8> {
        [&request[..], &request_context::caller(self.context)].concat()
    }

    /// The answer that came with the request.
    fn answer(&self, name: &str) -> Option<ElicitResult> {
        let answer = self.answers.and_then(|answers| answers.get(name))?;
        serde_json::from_value(answer.clone()).ok()
    }

    /// The question as a result, with a state that holds all that was given so far.
    fn asked(
        &self,
        name: &str,
        question: ElicitRequest,
        state: State,
        request: &Identity,
    ) -> Option<InputRequiredResult> {
        let mut given = match self.opened(request) {
            Some(Opened::Good(state)) => state.given.clone(),
            _ => Map::new(),
        };
        given.extend(self.given.lock().unwrap_or_else(PoisonError::into_inner).clone());
        let state = self.seals.seal(&State { given, ..state }, &self.subject(request))?;
        let questions = BTreeMap::from([(name.to_owned(), InputRequest::Elicitation(question))]);
        Some(InputRequiredResult::new(Some(questions), Some(state)))
    }

    /// Asks by a request of the server's, and waits. MCP 2025-11-25, client/elicitation.
    async fn by_request(&self, question: ElicitRequest) -> Option<ElicitResult> {
        let options = PeerRequestOptions::no_options();
        let request = ServerRequest::ElicitRequest(question);
        let answer = async {
            let handle = self.context.peer.send_request_with_option(request, options).await?;
            Asked(Some(handle)).answer().await
        };
        // Nobody waits for the answer to a request that was cancelled.
        match self.context.ct.run_until_cancelled(answer).await? {
            Ok(ClientResult::ElicitResult(answer)) => Some(answer),
            Ok(_) => None,
            Err(error) => {
                tracing::warn!(%error, "no answer to a question");
                None
            }
        }
    }
}

impl Approver for Client<'_> {
    type Question = InputRequiredResult;

    async fn ask(&self, form: &Form<'_>, request: &Identity) -> Answer<InputRequiredResult> {
        if !self.can_ask() {
            return Answer::Denied(Denial::Unanswerable);
        }
        let Some(question) = form_question(form) else { return Answer::Denied(Denial::Headless) };
        if !is_modern(self.context) {
            let answer = self.by_request(question).await;
            return answer.map_or(Answer::Denied(Denial::ByUser), |answer| filled_in(form, answer));
        }
        let fingerprint = hex::encode(identity_of([(String::new(), format!("{form:?}"))].into_iter()));
        let is_answered = match self.opened(request) {
            Some(Opened::Forged) => return Answer::Denied(Denial::Forged),
            Some(Opened::Good(state)) => match state.given.get(&fingerprint) {
                Some(Value::Object(values)) => return Answer::Given(values.clone()),
                _ => state.asks.as_ref() == Some(&fingerprint),
            },
            Some(Opened::Stale) => false,
            None => true,
        };
        if let Some(answer) = self.answer(form.name).filter(|_| is_answered) {
            let answer = filled_in(form, answer);
            if let Answer::Given(values) = &answer {
                let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
                given.insert(fingerprint, Value::Object(values.clone()));
            }
            return answer;
        }
        let state = State { asks: Some(fingerprint), ..State::default() };
        self.asked(form.name, question, state, request).map_or(Answer::Denied(Denial::Headless), Answer::Asked)
    }

    /// MCP 2026-07-28, basic/patterns, "Multi Round-Trip Requests": a state that fails verification is rejected.
    async fn decide(&self, pending: &Pending<'_>) -> Verdict<InputRequiredResult> {
        if !self.can_ask() {
            return pending.headless();
        }
        let question = |text| ElicitRequest::new(form_params(text, ElicitationSchema::new(BTreeMap::new())));
        if !is_modern(self.context) {
            let answer = self.by_request(question(pending.question().await)).await;
            return answer.map_or(Verdict::Denied(Denial::ByUser), |answer| verdict(&answer));
        }
        let identity = pending.identity();
        let request = pending.request();
        match self.opened(&request) {
            Some(Opened::Forged) => return Verdict::Denied(Denial::Forged),
            Some(Opened::Good(state)) if state.approves == Some(identity) => {
                if let Some(answer) = self.answer(APPROVAL) {
                    return verdict(&answer);
                }
            }
            Some(Opened::Good(_) | Opened::Stale) | None => {}
        }
        let question = question(pending.question().await);
        let state = State { approves: Some(identity), ..State::default() };
        let asked = self.asked(APPROVAL, question, state, &request);
        asked.map_or_else(|| pending.headless(), Verdict::Asked)
    }
}

/// A question that the client has; taken back when dropped without an answer, so that nobody answers it for nothing.
struct Asked(Option<RequestHandle<RoleServer>>);

impl Asked {
    async fn answer(mut self) -> Result<ClientResult, ServiceError> {
        let late = ServiceError::Timeout { timeout: APPROVAL_LIMIT };
        let Some(handle) = &mut self.0 else { return Err(late) };
        let answer = timeout(APPROVAL_LIMIT, &mut handle.rx).await.map_err(|_| late)?;
        self.0 = None;
        answer.map_err(|_| ServiceError::TransportClosed)?
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take() {
            tokio::spawn(handle.cancel(Some("the call has ended".to_owned())));
        }
    }
}

fn verdict<Q>(answer: &ElicitResult) -> Verdict<Q> {
    match answer.action {
        ElicitationAction::Accept => Verdict::Approved,
        _ => Verdict::Denied(Denial::ByUser),
    }
}

/// Of what comes back only the fields of the form count.
fn filled_in<Q>(form: &Form<'_>, answer: ElicitResult) -> Answer<Q> {
    match (answer.action, answer.content) {
        (ElicitationAction::Accept, Some(Value::Object(values))) => Answer::Given(form.values(values)),
        (ElicitationAction::Accept, _) => Answer::Given(Map::new()),
        _ => Answer::Denied(Denial::ByUser),
    }
}

/// A form in the restricted schema of elicitation. Source: MCP 2025-11-25, client/elicitation, "Requested Schema".
fn form_question(form: &Form<'_>) -> Option<ElicitRequest> {
    let properties: Map<String, Value> =
        form.fields.iter().map(|field| (field.name.to_owned(), property(field))).collect();
    let required: Vec<&str> = form.fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    let mut schema =
        Map::from_iter([("type".to_owned(), json!("object")), ("properties".to_owned(), properties.into())]);
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    let schema = ElicitationSchema::from_json_schema(schema);
    let schema = schema.inspect_err(|error| tracing::error!(%error, form = form.name, "no form can be made"));
    Some(ElicitRequest::new(form_params(form.message.clone(), schema.ok()?)))
}

fn form_params(message: String, requested_schema: ElicitationSchema) -> ElicitRequestParams {
    ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema }
}

/// Allowed values are texts in forms, whatever their type.
fn property(field: &Field<'_>) -> Value {
    let kind = if field.values.is_empty() { field.kind } else { Type::String };
    let mut property = json!({ "type": kind.as_str() });
    if !field.description.is_empty() {
        property["description"] = json!(field.description);
    }
    if !field.values.is_empty() {
        property["enum"] = json!(field.values);
    }
    for (keyword, bound, whole) in
        [("minimum", field.min, f64::ceil as fn(f64) -> f64), ("maximum", field.max, f64::floor)]
    {
        let Some(bound) = bound else { continue };
        match kind {
            #[expect(clippy::cast_possible_truncation, reason = "beyond the type's own bounds those hold")]
            Type::Integer => property[keyword] = json!(whole(bound) as i64),
            Type::Number => property[keyword] = json!(bound),
            Type::String | Type::Boolean => {}
        }
    }
    if let Some(word) = field.default {
        property["default"] = match kind {
            Type::String => json!(word),
            _ => serde_json::from_str(word).unwrap_or(Value::Null),
        };
    }
    property
}
