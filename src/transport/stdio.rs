//! JSON-RPC, one message a line, over a pair of byte streams.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ClientNotification, ClientRequest, GetMeta as _, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::{RoleServer, RxJsonRpcMessage, ServerInitializeError, ServiceExt as _, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::in_flight::InFlight;
use super::lines::{Line, LineReader};
use crate::mcp::decode::{self, Decoded, MAX_LINE_BYTES};
use crate::mcp::prerendered::Era;
use crate::mcp::{Server, is_whole_modern_request};
use crate::transport::SHUTDOWN_LIMIT;

/// How long calls may go on after the client has closed the server's input.
const EOF_GRACE: Duration = Duration::from_millis(300);

/// Responses to malformed lines, and prerendered ones, that are being written to standard output.
const MAX_OPEN_RESPONSES: usize = 64;

/// Requests and notifications of the server that are being written. While there are so many, no input is read.
pub const MAX_WAITING_MESSAGES: usize = 1_024;

/// Serves one client until its input ends or `shutdown` is cancelled.
///
/// When the input ends, running calls get `EOF_GRACE` to end by themselves. Then `shutdown` is cancelled, which ends them. An error
/// of the output does the same. `SHUTDOWN_LIMIT` later this returns, also if responses are not written yet: a client that does not
/// read must not block the server.
///
/// # Errors
/// The client sent an invalid handshake, or the output failed.
pub async fn serve<R, W>(server: Server, input: R, output: W, shutdown: CancellationToken) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let transport = JsonLines {
        lines: LineReader::new(input, MAX_LINE_BYTES),
        output: SharedOutput { stream: Arc::new(Mutex::new(output)), shutdown: shutdown.clone() },
        responses: JoinSet::new(),
        in_flight: Arc::default(),
        server_messages: Arc::new(Semaphore::new(MAX_WAITING_MESSAGES)),
        is_open: false,
        server: server.clone(),
        era: Era::PerRequest,
        shutdown: shutdown.clone(),
    };
    let session = async {
        let running = match server.serve_with_ct(transport, shutdown.clone()).await {
            Ok(running) => running,
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
            Err(ServerInitializeError::TransportError { error, .. }) => return Err(io::Error::other(error.error)),
            Err(error) => return Err(io::Error::other(error)),
        };
        running.waiting().await.map_err(io::Error::other)?;
        Ok(())
    };
    tokio::select! {
        ended = session => ended,
        () = async {
            shutdown.cancelled().await;
            tokio::time::sleep(SHUTDOWN_LIMIT).await;
        } => Ok(()),
    }
}

struct JsonLines<R, W> {
    lines: LineReader<R>,
    output: SharedOutput<W>,
    /// Responses without the SDK that are being written.
    responses: JoinSet<()>,
    /// The requests that the SDK answers. It starts a task for each, and has no limit of its own.
    in_flight: Arc<InFlight>,
    /// A permit for each request or notification of the server that is being written.
    server_messages: Arc<Semaphore>,
    /// Whether a request has opened the session. Before that, the SDK ends at any other message, as at an invalid handshake.
    is_open: bool,
    /// Answers some requests without the SDK.
    server: Server,
    era: Era,
    shutdown: CancellationToken,
}

impl<R, W> JsonLines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Sends a response without the SDK.
    fn respond(&mut self, message: &ServerJsonRpcMessage) {
        // Our own messages can be serialized.
        self.send_line(serde_json::to_vec(message).unwrap_or_default());
    }

    fn send_line(&mut self, line: Vec<u8>) {
        while self.responses.try_join_next().is_some() {}
        let output = self.output.clone();
        self.responses.spawn(async move {
            // `write` has handled the error.
            let _ = output.write(line).await;
        });
    }

    /// Counts a message for the SDK. If there are too many requests, sends an error and returns `false`.
    fn count(&mut self, message: &RxJsonRpcMessage<RoleServer>, length: usize) -> bool {
        match message {
            JsonRpcMessage::Request(request) => {
                let counted = self.in_flight.add(&request.id, length);
                if let Err(error) = counted {
                    self.respond(&decode::refused(&error, request.id.clone()));
                }
                counted.is_ok()
            }
            JsonRpcMessage::Notification(notification) => {
                // Cancelled requests have no response.
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.in_flight.remove(id);
                }
                true
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => true,
        }
    }

    async fn end_of_input(&mut self) {
        let shutdown = self.shutdown.clone();
        tokio::spawn(async move {
            tokio::time::sleep(EOF_GRACE).await;
            shutdown.cancel();
        });
        while self.responses.join_next().await.is_some() {}
    }

    /// The response to a request that is answered without the SDK.
    fn prerendered(&mut self, message: &RxJsonRpcMessage<RoleServer>) -> Option<Vec<u8>> {
        match message {
            JsonRpcMessage::Notification(notification)
                if matches!(notification.notification, ClientNotification::InitializedNotification(_)) =>
            {
                self.era = Era::Initialized;
                None
            }
            JsonRpcMessage::Request(request) => self.server.prerendered_answer(&request.request, &request.id, self.era),
            _ => None,
        }
    }

    /// Whether the SDK may see the message now. If not, this responds to a request.
    fn admit(&mut self, message: &RxJsonRpcMessage<RoleServer>) -> bool {
        if self.is_open {
            return true;
        }
        let JsonRpcMessage::Request(request) = message else {
            tracing::debug!("ignoring a notification before the first request");
            return false;
        };
        match &request.request {
            ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => return true,
            ClientRequest::InitializeRequest(_) => self.is_open = true,
            other if other.get_meta().protocol_version().is_none() => {
                self.respond(&decode::too_early(other.method(), request.id.clone()));
            }
            // If the SDK refuses the revision or the capabilities, it waits for another request that opens the session.
            other => {
                self.is_open = is_whole_modern_request(other);
                return true;
            }
        }
        self.is_open
    }
}

impl<R, W> Transport<RoleServer> for JsonLines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (output, in_flight) = (self.output.clone(), self.in_flight.clone());
        let (answered, permit) = match &message {
            JsonRpcMessage::Response(response) => (Some(response.id.clone()), None),
            JsonRpcMessage::Error(error) => (error.id.clone(), None),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {
                // Without a permit it is written too: requests in flight may send more than the limit, but no input is read meanwhile.
                (None, self.server_messages.clone().try_acquire_owned().ok())
            }
        };
        async move {
            let _permit = permit;
            let written = output.write(serde_json::to_vec(&message)?).await;
            // Only now: a response that the client does not read takes memory too.
            if let Some(id) = answered {
                in_flight.remove(&id);
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            // The SDK has a task for each message that it writes. If the client does not read them, its input is not read either.
            // Here the loop of the SDK also uses up its turn (`tokio::task::coop`). Otherwise, with buffered lines, it would start a
            // task for each request before any of them could run. The semaphore is never closed.
            drop(self.server_messages.acquire().await);
            // The same for a client that sends malformed lines and does not read the errors.
            while self.responses.len() > MAX_OPEN_RESPONSES {
                self.responses.join_next().await;
            }
            let line = match self.lines.next().await {
                Ok(Some(Line::Complete(line))) => line,
                Ok(Some(Line::Oversized)) => {
                    self.respond(&decode::oversized());
                    continue;
                }
                Ok(None) => {
                    self.end_of_input().await;
                    return None;
                }
                Err(error) => {
                    tracing::error!(%error, "input failed");
                    self.end_of_input().await;
                    return None;
                }
            };
            match decode::decode(&line) {
                Decoded::Message(message) if self.admit(&message) => match self.prerendered(&message) {
                    Some(response) => self.send_line(response),
                    None if self.count(&message, line.len()) => return Some(*message),
                    None => {}
                },
                Decoded::Message(_) | Decoded::Empty => {}
                Decoded::Error(error) => self.respond(&error),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.output.stream.lock().await.flush().await
    }
}

/// The output, shared by the tasks that write to it.
struct SharedOutput<W> {
    stream: Arc<Mutex<W>>,
    shutdown: CancellationToken,
}

impl<W> Clone for SharedOutput<W> {
    fn clone(&self) -> Self {
        Self { stream: self.stream.clone(), shutdown: self.shutdown.clone() }
    }
}

impl<W: AsyncWrite + Unpin> SharedOutput<W> {
    /// Writes a message as one line; the lock keeps lines apart.
    async fn write(&self, mut line: Vec<u8>) -> io::Result<()> {
        line.push(b'\n');
        let mut stream = self.stream.lock().await;
        let written = async {
            stream.write_all(&line).await?;
            stream.flush().await
        };
        // The client has closed the output, so no response can reach it.
        written.await.inspect_err(|_| self.shutdown.cancel())
    }
}
