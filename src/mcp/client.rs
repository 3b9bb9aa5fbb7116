//! Asks the user behind a client: forms and approvals, through elicitation.
//!
//! Until revision 2025-11-25 the server sends a request of its own, and the call waits for the response. From 2026-07-28 on
//! the server answers with the elicitation. The client then sends its request again, with the response and a signed state.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};

use climax_catalog::Type;
use rmcp::model::{
    ClientCapabilities, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequiredResult, InputResponses, ProtocolVersion, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RequestHandle, RoleServer, ServiceError};
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::request_context;
use super::request_state::{RequestState, StateSigner, VerifiedState};
use super::revision::is_modern;
use crate::call::Plan;
use crate::call::approval::{APPROVAL_LIMIT, Approver, Denial, FormAnswer, LateQuestions, Verdict};
use crate::call::digest::RequestDigest;
use crate::call::digest::of_pairs;
use crate::call::form::{Field, Form};
use crate::lock::Unpoisoned as _;

/// The key of the approval among the input requests. Forms of configs cannot have this name.
const APPROVAL: &str = climax_catalog::APPROVAL;

/// The client of one request.
pub(super) struct Client<'a> {
    pub(super) context: &'a RequestContext<RoleServer>,
    states: &'a StateSigner,
    /// The responses to the elicitations of the round before.
    responses: Option<&'a InputResponses>,
    /// The state from the round before, as it came.
    sealed_state: Option<&'a str>,
    /// The same state once it has been verified, which marks it as used.
    verified_state: OnceLock<Option<VerifiedState>>,
    /// The values of forms that came with this round, by the fingerprint of the form.
    form_values: Mutex<Map<String, Value>>,
}

impl<'a> Client<'a> {
    pub(super) fn new(
        context: &'a RequestContext<RoleServer>,
        states: &'a StateSigner,
        responses: Option<&'a InputResponses>,
        sealed_state: Option<&'a str>,
    ) -> Self {
        let (verified_state, form_values) = (OnceLock::new(), Mutex::default());
        Self { context, states, responses, sealed_state, verified_state, form_values }
    }

    /// The state from the round before, as it came.
    pub(super) fn sealed_state(&self) -> Option<&str> {
        self.sealed_state
    }

    /// Returns whether the client can show forms. Before 2025-11-25 clients did not name modes, and forms were the only one.
    pub(super) fn supports_forms(&self) -> bool {
        let has_forms = |capabilities: &ClientCapabilities| {
            capabilities.elicitation.as_ref().is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
        };
        if is_modern(self.context) {
            self.context.meta.client_capabilities().as_ref().is_some_and(has_forms)
        } else {
            self.context.peer.peer_info().is_some_and(|info| has_forms(&info.capabilities))
        }
    }

    /// The state that came with the request; `None` if none did.
    fn state(&self, request: &RequestDigest) -> Option<&VerifiedState> {
        let verify = || self.sealed_state.map(|state| self.states.verify(state, &self.binding(request)));
        self.verified_state.get_or_init(verify).as_ref()
    }

    /// What a state is bound to: the request and its caller, so that no other caller can use the state.
    fn binding(&self, request: &RequestDigest) -> Vec<u8> {
        [&request[..], &request_context::caller_identity(self.context)].concat()
    }

    /// The response that came with the request to the elicitation of this name.
    fn response(&self, name: &str) -> Option<ElicitResult> {
        let response = self.responses.and_then(|responses| responses.get(name))?;
        serde_json::from_value(response.clone()).ok()
    }

    /// The result that asks for another round. Its state holds the values of all forms so far.
    fn input_required(
        &self,
        name: &str,
        elicitation: ElicitRequest,
        state: RequestState,
        request: &RequestDigest,
    ) -> Option<InputRequiredResult> {
        let mut form_values = match self.state(request) {
            Some(VerifiedState::Valid(state)) => state.form_values.clone(),
            _ => Map::new(),
        };
        form_values.extend(self.form_values.lock().unpoisoned().clone());
        let state = self.states.seal(&RequestState { form_values, ..state }, &self.binding(request))?;
        let requests = BTreeMap::from([(name.to_owned(), InputRequest::Elicitation(elicitation))]);
        Some(InputRequiredResult::new(Some(requests), Some(state)))
    }

    /// Sends an elicitation and waits for the response. Source: MCP 2025-11-25, client/elicitation.
    async fn elicit(&self, elicitation: ElicitRequest) -> Option<ElicitResult> {
        let options = PeerRequestOptions::no_options();
        let request = ServerRequest::ElicitRequest(elicitation);
        let response = async {
            let handle = self.context.peer.send_request_with_option(request, options).await?;
            OpenElicitation(Some(handle)).response().await
        };

        // A cancelled request needs no response.
        match self.context.ct.run_until_cancelled(response).await? {
            Ok(ClientResult::ElicitResult(response)) => Some(response),
            Ok(_) => None,
            Err(error) => {
                tracing::warn!(%error, "no answer to a question");
                None
            }
        }
    }

    /// Takes the values of a form from the state or from the response of this round, or asks for another round.
    fn fill_in_by_rounds(
        &self,
        form: &Form<'_>,
        elicitation: ElicitRequest,
        request: &RequestDigest,
    ) -> FormAnswer<InputRequiredResult> {
        let fingerprint = hex::encode(of_pairs([(String::new(), format!("{form:?}"))].into_iter()));
        let is_response_to_form = match self.state(request) {
            Some(VerifiedState::Forged) => return FormAnswer::Denied(Denial::Forged),
            Some(VerifiedState::Valid(state)) => match state.form_values.get(&fingerprint) {
                Some(Value::Object(values)) => return FormAnswer::Filled(values.clone()),
                _ => state.pending_form.as_ref() == Some(&fingerprint),
            },
            Some(VerifiedState::Stale) => false,
            None => true,
        };
        if let Some(response) = self.response(form.name).filter(|_| is_response_to_form) {
            let answer = form_answer(form, response);
            if let FormAnswer::Filled(values) = &answer {
                self.form_values.lock().unpoisoned().insert(fingerprint, Value::Object(values.clone()));
            }
            return answer;
        }

        let state = RequestState { pending_form: Some(fingerprint), ..RequestState::default() };
        self.input_required(form.name, elicitation, state, request)
            .map_or(FormAnswer::Denied(Denial::Unasked), FormAnswer::InputRequired)
    }

    /// Takes the verdict from the response of this round, or asks for another round.
    async fn approve_by_rounds(&self, plan: &Plan<'_>) -> Verdict<InputRequiredResult> {
        let digest = plan.digest();
        let request = plan.request_digest();
        match self.state(&request) {
            Some(VerifiedState::Forged) => return Verdict::Denied(Denial::Forged),
            Some(VerifiedState::Valid(state)) if state.pending_approval == Some(digest) => {
                if let Some(response) = self.response(APPROVAL) {
                    return verdict(&response);
                }
            }
            Some(VerifiedState::Valid(_) | VerifiedState::Stale) | None => {}
        }

        let elicitation = approval_elicitation(plan.question().await);
        let state = RequestState { pending_approval: Some(digest), ..RequestState::default() };
        let result = self.input_required(APPROVAL, elicitation, state, &request);

        result.map_or_else(|| plan.headless(), Verdict::InputRequired)
    }
}

/// Rejects states that fail verification. Source: MCP 2026-07-28, basic/patterns, "Multi Round-Trip Requests".
impl Approver for Client<'_> {
    type Question = InputRequiredResult;

    async fn fill_in(&self, form: &Form<'_>, request: &RequestDigest) -> FormAnswer<InputRequiredResult> {
        if !self.supports_forms() {
            return FormAnswer::Denied(Denial::Unanswerable);
        }

        let knows_one_of =
            self.context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2025_11_25);
        let titles = if knows_one_of { TitleForm::OneOf } else { TitleForm::EnumNames };
        let Some(elicitation) = form_elicitation(form, titles) else { return FormAnswer::Denied(Denial::Unasked) };
        if is_modern(self.context) {
            return self.fill_in_by_rounds(form, elicitation, request);
        }

        let response = self.elicit(elicitation).await;
        response.map_or(FormAnswer::Denied(Denial::Unasked), |response| form_answer(form, response))
    }

    async fn approve(&self, plan: &Plan<'_>) -> Verdict<InputRequiredResult> {
        if !self.supports_forms() {
            return plan.headless();
        }
        if is_modern(self.context) {
            return self.approve_by_rounds(plan).await;
        }
        let response = self.elicit(approval_elicitation(plan.question().await)).await;
        response.map_or(Verdict::Denied(Denial::Unasked), |response| verdict(&response))
    }

    fn late_questions(&self) -> LateQuestions {
        match (self.supports_forms(), is_modern(self.context)) {
            (false, _) => LateQuestions::ByPolicy,
            // It answers with a later request, by which the line would run again.
            (true, true) => LateQuestions::Refused,
            (true, false) => LateQuestions::Asked,
        }
    }
}

/// An elicitation that the client has not answered. Dropping it cancels it, so that the client can close the form.
struct OpenElicitation(Option<RequestHandle<RoleServer>>);

impl OpenElicitation {
    async fn response(mut self) -> Result<ClientResult, ServiceError> {
        let late = ServiceError::Timeout { timeout: APPROVAL_LIMIT };
        let Some(handle) = &mut self.0 else { return Err(late) };
        let response = timeout(APPROVAL_LIMIT, &mut handle.rx).await.map_err(|_| late)?;
        self.0 = None;
        response.map_err(|_| ServiceError::TransportClosed)?
    }
}

impl Drop for OpenElicitation {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take() {
            tokio::spawn(handle.cancel(Some("the call has ended".to_owned())));
        }
    }
}

/// The user's decision in a response.
fn verdict<Q>(response: &ElicitResult) -> Verdict<Q> {
    match response.action {
        ElicitationAction::Accept => Verdict::Approved,
        _ => Verdict::Denied(Denial::ByUser),
    }
}

/// The values of a form in a response. Fields that the form does not have are ignored.
fn form_answer<Q>(form: &Form<'_>, response: ElicitResult) -> FormAnswer<Q> {
    match (response.action, response.content) {
        (ElicitationAction::Accept, Some(Value::Object(values))) => FormAnswer::Filled(form.values(values)),
        (ElicitationAction::Accept, _) => FormAnswer::Filled(Map::new()),
        _ => FormAnswer::Denied(Denial::ByUser),
    }
}

/// The elicitation that asks for approval. Its form has no fields.
fn approval_elicitation(question: String) -> ElicitRequest {
    ElicitRequest::new(form_params(question, ElicitationSchema::new(BTreeMap::new())))
}

/// The elicitation of a form, in the restricted JSON Schema that elicitation has; `None` if the form does not fit it.
///
/// Source: MCP 2025-11-25, client/elicitation, "Requested Schema".
fn form_elicitation(form: &Form<'_>, titles: TitleForm) -> Option<ElicitRequest> {
    let properties: Map<String, Value> =
        form.fields.iter().map(|field| (field.name.to_owned(), property(field, titles))).collect();
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

/// The form of titled enum values in a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TitleForm {
    /// `oneOf` with `const` and `title`. Source: MCP 2025-11-25 (SEP-1330).
    OneOf,
    /// `enum` with `enumNames`. Source: MCP 2025-06-18.
    EnumNames,
}

/// Writes the allowed values of a field, with their titles if any has one. `keyword` is that of titled values.
fn choices(schema: &mut Value, values: &[(&str, Option<&str>)], titles: TitleForm, keyword: &str) {
    let title = |(value, title): &(&str, Option<&str>)| title.unwrap_or(value).to_owned();
    let has_titles = values.iter().any(|(_, title)| title.is_some());
    if has_titles && titles == TitleForm::OneOf {
        schema[keyword] = values.iter().map(|one| json!({ "const": one.0, "title": title(one) })).collect();
        return;
    }

    schema["type"] = json!("string");
    schema["enum"] = values.iter().map(|(value, _)| Value::from(*value)).collect();
    if has_titles {
        schema["enumNames"] = values.iter().map(|one| Value::from(title(one))).collect();
    }
}

/// The schema of a field. The values of an enum are strings, whatever the type of the field.
fn property(field: &Field<'_>, titles: TitleForm) -> Value {
    let kind = if field.values.is_empty() { field.kind } else { Type::String };
    let mut property = json!({ "type": kind.as_str() });
    if !field.description.is_empty() {
        property["description"] = json!(field.description);
    }

    if !field.values.is_empty() {
        if field.several {
            let mut items = json!({});
            choices(&mut items, &field.values, titles, "anyOf");
            property["type"] = json!("array");
            property["items"] = items;
        } else {
            choices(&mut property, &field.values, titles, "oneOf");
        }
    }

    for (keyword, bound, round) in
        [("minimum", field.min, f64::ceil as fn(f64) -> f64), ("maximum", field.max, f64::floor)]
    {
        let Some(bound) = bound else { continue };
        match kind {
            #[expect(clippy::cast_possible_truncation, reason = "beyond the type's own bounds those hold")]
            Type::Integer => property[keyword] = json!(round(bound) as i64),
            Type::Number => property[keyword] = json!(bound),
            Type::String | Type::Boolean => {}
        }
    }
    if let Some(default) = field.default {
        property["default"] = match kind {
            Type::String => json!(default),
            _ => serde_json::from_str(default).unwrap_or(Value::Null),
        };
    }

    property
}
