//! JSON-RPC, one message a line, over a pair of byte streams.

use std::io;
use std::sync::Arc;

use rmcp::model::{ClientRequest, GetMeta as _, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::{RoleServer, RxJsonRpcMessage, ServerInitializeError, ServiceExt as _, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::lines::{Line, Lines};
use crate::limits::{EOF_GRACE, MAX_LINE_BYTES};
use crate::mcp::Server;
use crate::mcp::decode::{self, Decoded};

/// Opens standard input and output: without threads where they are pipes.
///
/// # Panics
/// Outside of a tokio runtime.
#[must_use]
pub fn open() -> (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static) {
    rmcp::transport::stdio_pipes()
}

/// Serves one client until its input ends or `shutdown` is cancelled.
///
/// When the input ends, running calls get [`EOF_GRACE`] to end by themselves; then `shutdown` is cancelled, which ends
/// them.
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
        output: Arc::new(Mutex::new(output)),
        opened: false,
        shutdown: shutdown.clone(),
    };
    let running = match server.serve_with_ct(transport, shutdown).await {
        Ok(running) => running,
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
        Err(error) => return Err(io::Error::other(error)),
    };
    running.waiting().await.map_err(io::Error::other)?;
    Ok(())
}

struct JsonLines<R, W> {
    lines: Lines<R>,
    output: Arc<Mutex<W>>,
    /// Whether a request has opened the conversation. Before that the SDK takes anything else for a broken handshake.
    opened: bool,
    shutdown: CancellationToken,
}

impl<R, W> JsonLines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Sends a message that the SDK knows nothing of.
    fn answer(&self, message: ServerJsonRpcMessage) {
        tokio::spawn(write(self.output.clone(), message));
    }

    fn end_of_input(&self) {
        let shutdown = self.shutdown.clone();
        tokio::spawn(async move {
            tokio::time::sleep(EOF_GRACE).await;
            shutdown.cancel();
        });
    }

    /// Whether the SDK may see the message now; if not, a request is answered here.
    fn admit(&mut self, message: &RxJsonRpcMessage<RoleServer>) -> bool {
        if self.opened {
            return true;
        }
        let JsonRpcMessage::Request(request) = message else {
            tracing::warn!("ignoring a notification before the first request");
            return false;
        };
        match &request.request {
            ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => return true,
            ClientRequest::InitializeRequest(_) => self.opened = true,
            other if other.get_meta().protocol_version().is_some() => self.opened = true,
            other => self.answer(decode::too_early(other.method(), request.id.clone())),
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
        write(self.output.clone(), message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let line = match self.lines.next().await {
                Ok(Some(Line::Whole(line))) => line,
                Ok(Some(Line::Oversized)) => {
                    self.answer(decode::oversized());
                    continue;
                }
                Ok(None) => {
                    self.end_of_input();
                    return None;
                }
                Err(error) => {
                    tracing::error!(%error, "input failed");
                    self.end_of_input();
                    return None;
                }
            };
            match decode::decode(&line) {
                Decoded::Message(message) if self.admit(&message) => return Some(*message),
                Decoded::Message(_) | Decoded::Empty => {}
                Decoded::Error(answer) => self.answer(*answer),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.output.lock().await.flush().await
    }
}

/// Writes a message as one line; the lock keeps lines apart.
async fn write<W: AsyncWrite + Unpin>(output: Arc<Mutex<W>>, message: ServerJsonRpcMessage) -> io::Result<()> {
    let mut line = serde_json::to_vec(&message)?;
    line.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&line).await?;
    output.flush().await
}
