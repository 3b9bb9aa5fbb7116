//! JSON-RPC, one message a line, over a pair of byte streams.

use std::io;
use std::sync::Arc;

use rmcp::model::{ClientNotification, ClientRequest, GetMeta as _, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::{RoleServer, RxJsonRpcMessage, ServerInitializeError, ServiceExt as _, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::in_flight::InFlight;
use super::lines::{Line, Lines};
use crate::mcp::decode::MAX_LINE_BYTES;
use crate::mcp::decode::{self, Decoded};
use crate::mcp::prerendered::Era;
use crate::mcp::{Server, is_whole_modern_request};
use crate::transport::SHUTDOWN_LIMIT;
use std::time::Duration;

/// How long calls may go on after the client has closed the server's input.
const EOF_GRACE: Duration = Duration::from_millis(300);

/// Answers to lines that are no requests, while they are written.
const MAX_OPEN_ANSWERS: usize = 64;

/// Questions and notifications that wait to be written to standard output; while there are so many, no input is read.
pub const MAX_WAITING_MESSAGES: usize = 1_024;

/// Serves one client until its input ends or `shutdown` is cancelled.
///
/// When the input ends, running calls get [`EOF_GRACE`] to end by themselves; then `shutdown` is cancelled, which ends
/// them. A client that can no longer be written to is treated the same. [`SHUTDOWN_LIMIT`] later this returns, whatever
/// still waits: a client that does not read must not keep the server.
///
/// # Errors
/// The client broke off the handshake, or the output failed.
pub async fn serve<R, W>(server: Server, input: R, output: W, shutdown: CancellationToken) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let transport = JsonLines {
        lines: Lines::new(input, MAX_LINE_BYTES),
        output: Output { stream: Arc::new(Mutex::new(output)), shutdown: shutdown.clone() },
        answers: JoinSet::new(),
        open: Arc::default(),
        places: Arc::new(Semaphore::new(MAX_WAITING_MESSAGES)),
        opened: false,
        server: server.clone(),
        era: Era::PerRequest,
        shutdown: shutdown.clone(),
    };
    let conversation = async {
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
        ended = conversation => ended,
        () = async {
            shutdown.cancelled().await;
            tokio::time::sleep(SHUTDOWN_LIMIT).await;
        } => Ok(()),
    }
}

struct JsonLines<R, W> {
    lines: Lines<R>,
    output: Output<W>,
    /// Answers that the SDK knows nothing of, while they are written.
    answers: JoinSet<()>,
    /// What the SDK is to answer. It starts a task for each request, however many there are.
    open: Arc<InFlight>,
    /// Places for messages of the server's own accord, while they are written.
    places: Arc<Semaphore>,
    /// Whether a request has opened the conversation. Before that the SDK takes anything else for a broken handshake.
    opened: bool,
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
    /// Sends a message that the SDK knows nothing of.
    fn answer(&mut self, message: &ServerJsonRpcMessage) {
        // A message of ours can be printed.
        self.send_line(serde_json::to_vec(message).unwrap_or_default());
    }

    fn send_line(&mut self, line: Vec<u8>) {
        while self.answers.try_join_next().is_some() {}
        let output = self.output.clone();
        self.answers.spawn(async move {
            // A client that cannot be written to has been noticed by `write`.
            let _ = output.write(line).await;
        });
    }

    /// Whether there is room for the message; if not, a request is answered here.
    fn count(&mut self, message: &RxJsonRpcMessage<RoleServer>, length: usize) -> bool {
        match message {
            JsonRpcMessage::Request(request) => {
                let refused = self.open.add(&request.id, length).err();
                if let Some(why) = refused {
                    self.answer(&decode::refused(&why, request.id.clone()));
                }
                refused.is_none()
            }
            JsonRpcMessage::Notification(notification) => {
                // Cancelled requests are not answered.
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.open.remove(id);
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
        while self.answers.join_next().await.is_some() {}
    }

    /// The line that answers a message without the SDK.
    fn finished(&mut self, message: &RxJsonRpcMessage<RoleServer>) -> Option<Vec<u8>> {
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

    /// Whether the SDK may see the message now; if not, a request is answered here.
    fn admit(&mut self, message: &RxJsonRpcMessage<RoleServer>) -> bool {
        if self.opened {
            return true;
        }
        let JsonRpcMessage::Request(request) = message else {
            tracing::debug!("ignoring a notification before the first request");
            return false;
        };
        match &request.request {
            ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => return true,
            ClientRequest::InitializeRequest(_) => self.opened = true,
            other if other.get_meta().protocol_version().is_none() => {
                self.answer(&decode::too_early(other.method(), request.id.clone()));
            }
            // A revision or capabilities that the SDK refuses leave it waiting for another opening.
            other => {
                self.opened = is_whole_modern_request(other);
                return true;
            }
        }
        self.opened
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
        let (output, open) = (self.output.clone(), self.open.clone());
        let (answered, place) = match &message {
            JsonRpcMessage::Response(response) => (Some(response.id.clone()), None),
            JsonRpcMessage::Error(error) => (error.id.clone(), None),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {
                // Requests that are open may have something to say beyond; no more come in.
                (None, self.places.clone().try_acquire_owned().ok())
            }
        };
        async move {
            let _place = place;
            let written = output.write(serde_json::to_vec(&message)?).await;
            // Only now: an answer that nobody reads takes memory too.
            if let Some(id) = answered {
                open.remove(&id);
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            // The SDK has a task for each message that it writes, so a client that does not read those is not read either.
            // This is where the loop of the SDK uses up its turn (`tokio::task::coop`), too: with lines that are there already it
            // would start a task for each request before any of them could run. The semaphore is never closed.
            drop(self.places.acquire().await);
            // A client that sends nonsense and does not read is not read either.
            while self.answers.len() > MAX_OPEN_ANSWERS {
                self.answers.join_next().await;
            }
            let line = match self.lines.next().await {
                Ok(Some(Line::Whole(line))) => line,
                Ok(Some(Line::Oversized)) => {
                    self.answer(&decode::oversized());
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
                Decoded::Message(message) if self.admit(&message) => match self.finished(&message) {
                    Some(answer) => self.send_line(answer),
                    None if self.count(&message, line.len()) => return Some(*message),
                    None => {}
                },
                Decoded::Message(_) | Decoded::Empty => {}
                Decoded::Error(answer) => self.answer(&answer),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.output.stream.lock().await.flush().await
    }
}

/// The client's end of the output.
struct Output<W> {
    stream: Arc<Mutex<W>>,
    shutdown: CancellationToken,
}

impl<W> Clone for Output<W> {
    fn clone(&self) -> Self {
        Self { stream: self.stream.clone(), shutdown: self.shutdown.clone() }
    }
}

impl<W: AsyncWrite + Unpin> Output<W> {
    /// Writes a message as one line; the lock keeps lines apart.
    async fn write(&self, mut line: Vec<u8>) -> io::Result<()> {
        line.push(b'\n');
        let mut stream = self.stream.lock().await;
        let written = async {
            stream.write_all(&line).await?;
            stream.flush().await
        };
        // Nobody is left to answer: the client is gone.
        written.await.inspect_err(|_| self.shutdown.cancel())
    }
}
