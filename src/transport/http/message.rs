//! The body of a POST → what it asks for, or the answer to what is no message.

use hyper::StatusCode;
use hyper::body::Bytes;
use rmcp::model::{ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};

use super::answers::{self, Answer, plain};
use crate::mcp::decode::{self, Checked, Decoded};

/// What a message is to the transport. The SDK reads the rest.
#[derive(Debug)]
pub(super) struct Message {
    /// The id of a request.
    pub(super) id: Option<RequestId>,
    pub(super) kind: Kind,
    /// What the SDK is to read instead of the body.
    faster: Option<String>,
}

/// How a message is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// By a new session.
    Opening,
    /// For as long as somebody listens.
    Listening,
    /// Once, or not at all.
    Other,
}

impl Message {
    /// Reads a body; one of a session is never told that something is not found, which would end the session for its client.
    pub(super) fn read(body: &[u8], in_session: bool) -> Result<Self, Box<Answer>> {
        let checked = decode::check(body);
        if let Err(Decoded::Empty) = checked {
            let nothing = ErrorData::parse_error("Parse error: the body is empty, expected a JSON-RPC message", None);
            let nothing = ServerJsonRpcMessage::error(nothing, None);
            return Err(Box::new(answers::error(StatusCode::BAD_REQUEST, &nothing)));
        }
        let faster = checked.as_ref().ok().and_then(Checked::faster_json);
        match checked.map_or_else(|decoded| decoded, Checked::decode) {
            Decoded::Error(error) => Err(Box::new(answers::error(status_of(&error, in_session), &error))),
            // A malformed notification is let go; there is nothing to answer.
            Decoded::Empty => Err(Box::new(plain(StatusCode::ACCEPTED, ""))),
            Decoded::Message(message) => Ok(match *message {
                JsonRpcMessage::Request(request) => {
                    let kind = match request.request {
                        ClientRequest::InitializeRequest(_) => Kind::Opening,
                        ClientRequest::SubscriptionsListenRequest(_) => Kind::Listening,
                        _ => Kind::Other,
                    };
                    Self { id: Some(request.id), kind, faster }
                }
                _ => Self { id: None, kind: Kind::Other, faster },
            }),
        }
    }

    /// What the SDK is to read.
    pub(super) fn text(&mut self, body: Bytes) -> Bytes {
        self.faster.take().map_or(body, Bytes::from)
    }
}

/// Source: MCP 2026-07-28, basic/transports, "Streamable HTTP": 404 for methods that the server does not have. Before, 404 was
/// for sessions that are not there, and such an error came like any other answer.
fn status_of(error: &ServerJsonRpcMessage, in_session: bool) -> StatusCode {
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
