//! The process group of a child.

use std::io;
#[cfg(native_linux)]
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
#[cfg(native_linux)]
use rustix::process::{PidfdFlags, pidfd_open};
#[cfg(native_linux)]
use tokio::io::{Interest, unix::AsyncFd};
use tokio::process::Child;
use tokio::signal::unix::{self, SignalKind};

use super::members;

/// First interval between two checks of whether a terminated group has ended. It doubles each time.
const FIRST_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The process group that a child leads. Dropping it kills the group, unless [`Self::disarm`] was called.
pub(super) struct Group {
    leader: Pid,
    exit_signal: ExitSignal,
    armed: bool,
}

/// Signals the exit of the leader.
enum ExitSignal {
    /// A descriptor of the leader, which becomes readable. Source: `pidfd_open(2)`.
    #[cfg(native_linux)]
    Pidfd(AsyncFd<OwnedFd>),
    /// SIGCHLD, for systems without pidfd. The exit of any child wakes all calls.
    Sigchld(unix::Signal),
}

impl ExitSignal {
    #[cfg(native_linux)]
    fn of(child: Pid) -> io::Result<Self> {
        let Ok(pidfd) = pidfd_open(child, PidfdFlags::empty()) else { return Self::sigchld() };
        #[expect(unsafe_code, reason = "the descriptor is owned, so no other code closes or replaces it")]
        let registered = unsafe { AsyncFd::register_with_interest(pidfd, Interest::READABLE) };
        Ok(Self::Pidfd(registered?))
    }

    #[cfg(not(native_linux))]
    fn of(_: Pid) -> io::Result<Self> {
        Self::sigchld()
    }

    fn sigchld() -> io::Result<Self> {
        unix::signal(SignalKind::child()).map(Self::Sigchld)
    }
}

impl Group {
    /// Takes over the group of a child that was started with `process_group(0)` and has not been waited for.
    pub(super) fn of(child: &Child) -> io::Result<Self> {
        let leader = child.id().and_then(|id| Pid::from_raw(id.cast_signed())).ok_or(io::ErrorKind::NotFound)?;
        Ok(Self { leader, exit_signal: ExitSignal::of(leader)?, armed: true })
    }

    /// Returns the group's ID, which is the process ID of its leader.
    pub(super) fn id(&self) -> i32 {
        self.leader.as_raw_nonzero().get()
    }

    /// Waits until the leader has exited, without reaping it: an unreaped process keeps its ID.
    pub(super) async fn exited(&mut self) {
        match &mut self.exit_signal {
            #[cfg(native_linux)]
            // Once readable, a pidfd stays readable.
            ExitSignal::Pidfd(pidfd) => drop(pidfd.readable().await),
            ExitSignal::Sigchld(child_ended) => {
                while !has_exited(self.leader) {
                    child_ended.recv().await;
                }
            }
        }
    }

    /// Waits until every member has exited. The leader stays unreaped.
    pub(super) async fn all_exited(&mut self) {
        self.exited().await;
        let mut interval = FIRST_POLL_INTERVAL;
        while self.other_members() > 0 {
            tokio::time::sleep(interval).await;
            interval *= 2;
        }
    }

    /// Returns the number of running members besides the leader.
    pub(super) fn other_members(&self) -> usize {
        members::running_besides(self.id())
    }

    /// Returns the number of running members that this process may not end, the leader included: they have changed to
    /// another user.
    pub(super) fn survivors(&self) -> usize {
        members::beyond_reach(self.id())
    }

    /// Whether this process may not end the leader.
    pub(super) fn is_beyond_reach(&self) -> bool {
        members::is_beyond_reach(self.id())
    }

    /// Whether the leader has exited. It is not reaped.
    pub(super) fn has_ended(&self) -> bool {
        has_exited(self.leader)
    }

    /// Sends TERM to every member.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Sends KILL to every member.
    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Gives up the group after its leader has been reaped.
    pub(super) fn disarm(mut self) {
        self.armed = false;
    }

    fn signal(&self, signal: Signal) {
        // It fails only if no member is left.
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

/// Whether a child has exited. It is not reaped.
fn has_exited(child: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    !matches!(waitid(WaitId::Pid(child), options), Ok(None))
}

#[cfg(test)]
mod tests {
    use tokio::process::Command;

    use super::*;

    #[tokio::test]
    async fn exit_of_the_leader_is_signalled_with_and_without_pidfd() {
        for has_pidfd in [true, false] {
            #[expect(clippy::disallowed_methods, reason = "tests start programs of their own")]
            let mut child = Command::new("sleep").arg("0.1").process_group(0).spawn().unwrap();
            let mut group = Group::of(&child).unwrap();
            #[cfg(native_linux)]
            assert!(matches!(group.exit_signal, ExitSignal::Pidfd(_)));
            if !has_pidfd {
                group.exit_signal = ExitSignal::sigchld().unwrap();
            }
            assert!(!has_exited(group.leader));
            group.exited().await;
            // Twice, because a stopped call waits a second time.
            group.exited().await;
            assert!(has_exited(group.leader));
            assert!(child.wait().await.unwrap().success());
            group.disarm();
        }
    }
}
