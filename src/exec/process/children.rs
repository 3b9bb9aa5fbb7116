//! The children of this process: those that it started, and those that programs gave to it.
//!
//! A program can make its parent the parent of another process (`CLONE_PARENT`). The first process of a container gets
//! every process whose parent has ended. Nobody else waits for these, so they would stay zombies.

use std::collections::BTreeSet;
use std::io;
use std::sync::Mutex;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;

use crate::exec::platform::{ended_child, reap};
use crate::lock::Unpoisoned as _;

/// The processes that were started and have not been waited for. Others wait for these.
static STARTED: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Notified when a started process has been waited for. Before, it may hide another one that has ended.
static WAITED: Notify = Notify::const_new();

/// Starts a process with `spawn`. `id` returns its process ID.
///
/// # Errors
/// The error of `spawn`.
pub(super) fn start<T, E>(spawn: impl FnOnce() -> Result<T, E>, id: impl Fn(&T) -> Option<u32>) -> Result<T, E> {
    // The lock keeps the process from being reaped before its ID is known.
    let mut started = STARTED.lock().unpoisoned();
    let child = spawn()?;
    started.extend(id(&child).map(u32::cast_signed));
    Ok(child)
}

/// Notes that a started process has been waited for.
pub(super) fn waited_for(id: i32) {
    STARTED.lock().unpoisoned().remove(&id);
    WAITED.notify_one();
}

/// Starts to reap the children that this process did not start, until the runtime ends.
///
/// Not for a process that starts children outside of this module: their exit statuses would be lost.
///
/// # Errors
/// SIGCHLD cannot be handled.
pub fn reap_given_children() -> io::Result<()> {
    let mut ended = signal(SignalKind::child())?;

    tokio::spawn(async move {
        loop {
            reap_given();
            tokio::select! {
                received = ended.recv() => if received.is_none() { return },
                () = WAITED.notified() => {}
            }
        }
    });
    Ok(())
}

/// Reaps the children that have ended and were not started here, up to the first one that was.
fn reap_given() {
    let started = STARTED.lock().unpoisoned();
    while let Some(child) = ended_child().filter(|child| !started.contains(child)) {
        if !reap(child) {
            return;
        }
    }
}
