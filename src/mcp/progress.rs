//! Progress notifications of a running call.

use std::future::Future;
use std::pin::pin;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{RequestContext, RoleServer};
use tokio::time::{Instant, sleep, timeout};

use crate::call::arguments::echo;
use crate::exec::{CallState, Watch};
use std::time::Duration;

/// The time between two progress notifications of a call, if its program prints that often.
pub(crate) const MIN_PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// The time between two progress notifications of a call that has nothing to tell.
pub(crate) const MAX_PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

/// Awaits a call and tells the client meanwhile what `watch` sees: when the program starts, what it prints, and that it
/// still runs. No notification follows the result, or the cancellation: the program may print a lot while it ends.
///
/// Source: MCP 2025-11-25, basic/utilities/progress.
pub(super) async fn reported<T>(
    context: &RequestContext<RoleServer>,
    token: ProgressToken,
    watch: &Watch,
    call: impl Future<Output = T>,
) -> T {
    let mut call = pin!(call);
    let start = Instant::now();
    let mut sent = 0.0;
    loop {
        let has_news = tokio::select! {
            biased;
            done = call.as_mut() => return done,
            () = context.ct.cancelled() => return call.await,
            news = timeout(MAX_PROGRESS_INTERVAL, watch.changed()) => news.is_ok(),
        };
        sent += 1.0;
        let message = message(watch.state(), has_news, start.elapsed().as_secs());
        let notification = ProgressNotificationParam::new(token.clone(), sent).with_message(message);
        // A notification that was begun is sent before the result is.
        let mut notified = pin!(context.peer.notify_progress(notification));
        tokio::select! {
            biased;
            done = call.as_mut() => {
                let _ = notified.await;
                return done;
            }
            _ = notified.as_mut() => {}
        }
        tokio::select! {
            biased;
            done = call.as_mut() => return done,
            () = sleep(MIN_PROGRESS_INTERVAL) => {}
        }
    }
}

fn message(state: CallState, has_news: bool, seconds: u64) -> String {
    match state {
        CallState::Printed(line) if has_news => echo(&line),
        CallState::Waiting => format!("waiting for {seconds} s"),
        CallState::Running if has_news => "running".to_owned(),
        CallState::Running | CallState::Printed(_) => format!("running for {seconds} s"),
    }
}
