//! The process group of a child.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use tokio::io::{Interest, unix::AsyncFd};
use tokio::process::Child;
use tokio::signal::unix::{self, SignalKind};

use crate::exec::platform::{
    count_beyond_reach, count_running_besides, exit_descriptor, has_exited, is_beyond_reach, kill_group,
    terminate_group,
};

/// First interval between two checks of whether a terminated group has ended. It doubles each time.
const FIRST_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The process group that a child leads. Dropping it kills the group, unless [`Self::disarm`] was called.
pub(super) struct Group {
    leader: i32,
    exit_signal: ExitSignal,
    armed: bool,
}

/// Signals the exit of the leader.
enum ExitSignal {
    /// A descriptor of the leader, which becomes readable.
    Descriptor(AsyncFd<OwnedFd>),
    /// SIGCHLD, for systems without such a descriptor. The exit of any child wakes all calls.
    Sigchld(unix::Signal),
}

impl ExitSignal {
    fn new(child: i32) -> io::Result<Self> {
        let Some(descriptor) = exit_descriptor(child) else { return Self::sigchld() };

        #[expect(unsafe_code, reason = "the descriptor is owned, so no other code closes or replaces it")]
        let registered = unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) };
        Ok(Self::Descriptor(registered?))
    }

    fn sigchld() -> io::Result<Self> {
        unix::signal(SignalKind::child()).map(Self::Sigchld)
    }
}

impl Group {
    /// Takes over the group of a child that was started with `process_group(0)` and has not been waited for.
    pub(super) fn led_by(child: &Child) -> io::Result<Self> {
        let leader = child.id().ok_or(io::ErrorKind::NotFound)?.cast_signed();
        Ok(Self { leader, exit_signal: ExitSignal::new(leader)?, armed: true })
    }

    /// Returns the group's ID, which is the process ID of its leader.
    pub(super) fn id(&self) -> i32 {
        self.leader
    }

    /// Waits until the leader has exited, without reaping it: an unreaped process keeps its ID.
    pub(super) async fn exited(&mut self) {
        match &mut self.exit_signal {
            // Once readable, it stays readable.
            ExitSignal::Descriptor(descriptor) => drop(descriptor.readable().await),
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
        count_running_besides(self.leader)
    }

    /// Returns the number of running members that this process may not end, the leader included: they have changed to
    /// another user.
    pub(super) fn survivors(&self) -> usize {
        count_beyond_reach(self.leader)
    }

    /// Whether this process may not end the leader.
    pub(super) fn is_beyond_reach(&self) -> bool {
        is_beyond_reach(self.leader)
    }

    /// Whether the leader has exited. It is not reaped.
    pub(super) fn has_ended(&self) -> bool {
        has_exited(self.leader)
    }

    /// Sends TERM to every member.
    pub(super) fn terminate(&self) {
        terminate_group(self.leader);
    }

    /// Sends KILL to every member.
    pub(super) fn kill(&self) {
        kill_group(self.leader);
    }

    /// Gives up the group after its leader has been reaped.
    pub(super) fn disarm(mut self) {
        self.armed = false;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.armed {
            self.kill();
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::process::Command;

    use super::*;

    #[tokio::test]
    async fn exit_of_the_leader_is_signalled_with_and_without_a_descriptor() {
        for has_descriptor in [true, false] {
            #[expect(clippy::disallowed_methods, reason = "tests start programs of their own")]
            let mut child = Command::new("sleep").arg("0.1").process_group(0).spawn().unwrap();
            let mut group = Group::led_by(&child).unwrap();
            #[cfg(native_linux)]
            assert!(matches!(group.exit_signal, ExitSignal::Descriptor(_)));
            if !has_descriptor {
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
