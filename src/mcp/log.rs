//! Log messages of a running call: what its program prints on standard error, and why the call failed.
//!
//! Clients until revision 2025-11-25 get them once they have asked for them. From 2026-07-28 on logging is deprecated, and
//! servers that begin with it now are asked not to offer it there.
//!
//! Source: MCP 2025-11-25 and 2026-07-28, server/utilities/logging.

#![expect(deprecated, reason = "the SDK marks all of logging so; clients of the revisions before may still use it")]

use std::future::Future;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::{LoggingLevel, LoggingMessageNotification, LoggingMessageNotificationParam, ServerNotification};
use rmcp::service::{RequestContext, RoleServer};
use tokio::time::sleep;

use super::revision::is_modern;
use crate::call::arguments::echo;
use crate::exec::{RemainingLines, StderrLines};
use std::time::Duration;

/// The time between two log messages of a call, while its program runs.
pub const MIN_LOG_INTERVAL: Duration = Duration::from_millis(10);

/// From which level on the client of a conversation is told; of nothing until it has asked.
#[derive(Debug, Default)]
pub(super) struct Threshold(Mutex<Option<LoggingLevel>>);

impl Threshold {
    pub(super) fn set(&self, level: LoggingLevel) {
        *self.lock() = Some(level);
    }

    fn is_set(&self) -> bool {
        self.lock().is_some()
    }

    fn admits(&self, level: LoggingLevel) -> bool {
        // The levels are declared from the least to the most severe.
        self.lock().is_some_and(|least| level as u8 >= least as u8)
    }

    fn lock(&self) -> MutexGuard<'_, Option<LoggingLevel>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The log of one call.
pub(super) struct Log<'a> {
    context: &'a RequestContext<RoleServer>,
    threshold: &'a Threshold,
    tool: &'a str,
}

impl<'a> Log<'a> {
    /// The log of a call of `tool`; `None` if its client has not asked for any.
    pub(super) fn of(context: &'a RequestContext<RoleServer>, threshold: &'a Threshold, tool: &'a str) -> Option<Self> {
        (threshold.is_set() && !is_modern(context)).then_some(Self { context, threshold, tool })
    }

    /// Awaits a call and sends `lines` meanwhile, all of them before it returns.
    pub(super) async fn followed<T>(&self, lines: &StderrLines, call: impl Future<Output = T>) -> T {
        let mut call = pin!(call);
        let done = loop {
            let line = tokio::select! {
                biased;
                done = call.as_mut() => break done,
                line = lines.next() => line,
            };
            let mut sent = pin!(self.line(&line));
            tokio::select! {
                biased;
                done = call.as_mut() => {
                    sent.await;
                    break done;
                }
                () = sent.as_mut() => {}
            }
            tokio::select! {
                biased;
                done = call.as_mut() => break done,
                () = sleep(MIN_LOG_INTERVAL) => {}
            }
        };
        let RemainingLines { lines, dropped: left_out } = lines.take_remaining();
        for line in lines {
            self.line(&line).await;
        }
        if left_out > 0 {
            self.send(LoggingLevel::Info, format!("[{left_out} more lines on standard error left out]")).await;
        }
        done
    }

    /// Says why the call failed.
    pub(super) async fn failed(&self, why: &str) {
        self.send(LoggingLevel::Warning, why.to_owned()).await;
    }

    async fn line(&self, line: &str) {
        self.send(LoggingLevel::Info, echo(line)).await;
    }

    /// Sends a message, unless nobody waits for the call any more: no notification follows a cancellation.
    async fn send(&self, level: LoggingLevel, text: String) {
        if self.context.ct.is_cancelled() || !self.threshold.admits(level) {
            return;
        }
        let message = LoggingMessageNotificationParam::new(level, text.into()).with_logger(self.tool);
        let message = ServerNotification::LoggingMessageNotification(LoggingMessageNotification::new(message));
        #[cfg(feature = "http")]
        if let Some(aside) = self.context.extensions.get::<crate::transport::http::call_notifier::CallNotifier>() {
            aside.send(message).await;
            return;
        }
        // A client that has gone is told nothing.
        let _ = self.context.peer.send_notification(message).await;
    }
}
