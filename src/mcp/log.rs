//! Log messages of a running call: the lines that its program prints on standard error, and the reason of a failure.
//!
//! Clients until revision 2025-11-25 get them once they have set a level. Revision 2026-07-28 deprecates logging.
//! New servers should not offer it there.
//!
//! Source: MCP 2025-11-25 and 2026-07-28, server/utilities/logging.

#![expect(deprecated, reason = "the SDK marks all of logging so; clients of the revisions before may still use it")]

use std::future::Future;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use rmcp::model::{LoggingLevel, LoggingMessageNotification, LoggingMessageNotificationParam, ServerNotification};
use rmcp::service::{RequestContext, RoleServer};
use tokio::time::sleep;

#[cfg(feature = "http")]
use super::call_notifier::CallNotifier;
use super::revision::is_modern;
use crate::call::arguments::echo;
use crate::call::visible::visible;
use crate::exec::{RemainingLines, StderrLines};
use crate::lock::Unpoisoned as _;

/// The time between two log messages of a call, while its program runs.
pub const MIN_LOG_INTERVAL: Duration = Duration::from_millis(10);

/// The least severe level that a client gets. A client that has set none gets no messages.
#[derive(Debug, Default)]
pub(super) struct MinLogLevel(Mutex<Option<LoggingLevel>>);

impl MinLogLevel {
    /// Sets the level.
    pub(super) fn set(&self, level: LoggingLevel) {
        *self.lock() = Some(level);
    }

    fn is_set(&self) -> bool {
        self.lock().is_some()
    }

    fn admits(&self, level: LoggingLevel) -> bool {
        // The SDK declares the levels from the least to the most severe.
        self.lock().is_some_and(|min| level as u8 >= min as u8)
    }

    fn lock(&self) -> MutexGuard<'_, Option<LoggingLevel>> {
        self.0.lock().unpoisoned()
    }
}

/// The log of one call.
pub(super) struct CallLog<'a> {
    context: &'a RequestContext<RoleServer>,
    min_level: &'a MinLogLevel,
    tool: &'a str,
}

impl<'a> CallLog<'a> {
    /// The log of a call of `tool`; `None` if the client gets no log messages.
    pub(super) fn of(
        context: &'a RequestContext<RoleServer>,
        min_level: &'a MinLogLevel,
        tool: &'a str,
    ) -> Option<Self> {
        (min_level.is_set() && !is_modern(context)).then_some(Self { context, min_level, tool })
    }

    /// Awaits a call and sends `lines` as they come. All messages are sent before it returns.
    pub(super) async fn with_lines<T>(&self, lines: &StderrLines, call: impl Future<Output = T>) -> T {
        let mut call = pin!(call);
        let result = loop {
            let line = tokio::select! {
                biased;
                result = call.as_mut() => break result,
                line = lines.next() => line,
            };
            let mut sent = pin!(self.send_line(&line));
            tokio::select! {
                biased;
                result = call.as_mut() => {
                    sent.await;
                    break result;
                }
                () = sent.as_mut() => {}
            }
            tokio::select! {
                biased;
                result = call.as_mut() => break result,
                () = sleep(MIN_LOG_INTERVAL) => {}
            }
        };
        self.send_rest(lines.take_remaining()).await;
        result
    }

    /// Sends the lines that are left when the program has ended.
    async fn send_rest(&self, RemainingLines { lines, dropped: left_out }: RemainingLines) {
        for line in lines {
            self.send_line(&line).await;
        }
        if left_out > 0 {
            self.send(LoggingLevel::Info, format!("[{left_out} more lines on standard error left out]")).await;
        }
    }

    /// Sends the reason why the call failed.
    pub(super) async fn send_failure(&self, reason: &str) {
        self.send(LoggingLevel::Warning, reason.to_owned()).await;
    }

    async fn send_line(&self, line: &str) {
        self.send(LoggingLevel::Info, echo(&visible(line))).await;
    }

    /// Sends a message, unless the call was cancelled: no notification may follow a cancellation.
    async fn send(&self, level: LoggingLevel, text: String) {
        if self.context.ct.is_cancelled() || !self.min_level.admits(level) {
            return;
        }

        let message = LoggingMessageNotificationParam::new(level, text.into()).with_logger(self.tool);
        let message = ServerNotification::LoggingMessageNotification(LoggingMessageNotification::new(message));
        #[cfg(feature = "http")]
        if let Some(notifier) = self.context.extensions.get::<CallNotifier>() {
            notifier.send(message).await;
            return;
        }

        // An error means that the client has disconnected.
        let _ = self.context.peer.send_notification(message).await;
    }
}
