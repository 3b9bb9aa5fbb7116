//! Progress notifications of a running call.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{RequestContext, RoleServer};
use tokio::time::{Instant, sleep, timeout};

use super::request_context::left;
use crate::call::arguments::echo;
use crate::call::visible::visible;
use crate::exec::{CallState, Watch};

/// The time between two progress notifications of a call whose program prints all the time.
pub(crate) const MIN_PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// The time between two progress notifications of a call whose program prints nothing.
pub(crate) const MAX_PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

/// The progress of a request, by the token of its client.
pub(super) struct Progress {
    token: ProgressToken,
    /// The notifications so far. The calls of a chain share the count, since it must grow.
    sent: AtomicU32,
}

impl Progress {
    /// The progress of a request whose client has given a token for it.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Option<Self> {
        context.meta.get_progress_token().map(|token| Self { token, sent: AtomicU32::new(0) })
    }
}

/// Awaits a call and sends progress notifications: when the program starts, when it prints, and while it runs.
///
/// No notification follows the result, also where the call goes on as a job. None follows a cancellation either, although the program may go on printing until
/// it has ended.
///
/// Source: MCP 2025-11-25, basic/utilities/progress.
pub(super) async fn with_progress<T>(
    context: &RequestContext<RoleServer>,
    progress: &Progress,
    watch: &Watch,
    call: impl Future<Output = T>,
) -> T {
    let mut call = pin!(call);
    let start = Instant::now();
    loop {
        let has_changed = tokio::select! {
            biased;
            result = call.as_mut() => return result,
            () = left(context) => return call.await,
            changed = timeout(MAX_PROGRESS_INTERVAL, watch.changed()) => changed.is_ok(),
        };
        let count = progress.sent.fetch_add(1, Ordering::Relaxed) + 1;
        let message = message(watch.state(), has_changed, start.elapsed().as_secs());
        let message = watch.stage().map_or(message.clone(), |stage| format!("[{}] {message}", echo(&visible(&stage))));
        let notification = ProgressNotificationParam::new(progress.token.clone(), count.into()).with_message(message);
        // A notification that has been started must be sent before the result.
        let mut sent = pin!(context.peer.notify_progress(notification));
        tokio::select! {
            biased;
            result = call.as_mut() => {
                let _ = sent.await;
                return result;
            }
            _ = sent.as_mut() => {}
        }
        tokio::select! {
            biased;
            result = call.as_mut() => return result,
            () = sleep(MIN_PROGRESS_INTERVAL) => {}
        }
    }
}

fn message(state: CallState, has_changed: bool, seconds: u64) -> String {
    match state {
        CallState::Printed(line) if has_changed => echo(&visible(&line)),
        CallState::Waiting => format!("waiting for {seconds} s"),
        CallState::Running if has_changed => "running".to_owned(),
        CallState::Running | CallState::Printed(_) => format!("running for {seconds} s"),
    }
}
