//! Reads the body of a POST request as a JSON-RPC message.

use hyper::StatusCode;
use hyper::body::Bytes;
use rmcp::model::{ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};

use super::responses::{HttpResponse, json_rpc_error, plain};
use crate::mcp::decode::{self, Checked, Decoded, Methods};

/// The properties of a message that the transport needs. The SDK reads the rest.
#[derive(Debug)]
pub(super) struct PostMessage {
    /// The id of a request.
    pub(super) id: Option<RequestId>,
    pub(super) kind: MessageKind,
    /// The text for the SDK, where that is not the body.
    changed_text: Option<Vec<u8>>,
}

/// The kinds of messages that the transport handles differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageKind {
    /// A request that opens a session.
    Initialize,
    /// A request whose response is a stream of notifications without end.
    Listen,
    /// Any other message.
    Other,
}

impl PostMessage {
    /// Reads a body, or returns the response to a malformed one.
    ///
    /// A request of a session never gets status 404, which would end the session for its client.
    pub(super) fn read(body: &[u8], in_session: bool, methods: Methods) -> Result<Self, Box<HttpResponse>> {
        let checked = decode::check(body);
        if let Err(Decoded::Empty) = checked {
            let error = ErrorData::parse_error("Parse error: the body is empty, expected a JSON-RPC message", None);
            let error = ServerJsonRpcMessage::error(error, None);
            return Err(Box::new(json_rpc_error(StatusCode::BAD_REQUEST, &error)));
        }

        let changed_text = checked.as_ref().ok().and_then(Checked::changed_text);
        match checked.map_or_else(|decoded| decoded, |checked| checked.decode(methods)) {
            Decoded::Error(error) => Err(Box::new(json_rpc_error(error_status(&error, in_session), &error))),
            // A malformed notification is ignored: no response has its id.
            Decoded::Empty => Err(Box::new(plain(StatusCode::ACCEPTED, ""))),
            Decoded::Message(message) => Ok(match *message {
                JsonRpcMessage::Request(request) => {
                    let kind = match request.request {
                        ClientRequest::InitializeRequest(_) => MessageKind::Initialize,
                        ClientRequest::SubscriptionsListenRequest(_) => MessageKind::Listen,
                        _ => MessageKind::Other,
                    };
                    Self { id: Some(request.id), kind, changed_text }
                }
                _ => Self { id: None, kind: MessageKind::Other, changed_text },
            }),
        }
    }

    /// The text for the SDK to read, which is `body` or means the same.
    pub(super) fn text(&mut self, body: Bytes) -> Bytes {
        self.changed_text.take().map_or(body, Bytes::from)
    }
}

/// The status of the response to a message with this error.
///
/// Source: MCP 2026-07-28, basic/transports, "Streamable HTTP": 404 for methods that the server does not have. In earlier revisions
/// 404 means that a session does not exist, and the error has status 200 like any other response.
fn error_status(error: &ServerJsonRpcMessage, in_session: bool) -> StatusCode {
    match error {
        JsonRpcMessage::Error(error) if error.error.code == ErrorCode::METHOD_NOT_FOUND => {
            if in_session {
                StatusCode::OK
            } else {
                StatusCode::NOT_FOUND
            }
        }
        _ => StatusCode::BAD_REQUEST,
    }
}
