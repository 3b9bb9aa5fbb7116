//! Progress notifications of a running call.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{RequestContext, RoleServer};
use tokio::time::{Instant, sleep, timeout};

use crate::call::arguments::echo;
use crate::call::visible::visible;
use crate::exec::{CallState, Watch};

/// The time between two progress notifications of a call whose program prints all the time.
pub(crate) const MIN_PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// The time between two progress notifications of a call whose program prints nothing.
pub(crate) const MAX_PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

/// Awaits a call and sends progress notifications: when the program starts, when it prints, and while it runs.
///
/// No notification follows the result. None follows a cancellation either, although the program may go on printing until
/// it has ended.
///
/// Source: MCP 2025-11-25, basic/utilities/progress.
pub(super) async fn with_progress<T>(
    context: &RequestContext<RoleServer>,
    token: ProgressToken,
    watch: &Watch,
    call: impl Future<Output = T>,
) -> T {
    let mut call = pin!(call);
    let start = Instant::now();
    let mut count = 0.0;
    loop {
        let has_changed = tokio::select! {
            biased;
            result = call.as_mut() => return result,
            () = context.ct.cancelled() => return call.await,
            changed = timeout(MAX_PROGRESS_INTERVAL, watch.changed()) => changed.is_ok(),
        };
        count += 1.0;
        let message = message(watch.state(), has_changed, start.elapsed().as_secs());
        let notification = ProgressNotificationParam::new(token.clone(), count).with_message(message);
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
