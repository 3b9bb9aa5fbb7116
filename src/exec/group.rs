//! A child's process group.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::process::Child;
use tokio::signal::unix::{self, SignalKind};

/// When the members of a group that was asked to end are looked at again; then after twice the time, and so on.
const FIRST_LOOK: Duration = Duration::from_millis(10);

/// The process group that a child leads; killed when dropped before the child was reaped.
pub(super) struct Group {
    leader: Pid,
    notice: Notice,
    armed: bool,
}

/// How the leader's end is learnt of.
enum Notice {
    /// By a descriptor of the leader, which becomes readable. Source: `pidfd_open(2)`.
    Pidfd(AsyncFd<OwnedFd>),
    /// By the signal for every child, where the kernel has no such descriptors: the end of one wakes the calls of all.
    Signal(unix::Signal),
}

impl Notice {
    fn of(child: Pid) -> io::Result<Self> {
        let Ok(pidfd) = pidfd_open(child, PidfdFlags::empty()) else { return Self::by_signal() };
        #[expect(unsafe_code, reason = "the descriptor is owned: nobody else closes or replaces it")]
        let registered = unsafe { AsyncFd::register_with_interest(pidfd, Interest::READABLE) };
        Ok(Self::Pidfd(registered?))
    }

    fn by_signal() -> io::Result<Self> {
        unix::signal(SignalKind::child()).map(Self::Signal)
    }
}

impl Group {
    /// The group of a child that was started with `process_group(0)` and has not been waited for.
    pub(super) fn of(child: &Child) -> io::Result<Self> {
        let leader = child.id().and_then(|id| Pid::from_raw(id.cast_signed())).ok_or(io::ErrorKind::NotFound)?;
        Ok(Self { leader, notice: Notice::of(leader)?, armed: true })
    }

    /// The group's number, which is its leader's process number.
    pub(super) fn number(&self) -> i32 {
        self.leader.as_raw_nonzero().get()
    }

    /// Waits until the leader has ended, and leaves it unreaped: as long as it is, its number is not given to others.
    pub(super) async fn exited(&mut self) {
        match &mut self.notice {
            // Readable once, it stays so.
            Notice::Pidfd(pidfd) => drop(pidfd.readable().await),
            Notice::Signal(child_ended) => {
                while !has_exited(self.leader) {
                    child_ended.recv().await;
                }
            }
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
        let Ok(entries) = std::fs::read_dir("/proc") else { return false };
        let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let mut others = numbers.filter(|process| *process != self.number());
        others.any(|process| group_of(process) == self.number() && is_running(process))
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

/// Whether a child has ended; it is not reaped.
fn has_exited(child: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    !matches!(waitid(WaitId::Pid(child), options), Ok(None))
}

/// The group of a process; 0 for those of the kernel, which `rustix` does not expect, and -1 for one that is not there.
fn group_of(process: i32) -> i32 {
    #[expect(unsafe_code, reason = "the call takes any number and touches no memory")]
    unsafe {
        libc::getpgid(process)
    }
}

/// Whether a process has not ended; proc(5), `stat`: the name in parentheses, then the state.
fn is_running(process: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
    stat.is_ok_and(|stat| stat.rsplit(") ").next().is_some_and(|fields| !fields.starts_with('Z')))
}

#[cfg(test)]
mod tests {
    use tokio::process::Command;

    use super::*;

    #[tokio::test]
    async fn the_end_of_a_leader_is_learnt_of_with_and_without_its_descriptor() {
        for has_descriptors in [true, false] {
            #[expect(clippy::disallowed_methods, reason = "tests start programs of their own")]
            let mut child = Command::new("sleep").arg("0.1").process_group(0).spawn().unwrap();
            let mut group = Group::of(&child).unwrap();
            assert!(matches!(group.notice, Notice::Pidfd(_)));
            if !has_descriptors {
                group.notice = Notice::by_signal().unwrap();
            }
            assert!(!has_exited(group.leader));
            group.exited().await;
            // Twice, since a call that is ended asks again.
            group.exited().await;
            assert!(has_exited(group.leader));
            assert!(child.wait().await.unwrap().success());
            group.disarm();
        }
    }
}
