//! Process groups, signals and exits, as Unix has them. Processes and groups are named by their numbers.

use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process_group, setsid, waitid, waitpid};

/// The number of the signal that ends a process at once.
#[cfg(has_code)]
pub(crate) const KILL_SIGNAL: i32 = Signal::KILL.as_raw();

/// The time of processors that children have used which have ended, and theirs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UsedTime {
    /// For the programs themselves.
    pub(crate) user: Duration,
    /// For what the system did for them.
    pub(crate) system: Duration,
}

/// Returns what all children of this process that have ended have used.
pub(crate) fn used_by_children() -> UsedTime {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    #[expect(unsafe_code, reason = "the kernel writes to `usage` only, and zeroes are a valid value of it")]
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    let time = |time: libc::timeval| {
        let micros = u32::try_from(time.tv_usec).unwrap_or_default();
        Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or_default()) + Duration::from_micros(1) * micros
    };
    UsedTime { user: time(usage.ru_utime), system: time(usage.ru_stime) }
}

/// Sends TERM to every member of a group.
pub(crate) fn terminate_group(leader: i32) {
    signal_group(leader, Signal::TERM);
}

/// Sends KILL to every member of a group.
pub(crate) fn kill_group(leader: i32) {
    signal_group(leader, Signal::KILL);
}

fn signal_group(leader: i32, signal: Signal) {
    if let Some(leader) = Pid::from_raw(leader) {
        // It fails only if no member is left.
        let _ = kill_process_group(leader, signal);
    }
}

/// Whether a child has exited. It is not reaped.
pub(crate) fn has_exited(child: i32) -> bool {
    let Some(child) = Pid::from_raw(child) else { return true };

    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    !matches!(waitid(WaitId::Pid(child), options), Ok(None))
}

/// Returns the signal that ended a process, or 0 if none did.
pub(crate) fn ending_signal(status: ExitStatus) -> i32 {
    status.signal().unwrap_or_default()
}

/// Returns the oldest child that has ended. It is not reaped.
pub(crate) fn ended_child() -> Option<i32> {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;

    // By libc, since rustix does not tell which child it was.
    #[expect(unsafe_code, reason = "the kernel writes to `info` only, and zeroes are a valid value of it")]
    let id = unsafe {
        let failed = libc::waitid(libc::P_ALL, 0, info.as_mut_ptr(), options) != 0;
        if failed { 0 } else { info.assume_init().si_pid() }
    };
    Some(id).filter(|id| *id != 0)
}

/// Reaps a child that has ended. Returns whether that succeeded.
pub(crate) fn reap(child: i32) -> bool {
    waitpid(Pid::from_raw(child), WaitOptions::NOHANG).is_ok()
}

/// Moves this process into a session of its own, where no signal of a terminal reaches it.
pub(crate) fn leave_terminal() {
    let _ = setsid();
}
