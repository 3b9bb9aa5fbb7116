//! Decodes a line of input into a message, or into the error response to it.
//!
//! Pure. The SDK drops lines that are not JSON-RPC, and takes malformed requests of known methods for unknown methods. Both
//! are answered here, before the SDK sees them.

use std::borrow::Cow;

use rmcp::model::ConstString as _;
use rmcp::model::{
    CallToolRequestMethod, ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, GetPromptRequestMethod,
    InitializeResultMethod, JsonRpcMessage, ListToolsRequestMethod, PingRequestMethod, ReadResourceRequestMethod,
    RequestId, ServerJsonRpcMessage, SetLevelRequestMethod,
};
use serde_json::{Map, Value};

use self::prescan::Outline;
use self::surrogates::replace_lone;
use super::errors::method_not_found;
use crate::call::arguments::echo;
use crate::mcp::decode::prescan::MAX_MESSAGE_NODES;

mod prescan;
mod surrogates;

/// The longest JSON-RPC line, in bytes.
pub const MAX_LINE_BYTES: usize = 16 << 20;

/// The result of decoding a line.
#[derive(Debug)]
pub enum Decoded {
    /// A message for the server.
    Message(Box<ClientJsonRpcMessage>),
    /// The line is no message. This is the response.
    Error(Box<ServerJsonRpcMessage>),
    /// The line needs no response.
    Empty,
}

/// A JSON-RPC object of bounded size, without duplicate names.
#[derive(Debug)]
pub struct Checked<'a> {
    /// The text for the SDK: the line, or another text that means the same and can be parsed, or parsed faster.
    text: Cow<'a, [u8]>,
    value: Value,
}

/// The methods whose requests are malformed if the SDK cannot parse them.
const KNOWN_METHODS: &[&str] = &[
    InitializeResultMethod::VALUE,
    PingRequestMethod::VALUE,
    ListToolsRequestMethod::VALUE,
    CallToolRequestMethod::VALUE,
    SetLevelRequestMethod::VALUE,
    ReadResourceRequestMethod::VALUE,
    GetPromptRequestMethod::VALUE,
    "server/discover",
];

/// The known methods that revision 2026-07-28 has removed.
const REMOVED_METHODS: &[&str] = &[InitializeResultMethod::VALUE, SetLevelRequestMethod::VALUE];

/// The methods that a server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Methods {
    /// Those of every server.
    Base,
    /// Those of skills too.
    Skills,
}

/// Decodes a line, without its line end.
#[must_use]
pub fn decode(line: &[u8], methods: Methods) -> Decoded {
    check(line).map_or_else(|decoded| decoded, |checked| checked.decode(methods))
}

/// Checks a message without the types of the SDK.
///
/// # Errors
/// The line is empty, or is answered with an error response.
pub fn check(line: &[u8]) -> Result<Checked<'_>, Decoded> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Err(Decoded::Empty);
    }

    let text = replace_lone(line);
    let outline = Outline::of(&text);
    // The SDK takes microseconds for each node, on the one thread that serves all clients.
    if outline.nodes > MAX_MESSAGE_NODES {
        return Err(reject(outline.id(), too_many_nodes(outline.nodes)));
    }

    let mut value: Value = serde_json::from_slice(&text).map_err(|error| {
        reject(None, ErrorData::parse_error(format!("Parse error: the message is not JSON: {error}"), None))
    })?;
    let id = request_id(&value).map_err(|message| reject(None, ErrorData::invalid_request(message, None)))?;
    if let Some(name) = outline.duplicate_name() {
        let message = format!("Invalid request: `{}` stands there twice; a message has each member once", echo(&name));
        return Err(reject(id.filter(|_| name != "id"), ErrorData::invalid_request(message, None)));
    }

    if value.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(reject(id, ErrorData::invalid_request("Invalid request: `jsonrpc` must be \"2.0\"", None)));
    }

    let is_reordered = value.as_object_mut().is_some_and(put_method_first);
    let text = if is_reordered { Cow::Owned(value.to_string().into_bytes()) } else { text };

    Ok(Checked { text, value })
}

/// Moves the method before all objects and arrays. Returns whether it had to be moved.
///
/// The SDK parses the members before the method once for each method that it knows.
fn put_method_first(members: &mut Map<String, Value>) -> bool {
    let mut before = members.iter().take_while(|(name, _)| *name != "method");
    let is_reordered = before.any(|(_, value)| value.is_object() || value.is_array());
    if is_reordered && let Some(method) = members.shift_remove("method") {
        members.shift_insert(0, "method".to_owned(), method);
    }
    is_reordered
}

/// Parses JSON in a string by the rules for a message. Returns `None` for other text, and for more nodes than a message may have.
pub(super) fn nested(json: &str) -> Option<Value> {
    let text = replace_lone(json.as_bytes());
    (Outline::of(&text).nodes <= MAX_MESSAGE_NODES).then(|| serde_json::from_slice(&text).ok()).flatten()
}

impl Checked<'_> {
    /// The text for the SDK; `None` if that is the line itself.
    #[must_use]
    pub fn changed_text(&self) -> Option<Vec<u8>> {
        match &self.text {
            Cow::Borrowed(_) => None,
            Cow::Owned(text) => Some(text.clone()),
        }
    }

    /// Decodes the message with the types of the SDK.
    #[must_use]
    pub fn decode(self, methods: Methods) -> Decoded {
        let Self { text, value } = self;
        let id = request_id(&value).unwrap_or_default();
        let method = value["method"].as_str().unwrap_or_default().to_owned();
        // Neither notifications nor responses have a response. Source: JSON-RPC 2.0, section 4.1.
        let may_be_answered =
            value.get("id").is_some() && value.get("result").is_none() && value.get("error").is_none();
        let is_known = KNOWN_METHODS.contains(&method.as_str());
        let is_modern = has_protocol_version(&value);
        let problem = form_problem(&value);
        // From the text: of a tree the SDK reads no integers between 64 and 128 bits.
        match serde_json::from_slice::<ClientJsonRpcMessage>(&text) {
            Ok(message) if is_unsupported(&message, is_modern, methods) => reject(id, method_not_found(&method)),
            Ok(message) if !(is_known && is_custom_request(&message)) => Decoded::Message(Box::new(message)),
            Err(error) if !may_be_answered => {
                // At a higher level a client could fill the log.
                tracing::debug!(%error, "ignoring a malformed notification or response");
                Decoded::Empty
            }
            Err(_) if !is_known => reject(id, ErrorData::invalid_request(format!("Invalid request: {problem}"), None)),
            _ if is_modern && REMOVED_METHODS.contains(&method.as_str()) => reject(id, method_not_found(&method)),
            _ => {
                let message = format!("Invalid params for {method}: {}", expected_params(&method));
                reject(id, ErrorData::invalid_params(message, None))
            }
        }
    }
}

/// Returns whether a request names its revision. Source: MCP 2026-07-28, basic, "Request metadata".
fn has_protocol_version(request: &Value) -> bool {
    request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string()
}

/// Returns whether the server lacks a method that the SDK knows. The SDK's own error would be the bare name of the method.
fn is_unsupported(message: &ClientJsonRpcMessage, is_modern: bool, methods: Methods) -> bool {
    let JsonRpcMessage::Request(request) = message else { return false };
    match request.request {
        ClientRequest::PingRequest(_) => is_modern,
        ClientRequest::ListSkillsRequest(_) | ClientRequest::GetSkillRequest(_) => methods == Methods::Base,
        ClientRequest::ReadResourceDirectoryRequest(_) => true,
        _ => false,
    }
}

/// The problem of a malformed request without a known method. Source: JSON-RPC 2.0, section 4; in MCP `params` is an object.
fn form_problem(request: &Value) -> String {
    match request.get("method") {
        None => "`method` is missing".to_owned(),
        Some(Value::String(_)) => "`params` must be an object".to_owned(),
        Some(other) => format!("`method` must be a string, found {}", echo(&other.to_string())),
    }
}

fn is_custom_request(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::CustomRequest(_)))
}

/// The response to a line that is longer than [`MAX_LINE_BYTES`].
#[must_use]
pub fn oversized() -> ServerJsonRpcMessage {
    let message = format!("Invalid request: the line is longer than {} MiB", MAX_LINE_BYTES >> 20);
    ServerJsonRpcMessage::error(ErrorData::invalid_request(message, None), None)
}

/// The response to a request that comes before `initialize`.
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

/// The response to a request that exceeds a limit of the connection.
#[must_use]
pub fn refused(reason: &impl std::fmt::Display, id: RequestId) -> ServerJsonRpcMessage {
    // JSON-RPC 2.0, section 5.1, reserves -32000 to -32099 for servers.
    let error = ErrorData::new(ErrorCode(-32000), format!("Request refused: {reason}"), None);
    ServerJsonRpcMessage::error(error, Some(id))
}

fn reject(id: Option<RequestId>, error: ErrorData) -> Decoded {
    Decoded::Error(Box::new(ServerJsonRpcMessage::error(error, id)))
}

/// The id of a JSON-RPC object, if it has one.
///
/// Source: JSON-RPC 2.0, section 4. MCP allows neither null nor fractions.
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

fn too_many_nodes(nodes: usize) -> ErrorData {
    let message = format!(
        "Invalid request: the message has {nodes} values and names, expected {MAX_MESSAGE_NODES} at most; \
         send less of them, or several messages"
    );
    ErrorData::invalid_request(message, None)
}

/// The form that the params of a known method must have.
fn expected_params(method: &str) -> &'static str {
    match method {
        CallToolRequestMethod::VALUE => "expected an object with a string `name` and, if given, an object `arguments`",
        InitializeResultMethod::VALUE => "expected an object with `protocolVersion`, `capabilities` and `clientInfo`",
        SetLevelRequestMethod::VALUE => {
            "expected an object with `level`, which is debug, info, notice, warning, error, critical, alert or emergency"
        }
        ReadResourceRequestMethod::VALUE => "expected an object with a string `uri`",
        GetPromptRequestMethod::VALUE => {
            "expected an object with a string `name` and, if given, an object `arguments` of strings"
        }
        ListToolsRequestMethod::VALUE => "expected no params, or an object with, if given, a string `cursor`",
        _ => "expected an object",
    }
}
