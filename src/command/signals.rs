//! The signals that end a command.

use std::io;
use std::sync::OnceLock;

use tokio::signal::unix::{SignalKind, signal};

use crate::exec::Stop;

/// What shells add to the number of the signal that ended a program.
const SIGNALLED: u8 = 128;

/// The signal that ends a command, once it has come.
#[derive(Debug, Default)]
pub(super) struct EndSignal(OnceLock<SignalKind>);

impl EndSignal {
    /// Returns what waits for the signal.
    ///
    /// # Errors
    /// Signals cannot be handled.
    pub(super) fn stop(&self) -> io::Result<impl Future<Output = Stop>> {
        let [mut terminate, mut interrupt, mut hangup] =
            [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?, signal(SignalKind::hangup())?];
        Ok(async move {
            let kind = tokio::select! {
                _ = terminate.recv() => SignalKind::terminate(),
                _ = interrupt.recv() => SignalKind::interrupt(),
                _ = hangup.recv() => SignalKind::hangup(),
            };
            self.0.get_or_init(|| kind);
            Stop::Cancelled
        })
    }

    /// The exit status of a command that the signal has ended; `None` if none has come.
    pub(super) fn status(&self) -> Option<u8> {
        self.0.get().and_then(|kind| u8::try_from(kind.as_raw_value()).ok()).map(|number| SIGNALLED + number)
    }
}
