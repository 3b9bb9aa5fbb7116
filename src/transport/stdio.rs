//! JSON-RPC, one message a line, over a pair of byte streams.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ClientNotification, ClientRequest, GetExtensions as _, GetMeta as _, JsonRpcMessage, ServerJsonRpcMessage,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, ServerInitializeError, ServiceExt as _, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::in_flight::InFlight;
use super::line_reader::{Line, LineReader};
use super::output::SharedOutput;
use super::streams::Streams;
use crate::call::space::{ClientSpace, Space};
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
pub async fn serve<R, W>(server: Server, streams: Streams<R, W>, shutdown: CancellationToken) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let transport = JsonLines {
        lines: LineReader::new(streams.input, MAX_LINE_BYTES),
        input_closed: streams.input_closed,
        input: Input::Open { stuck_since: None },
        output: SharedOutput::new(streams.output, shutdown.clone()),
        results: Space::new().client(),
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

/// The state of the input.
#[derive(Clone, Copy, Debug)]
enum Input {
    /// It may hold more lines. Since this time the client has closed it, and none could be read because the output is full.
    Open { stuck_since: Option<Instant> },
    /// It has ended.
    Ended,
}

struct JsonLines<R, W> {
    lines: LineReader<R>,
    /// Cancelled when the client has closed the input, which may still hold lines.
    input_closed: CancellationToken,
    input: Input,
    output: SharedOutput<W>,
    /// The space for results of calls.
    results: Arc<ClientSpace>,
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
        let write = self.output.write(line);
        self.responses.spawn(async move {
            // `write` has handled the error.
            let _ = write.await;
        });
    }

    /// Counts a message for the SDK. If there are too many requests, sends an error and returns `false`.
    fn count(&mut self, message: &mut RxJsonRpcMessage<RoleServer>, length: usize) -> bool {
        match message {
            JsonRpcMessage::Request(request) => {
                let result = Arc::new(self.results.claim());
                if let Err(error) = self.in_flight.add(&request.id, length, &result) {
                    self.respond(&decode::refused(&error, request.id.clone()));
                    return false;
                }
                request.request.extensions_mut().insert(result);
                true
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

    /// Gives running calls `EOF_GRACE` to end by themselves.
    fn end_input(&mut self) {
        self.input = Input::Ended;
        let shutdown = self.shutdown.clone();
        tokio::spawn(async move {
            tokio::time::sleep(EOF_GRACE).await;
            shutdown.cancel();
        });
    }

    /// Waits until all requests are answered, or the server ends. Until then the SDK sends the notifications of calls.
    async fn all_answered(&mut self) {
        self.shutdown.run_until_cancelled(self.in_flight.emptied()).await;
        while self.responses.join_next().await.is_some() {}
    }

    /// Waits until the client has read enough of the output.
    async fn room(&mut self) {
        // The SDK has a task for each message that it writes. If the client does not read them, its input is not read either. Here
        // the loop of the SDK also uses up its turn (`tokio::task::coop`). Otherwise, with buffered lines, it would start a task for
        // each request before any of them could run. The semaphore is never closed.
        drop(self.server_messages.acquire().await);
        self.output.room().await;
        // The same for a client that sends malformed lines and does not read the errors.
        while self.responses.len() > MAX_OPEN_RESPONSES {
            self.responses.join_next().await;
        }
    }

    /// Waits until the client has read enough of the output. Returns `false` if it has closed the input and reads nothing for
    /// `EOF_GRACE`.
    async fn has_room(&mut self, stuck_since: Option<Instant>) -> bool {
        let closed = self.input_closed.clone();
        let since = async {
            closed.cancelled().await;
            stuck_since.unwrap_or_else(Instant::now)
        };
        tokio::select! {
            biased;
            () = self.room() => {
                self.input = Input::Open { stuck_since: None };
                true
            }
            since = since => {
                // The SDK drops this future when a call ends, and starts another one.
                self.input = Input::Open { stuck_since: Some(since) };
                timeout_at(since + EOF_GRACE, self.room()).await.is_ok()
            }
        }
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
        let in_flight = self.in_flight.clone();
        let (answered, permit) = match &message {
            JsonRpcMessage::Response(response) => (Some(response.id.clone()), None),
            JsonRpcMessage::Error(error) => (error.id.clone(), None),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {
                // Without a permit it is written too: requests in flight may send more than the limit, but no input is read meanwhile.
                (None, self.server_messages.clone().try_acquire_owned().ok())
            }
        };
        // Now, and not when it is written: the message takes more memory than its text.
        let line = serde_json::to_vec(&message);
        drop(message);
        if let (Some(id), Ok(line)) = (&answered, &line) {
            in_flight.set_result_bytes(id, line.capacity());
        }

        let write = line.map(|line| self.output.write(line));
        async move {
            let _permit = permit;
            let written = write?.await;
            // Only now: a response that the client does not read takes memory too.
            if let Some(id) = answered {
                in_flight.remove(&id);
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let Input::Open { stuck_since } = self.input else {
                self.all_answered().await;
                return None;
            };
            if !self.has_room(stuck_since).await {
                self.input = Input::Ended;
                self.shutdown.cancel();
                continue;
            }
            let line = match self.lines.next().await {
                Ok(Some(Line::Complete(line))) => line,
                Ok(Some(Line::Oversized)) => {
                    self.respond(&decode::oversized());
                    continue;
                }
                Ok(None) => {
                    self.end_input();
                    continue;
                }
                Err(error) => {
                    tracing::error!(%error, "input failed");
                    self.end_input();
                    continue;
                }
            };
            match decode::decode(&line, self.server.methods()) {
                Decoded::Message(mut message) if self.admit(&message) => match self.prerendered(&message) {
                    Some(response) => self.send_line(response),
                    None if self.count(&mut message, line.len()) => return Some(*message),
                    None => {}
                },
                Decoded::Message(_) | Decoded::Empty => {}
                Decoded::Error(error) => self.respond(&error),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.output.flush().await
    }
}
