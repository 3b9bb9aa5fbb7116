//! Writes messages to the client, one a line, and counts the bytes that wait.

use std::future::Future;
use std::io;
use std::sync::Arc;

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::call::space::{ClientSpace, Space};

/// The output, shared by the tasks that write to it.
pub(super) struct SharedOutput<W> {
    stream: Arc<Mutex<W>>,
    /// The lines that wait to be written.
    waiting: Arc<ClientSpace>,
    shutdown: CancellationToken,
}

impl<W> Clone for SharedOutput<W> {
    fn clone(&self) -> Self {
        Self { stream: self.stream.clone(), waiting: self.waiting.clone(), shutdown: self.shutdown.clone() }
    }
}

impl<W: AsyncWrite + Unpin> SharedOutput<W> {
    /// Takes over an output. An error of it cancels `shutdown`.
    pub(super) fn new(stream: W, shutdown: CancellationToken) -> Self {
        Self { stream: Arc::new(Mutex::new(stream)), waiting: Space::new().client(), shutdown }
    }

    /// Waits until few enough bytes wait to be written.
    pub(super) async fn room(&self) {
        self.waiting.room(0).await;
    }

    /// Counts a message at once, and returns the future that writes it as one line.
    pub(super) fn write(&self, mut line: Vec<u8>) -> impl Future<Output = io::Result<()>> + use<W> {
        line.push(b'\n');
        let claim = self.waiting.claim();
        claim.set(line.capacity());
        let Self { stream, shutdown, .. } = self.clone();

        async move {
            let _claim = claim;
            // The lock keeps lines apart.
            let mut stream = stream.lock().await;
            let written = async {
                stream.write_all(&line).await?;
                stream.flush().await
            };
            // The client has closed the output, so no response can reach it.
            written.await.inspect_err(|_| shutdown.cancel())
        }
    }

    pub(super) async fn flush(&self) -> io::Result<()> {
        self.stream.lock().await.flush().await
    }
}
