//! A child's process group.

use std::io;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::Child;
use tokio::signal::unix::{self, SignalKind};

/// The process group that a child leads; killed when dropped before the child was reaped.
pub(super) struct Group {
    leader: Pid,
    child_ended: unix::Signal,
    armed: bool,
}

impl Group {
    /// The group of a child that was started with `process_group(0)` and has not been waited for.
    pub(super) fn of(child: &Child) -> io::Result<Self> {
        let leader = child.id().and_then(|id| Pid::from_raw(id.cast_signed())).ok_or(io::ErrorKind::NotFound)?;
        Ok(Self { leader, child_ended: unix::signal(SignalKind::child())?, armed: true })
    }

    /// Waits until the leader has ended, and leaves it unreaped: as long as it is, its number is not given to others.
    pub(super) async fn exited(&mut self) {
        while !self.has_exited() {
            self.child_ended.recv().await;
        }
    }

    fn has_exited(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        !matches!(waitid(WaitId::Pid(self.leader), options), Ok(None))
    }

    /// Asks every member to end.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends every member.
    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Forgets the group, whose leader has been reaped.
    pub(super) fn disarm(mut self) {
        self.armed = false;
    }

    fn signal(&self, signal: Signal) {
        // The only way to fail is that no member is left.
        let _ = kill_process_group(self.leader, signal);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.armed {
            self.kill();
        }
    }
}
