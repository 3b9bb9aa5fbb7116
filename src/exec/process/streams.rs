//! Carries what a program reads and prints.

use std::future::Future;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin};
use tokio_util::either::Either;

use super::joint::Merged;
use crate::exec::output::{Capture, MaskedStream, Masks, Watch};

/// How many bytes are read at once.
const BUFFER_BYTES: usize = 16 << 10;

/// Transfers standard input, standard output and standard error until all three have ended.
pub(super) async fn transfer(
    child: &mut Child,
    merged: Merged,
    stdin: Option<&str>,
    (watch, masks): (Option<&Watch>, &Masks),
    stdout: &mut Capture,
    stderr: &mut Capture,
) {
    let output = merged.map(Either::Right).or_else(|| child.stdout.take().map(Either::Left));

    tokio::join!(
        write_all(child.stdin.take(), stdin),
        read_all(output, stdout, masks, |bytes| watch.into_iter().for_each(|watch| watch.stdout(bytes))),
        read_all(child.stderr.take(), stderr, masks, |bytes| watch.into_iter().for_each(|watch| watch.stderr(bytes)))
    );
}

/// Writes `text` and closes the pipe. Programs may exit without reading their input, so errors are ignored.
async fn write_all(pipe: Option<ChildStdin>, text: Option<&str>) {
    if let (Some(mut pipe), Some(text)) = (pipe, text) {
        let _ = pipe.write_all(text.as_bytes()).await;
    }
}

/// Reads a stream to its end or its first error, and reports each piece to `watch`.
async fn read_all(stream: Option<impl AsyncRead + Unpin>, capture: &mut Capture, masks: &Masks, watch: impl Fn(&[u8])) {
    let Some(mut stream) = stream else { return };

    let mut masked = (!masks.is_empty()).then(|| MaskedStream::new(masks));
    let mut show = |bytes: &[u8]| {
        capture.push(bytes);
        watch(bytes);
    };

    let mut buffer = Vec::with_capacity(BUFFER_BYTES);
    while let Ok(1..) = stream.read_buf(&mut buffer).await {
        match &mut masked {
            Some(masked) => show(&masked.push(&buffer)),
            None => show(&buffer),
        }
        buffer.clear();
    }

    if let Some(masked) = masked {
        show(&masked.finish());
    }
}

/// The transfer of the child's streams, which runs while another future is awaited.
pub(super) struct Transfer<'a, F> {
    io: Pin<&'a mut F>,
    done: bool,
}

impl<'a, F: Future<Output = ()>> Transfer<'a, F> {
    /// Makes one of a future that has not completed.
    pub(super) fn new(io: Pin<&'a mut F>) -> Self {
        Self { io, done: false }
    }

    /// Awaits `other` and runs the transfer meanwhile.
    pub(super) async fn alongside(&mut self, other: impl Future<Output = ()>) {
        let mut other = std::pin::pin!(other);

        if !self.done {
            tokio::select! {
                () = other.as_mut() => return,
                () = self.io.as_mut() => self.done = true,
            }
        }

        other.await;
    }

    /// Waits until all streams have ended.
    pub(super) async fn finish(&mut self) {
        if !self.done {
            self.io.as_mut().await;
            self.done = true;
        }
    }
}
