//! One line of input → a message, or the error that answers it.
//!
//! Pure. The SDK drops lines that are no JSON-RPC and takes malformed requests of known methods for unknown methods, so
//! both are sorted out before it sees them.

use rmcp::model::ConstString as _;
use rmcp::model::{
    CallToolRequestMethod, ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, InitializeResultMethod,
    JsonRpcMessage, ListToolsRequestMethod, PingRequestMethod, RequestId, ServerJsonRpcMessage, SetLevelRequestMethod,
};
use serde_json::{Map, Value};

use self::prescan::Outline;
use super::errors::method_not_found;
use crate::call::arguments::echo;
use crate::mcp::decode::prescan::MAX_MESSAGE_NODES;

mod prescan;

/// Longest JSON-RPC line, in bytes.
pub const MAX_LINE_BYTES: usize = 16 << 20;

/// What a line turned out to be.
#[derive(Debug)]
pub enum Decoded {
    /// A message for the server.
    Message(Box<ClientJsonRpcMessage>),
    /// No message; this is to be sent back.
    Error(Box<ServerJsonRpcMessage>),
    /// Nothing.
    Empty,
}

/// JSON that has passed for a JSON-RPC object: of bounded size, with one id and one method.
#[derive(Debug)]
pub struct Checked {
    value: Value,
    /// Whether the method stood behind the params.
    is_late: bool,
}

/// Methods whose requests are wrong when the SDK cannot read them.
const KNOWN_METHODS: &[&str] = &[
    InitializeResultMethod::VALUE,
    PingRequestMethod::VALUE,
    ListToolsRequestMethod::VALUE,
    CallToolRequestMethod::VALUE,
    SetLevelRequestMethod::VALUE,
    "server/discover",
];

/// Those of them that revision 2026-07-28 does not have any more.
const GONE_METHODS: &[&str] = &[InitializeResultMethod::VALUE, SetLevelRequestMethod::VALUE];

/// Decodes a line, without its line end.
#[must_use]
pub fn decode(line: &[u8]) -> Decoded {
    check(line).map_or_else(|decoded| decoded, Checked::decode)
}

/// Checks a message as far as the SDK's types need not be known.
///
/// # Errors
/// There is nothing, or what is to be sent back.
pub fn check(line: &[u8]) -> Result<Checked, Decoded> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Err(Decoded::Empty);
    }
    let outline = Outline::of(line);
    // Before anything is made of it: the SDK takes some microseconds for each, and everything is on one thread.
    if outline.nodes > MAX_MESSAGE_NODES {
        return Err(reject(outline.id(), too_much(outline.nodes)));
    }
    let mut value: Value = serde_json::from_slice(line).map_err(|error| {
        reject(None, ErrorData::parse_error(format!("Parse error: the message is not JSON: {error}"), None))
    })?;
    let id = request_id(&value).map_err(|message| reject(None, ErrorData::invalid_request(message, None)))?;
    if let Some(name) = outline.twice() {
        let message = format!("Invalid request: `{}` stands there twice; a message has each member once", echo(&name));
        return Err(reject(id.filter(|_| name != "id"), ErrorData::invalid_request(message, None)));
    }
    if value.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(reject(id, ErrorData::invalid_request("Invalid request: `jsonrpc` must be \"2.0\"", None)));
    }
    let is_late = value.as_object_mut().is_some_and(put_method_first);
    Ok(Checked { value, is_late })
}

/// Puts the method before whatever holds something, and returns whether it stood behind.
///
/// The SDK reads all that stands before the method once for each method that it knows.
fn put_method_first(members: &mut Map<String, Value>) -> bool {
    let mut before = members.iter().take_while(|(name, _)| *name != "method");
    let is_late = before.any(|(_, value)| value.is_object() || value.is_array());
    if is_late && let Some(method) = members.shift_remove("method") {
        members.shift_insert(0, "method".to_owned(), method);
    }
    is_late
}

/// Whether JSON that came as a string has no more values and names than a message may have.
pub(super) fn is_bounded(json: &str) -> bool {
    Outline::of(json.as_bytes()).nodes <= MAX_MESSAGE_NODES
}

impl Checked {
    /// The message as text that the SDK reads faster than what was sent, if there is such a text.
    #[must_use]
    pub fn faster_json(&self) -> Option<String> {
        self.is_late.then(|| self.value.to_string())
    }

    /// Reads what the message says.
    #[must_use]
    pub fn decode(self) -> Decoded {
        let Self { value, .. } = self;
        let id = request_id(&value).unwrap_or_default();
        let method = value["method"].as_str().unwrap_or_default().to_owned();
        // JSON-RPC 2.0 §4.1: notifications are not answered, and neither are answers.
        let may_be_answered =
            value.get("id").is_some() && value.get("result").is_none() && value.get("error").is_none();
        let is_known = KNOWN_METHODS.contains(&method.as_str());
        let is_modern = names_a_revision(&value);
        let form = expected_form(&value);
        match serde_json::from_value::<ClientJsonRpcMessage>(value) {
            Ok(message) if is_absent(&message, is_modern) => reject(id, method_not_found(&method)),
            Ok(message) if !(is_known && is_custom_request(&message)) => Decoded::Message(Box::new(message)),
            Err(error) if !may_be_answered => {
                // A client could fill the log.
                tracing::debug!(%error, "ignoring a malformed notification or response");
                Decoded::Empty
            }
            Err(_) if !is_known => reject(id, ErrorData::invalid_request(format!("Invalid request: {form}"), None)),
            _ if is_modern && GONE_METHODS.contains(&method.as_str()) => reject(id, method_not_found(&method)),
            _ => {
                let message = format!("Invalid params for {method}: {}", expected_params(&method));
                reject(id, ErrorData::invalid_params(message, None))
            }
        }
    }
}

/// Whether a request is of a revision that has no `initialize`: 2026-07-28, basic, "Request metadata".
fn names_a_revision(request: &Value) -> bool {
    request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string()
}

/// Whether the SDK knows a method that the server does not have, and would refuse it with its bare name.
fn is_absent(message: &ClientJsonRpcMessage, is_modern: bool) -> bool {
    let JsonRpcMessage::Request(request) = message else { return false };
    match request.request {
        ClientRequest::PingRequest(_) => is_modern,
        ClientRequest::ListSkillsRequest(_)
        | ClientRequest::GetSkillRequest(_)
        | ClientRequest::ReadResourceDirectoryRequest(_) => true,
        _ => false,
    }
}

/// What is wrong with a request of no method that is known. Source: JSON-RPC 2.0 §4; MCP narrows `params` to objects.
fn expected_form(request: &Value) -> String {
    match request.get("method") {
        None => "`method` is missing".to_owned(),
        Some(Value::String(_)) => "`params` must be an object".to_owned(),
        Some(other) => format!("`method` must be a string, found {}", echo(&other.to_string())),
    }
}

fn is_custom_request(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::CustomRequest(_)))
}

/// The answer to a line that is longer than [`MAX_LINE_BYTES`].
#[must_use]
pub fn oversized() -> ServerJsonRpcMessage {
    let message = format!("Invalid request: the line is longer than {} MiB", MAX_LINE_BYTES >> 20);
    ServerJsonRpcMessage::error(ErrorData::invalid_request(message, None), None)
}

/// The answer to a request that comes before the conversation was opened.
///
/// Source: MCP 2025-11-25, basic/lifecycle, "Initialization"; MCP 2026-07-28, basic, "Request metadata".
#[must_use]
pub fn too_early(method: &str, id: RequestId) -> ServerJsonRpcMessage {
    if !KNOWN_METHODS.contains(&method) {
        return ServerJsonRpcMessage::error(method_not_found(method), Some(id));
    }
    let message = format!(
        "{method} came before initialize: send initialize first, or, from revision 2026-07-28 on, \
         name the revision and your capabilities in params._meta"
    );
    ServerJsonRpcMessage::error(ErrorData::invalid_params(message, None), Some(id))
}

/// The answer to a request for which there is no room.
#[must_use]
pub fn refused(why: &impl std::fmt::Display, id: RequestId) -> ServerJsonRpcMessage {
    // JSON-RPC 2.0 §5.1 leaves these codes to servers.
    let error = ErrorData::new(ErrorCode(-32000), format!("Request refused: {why}"), None);
    ServerJsonRpcMessage::error(error, Some(id))
}

fn reject(id: Option<RequestId>, error: ErrorData) -> Decoded {
    Decoded::Error(Box::new(ServerJsonRpcMessage::error(error, id)))
}

/// The id of a JSON-RPC object that has one; JSON-RPC 2.0 §4 and MCP's narrowing of it (no null, no fraction).
fn request_id(value: &Value) -> Result<Option<RequestId>, String> {
    let Value::Object(object) = value else {
        let found = match value {
            Value::Array(_) => "a batch, which this server does not take: send each message by itself",
            Value::String(_) => "a string",
            Value::Number(_) => "a number",
            _ => "a constant",
        };
        return Err(format!("Invalid request: expected a JSON-RPC object, found {found}"));
    };
    match object.get("id") {
        None => Ok(None),
        Some(id) => serde_json::from_value(id.clone()).map(Some).map_err(|_| {
            let found = echo(&id.to_string());
            format!("Invalid request: `id` must be a string or a whole number, found {found}")
        }),
    }
}

fn too_much(nodes: usize) -> ErrorData {
    let message = format!(
        "Invalid request: the message has {nodes} values and names, expected {MAX_MESSAGE_NODES} at most; \
         send less of them, or several messages"
    );
    ErrorData::invalid_request(message, None)
}

fn expected_params(method: &str) -> &'static str {
    match method {
        CallToolRequestMethod::VALUE => "expected an object with a string `name` and, if given, an object `arguments`",
        InitializeResultMethod::VALUE => "expected an object with `protocolVersion`, `capabilities` and `clientInfo`",
        SetLevelRequestMethod::VALUE => {
            "expected an object with `level`, which is debug, info, notice, warning, error, critical, alert or emergency"
        }
        ListToolsRequestMethod::VALUE => "expected no params, or an object with, if given, a string `cursor`",
        _ => "expected an object",
    }
}
