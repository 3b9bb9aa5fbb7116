//! A child's process group.

use std::io;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::Child;
use tokio::signal::unix::{self, SignalKind};

/// When the members of a group that was asked to end are looked at again; then after twice the time, and so on.
const FIRST_LOOK: Duration = Duration::from_millis(10);

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

    /// The group's number, which is its leader's process number.
    pub(super) fn number(&self) -> i32 {
        self.leader.as_raw_nonzero().get()
    }

    /// Waits until the leader has ended, and leaves it unreaped: as long as it is, its number is not given to others.
    pub(super) async fn exited(&mut self) {
        while !self.has_exited() {
            self.child_ended.recv().await;
        }
    }

    /// Waits until every member has ended, the leader included, which stays unreaped.
    pub(super) async fn all_exited(&mut self) {
        self.exited().await;
        let mut pause = FIRST_LOOK;
        while self.has_other_members() {
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
    }

    /// Whether a process other than the leader is in the group.
    ///
    /// Only the kernel knows, and it tells by way of `/proc`; elsewhere the answer is no.
    fn has_other_members(&self) -> bool {
        let Ok(processes) = std::fs::read_dir("/proc") else { return false };
        let leader = self.leader.as_raw_nonzero().to_string();
        processes.filter_map(Result::ok).any(|process| {
            let name = process.file_name();
            let is_process = name.as_encoded_bytes().iter().all(u8::is_ascii_digit) && name != leader.as_str();
            is_process && group_of(&process.path()).is_some_and(|group| group == leader)
        })
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

/// The process group of a process that has not ended; proc(5), `stat`: the name in parentheses, then state, parent, group.
fn group_of(process: &Path) -> Option<String> {
    let stat = std::fs::read_to_string(process.join("stat")).ok()?;
    let mut fields = stat.rsplit(") ").next()?.split(' ');
    let state = fields.next()?;
    fields.nth(1).filter(|_| state != "Z").map(str::to_owned)
}
