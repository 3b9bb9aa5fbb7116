//! Runs one process, from its start to the end of its process group.
//!
//! Each program leads a process group of its own. It is reaped after the last signal has been sent, because only an
//! unreaped leader reserves the ID of its group.

use std::future::Future;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::Child;
use tokio::time::{sleep, timeout};

use super::children;
use super::group::Group;
use super::janitor::Janitor;
use super::joint::{Descriptors, Joint};
use super::start::{spawn, spawn_held, system_error};
use super::start_queue::{RunningProgram, StartQueue};
use super::streams::{Transfer, transfer};
use super::waiting::Spare;
use crate::exec::confine::order::Order;
use crate::exec::error::SpawnError;
use crate::exec::invocation::Invocation;
use crate::exec::limits::Limits;
use crate::exec::outcome::{End, Outcome, Stop};
use crate::exec::output::{Capture, Masks, Watch};
use crate::exec::shared_loopback::SharedLoopback;
use crate::exec::temporary::SessionFiles;

/// The context that a process runs in.
#[derive(Clone, Copy)]
pub(crate) struct RunContext<'a> {
    pub(crate) limits: &'a Limits,
    /// Starts the process in its turn.
    pub(crate) queue: &'a StartQueue,
    /// Kills the process group if the server is killed.
    pub(crate) janitor: Option<&'a Janitor>,
    /// The directory that caged programs share; each has its own if `None`.
    pub(crate) session_files: Option<&'a SessionFiles>,
    /// The loopback that they share once the session wants it; each has its own if `None`.
    pub(crate) loopback: Option<&'a Arc<SharedLoopback>>,
    /// The directory of the caches that caged programs keep; they go with the temporary files if `None`.
    pub(crate) caches: Option<&'a Path>,
    /// Reports the progress of the call.
    pub(crate) watch: Option<&'a Watch>,
    /// The secrets that output does not show.
    pub(crate) masks: &'a Masks,
    /// The child that waits for the next order.
    pub(crate) spare: &'a Arc<Spare>,
    /// What the program may do, if a child of this binary starts it and confines itself.
    pub(crate) order: Option<&'a Order>,
}

/// Runs `invocation` and waits until it ends or is ended. Its streams are those of `joint`.
///
/// Output past `limits.stream_bytes` is read and dropped; [`Captured::text`](crate::exec::Captured::text) contains the
/// number of dropped bytes. On timeout, or when `stop` completes, the whole process group gets TERM, then KILL after
/// a grace period. The output until then is part of the result. After exit, pipes that a descendant still holds, and
/// then other members of the group, are awaited for at most `limits.drain`. Then the rest of the group is killed and
/// counted. Members that have changed to another user survive KILL; they are counted too, and not awaited.
/// Dropping the future kills the group too.
/// The start waits while the system lacks descriptors, processes or memory and other programs run.
///
/// # Errors
/// The program could not be started. A non-zero exit is an [`Outcome`].
///
/// Source: POSIX `setpgid`, `kill`, `waitid`.
pub(crate) async fn run(
    invocation: &Invocation,
    joint: Joint,
    context: RunContext<'_>,
    stop: impl Future<Output = Stop>,
) -> Result<Outcome, SpawnError> {
    let mut stop = std::pin::pin!(stop);
    if let Some(janitor) = context.janitor {
        janitor.prepare();
    }

    let (descriptors, merged) = joint.open().map_err(|error| system_error(invocation, error))?;
    // Dropped after the child, whose descriptors are then free for the next start.
    let (_running, mut child) = tokio::select! {
        biased;
        why = stop.as_mut() => return Ok(Outcome::not_started(why)),
        started = start(invocation, &descriptors, context) => started?,
    };
    // The child has its own. A pipe ends when its last writer is gone.
    drop(descriptors);

    if let Some(watch) = context.watch {
        watch.started();
    }

    let mut group = Group::led_by(&child).map_err(|error| system_error(invocation, error))?;
    let cleanup = context.janitor.map(|janitor| janitor.register_group(group.id()));

    let mut stdout = Capture::new(context.limits.stream_bytes, context.limits.whole_bytes);
    let mut stderr = Capture::new(context.limits.stream_bytes, 0);
    let watching = (context.watch, context.masks);
    let (end, left) = {
        let io = transfer(&mut child, merged, invocation.stdin.as_deref(), watching, &mut stdout, &mut stderr);
        let io = std::pin::pin!(io);
        end_group(&mut group, &mut Transfer::new(io), invocation.timeout, context, stop).await
    };

    let survivors = if end.is_some() || left > 0 { group.survivors() } else { 0 };
    // Before the leader is reaped: afterwards another group could get the ID.
    drop(cleanup);
    let end = reap(&mut child, &group, end).await.map_err(|error| system_error(invocation, error))?;
    group.disarm();

    Ok(Outcome {
        stdout: stdout.finish(),
        stderr: stderr.finish(),
        background_processes: left.saturating_sub(survivors),
        survivors,
        masks: context.masks.clone(),
        ..Outcome::ended(end)
    })
}

/// Starts the program in its turn, by a child that confines itself if there is an order.
async fn start<'q>(
    invocation: &Invocation,
    descriptors: &Descriptors,
    context: RunContext<'q>,
) -> Result<(RunningProgram<'q>, Child), SpawnError> {
    let RunContext { queue, order, loopback, spare, .. } = context;
    let spawn = || match order {
        Some(order) => spawn_held(invocation, descriptors, (order, loopback.map(Arc::as_ref), spare)),
        None => spawn(invocation, descriptors),
    };
    queue.start(spawn).await
}

/// Waits for the end of the program, and then ends what is left of its group.
///
/// Returns how the program was ended, `None` if it exited by itself, and the number of processes that an exited one left.
async fn end_group<F: Future<Output = ()>>(
    group: &mut Group,
    io: &mut Transfer<'_, F>,
    time: Duration,
    RunContext { limits, order, .. }: RunContext<'_>,
    stop: impl Future<Output = Stop>,
) -> (Option<End>, usize) {
    let end = wait_for_exit(group, io, time, limits, stop).await;

    // The leader has exited and is not reaped, so no other group can have its ID yet.
    let _ = timeout(limits.drain, async {
        io.finish().await;
        group.all_exited().await;
    })
    .await;

    let left = if end.is_none() { group.other_members() } else { 0 };
    group.kill();
    if order.is_some() && (left > 0 || end.is_some()) {
        // What a program has changed is looked at next, and nothing may change it then.
        let _ = timeout(limits.drain, group.all_exited()).await;
    }
    (end, left)
}

/// Reaps the leader, and returns the end of the program: `end`, or the status of the leader if it exited by itself.
///
/// A leader that still runs, since this process may not kill it, is left to the runtime, which reaps it when it ends.
async fn reap(child: &mut Child, group: &Group, end: Option<End>) -> io::Result<End> {
    if let Some(end) = end.filter(|_| !group.has_ended()) {
        return Ok(end);
    }

    let status = child.wait().await?;
    children::waited_for(group.id());
    Ok(end.unwrap_or_else(|| status.into()))
}

/// Waits until the leader has exited, and ends the group on timeout or stop.
///
/// Returns `None` if the leader exited by itself.
async fn wait_for_exit<F: Future<Output = ()>>(
    group: &mut Group,
    io: &mut Transfer<'_, F>,
    time: Duration,
    limits: &Limits,
    stop: impl Future<Output = Stop>,
) -> Option<End> {
    let (end, grace) = tokio::select! {
        () = io.alongside(group.exited()) => return None,
        () = sleep(time) => (End::TimedOut(time), limits.grace),
        stop = stop => (End::Stopped(stop), match stop {
            Stop::Cancelled => limits.grace,
            Stop::ShuttingDown => limits.shutdown_grace,
        }),
    };

    group.terminate();
    let _ = timeout(grace, io.alongside(group.all_exited())).await;
    group.kill();

    if !group.is_beyond_reach() {
        io.alongside(group.exited()).await;
    }
    Some(end)
}
