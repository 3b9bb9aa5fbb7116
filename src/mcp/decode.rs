//! One line of input → a message, or the error that answers it.
//!
//! Pure. The SDK drops lines that are no JSON-RPC and takes malformed requests of known methods for unknown methods, so
//! both are sorted out before it sees them.

use rmcp::model::ConstString as _;
use rmcp::model::{
    CallToolRequestMethod, ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, InitializeResultMethod,
    JsonRpcMessage, ListToolsRequestMethod, PingRequestMethod, RequestId, ServerJsonRpcMessage, SetLevelRequestMethod,
};
use serde_json::Value;

use super::server::method_not_found;
use crate::arguments::echo;
use crate::limits::MAX_LINE_BYTES;

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
    if line.iter().all(u8::is_ascii_whitespace) {
        return Decoded::Empty;
    }
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => {
            return reject(None, ErrorData::parse_error(format!("Parse error: the line is not JSON: {error}"), None));
        }
    };
    let id = match request_id(&value) {
        Ok(id) => id,
        Err(message) => return reject(None, ErrorData::invalid_request(message, None)),
    };
    if value.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return reject(id, ErrorData::invalid_request("Invalid request: `jsonrpc` must be \"2.0\"", None));
    }
    let method = value["method"].as_str().unwrap_or_default().to_owned();
    // JSON-RPC 2.0 §4.1: notifications are not answered, and neither are answers.
    let may_be_answered = value.get("id").is_some() && value.get("result").is_none() && value.get("error").is_none();
    let is_known = KNOWN_METHODS.contains(&method.as_str());
    let is_modern = names_a_revision(&value);
    match serde_json::from_value::<ClientJsonRpcMessage>(value) {
        Ok(message) if !(is_known && is_custom_request(&message)) => Decoded::Message(Box::new(message)),
        Err(error) if !may_be_answered => {
            tracing::warn!(%error, "ignoring a malformed notification or response");
            Decoded::Empty
        }
        Err(error) if !is_known => reject(id, ErrorData::invalid_request(format!("Invalid request: {error}"), None)),
        _ if is_modern && GONE_METHODS.contains(&method.as_str()) => reject(id, method_not_found(&method)),
        _ => {
            let message = format!("Invalid params for {method}: {}", expected_params(&method));
            reject(id, ErrorData::invalid_params(message, None))
        }
    }
}

/// Whether a request is of a revision that has no `initialize`: 2026-07-28, basic, "Request metadata".
fn names_a_revision(request: &Value) -> bool {
    request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string()
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
            Value::Array(_) => "a batch, which this server does not take: send one message a line",
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
