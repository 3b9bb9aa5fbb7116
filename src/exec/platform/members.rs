//! Counts the running members of a process group. Reads `/proc`.

use std::fs;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// The most process IDs that are tried one by one, at 0.1 µs each. More of them are listed instead.
const MAX_TRIED_IDS: i32 = 4_096;

/// Returns the number of running members of the group that `leader` leads, besides itself. Without `/proc` it is 0.
pub(crate) fn count_running_besides(leader: i32) -> usize {
    count(leader, |process| process != leader)
}

/// Returns the number of running members, the leader included, that this process may not end.
pub(crate) fn count_beyond_reach(leader: i32) -> usize {
    count(leader, is_beyond_reach)
}

/// Whether this process may not end another one: it runs as another user.
pub(crate) fn is_beyond_reach(process: i32) -> bool {
    Pid::from_raw(process).is_some_and(|process| test_kill_process(process) == Err(Errno::PERM))
}

/// Returns the number of running members for which `counts` holds.
fn count(leader: i32, counts: impl Fn(i32) -> bool) -> usize {
    let is_counted = |process: &i32| group_of(*process) == leader && counts(*process) && is_running(*process);

    match last_id() {
        // Members were started after their leader. Most programs start few processes, or none.
        Some(last) if (leader..=leader.saturating_add(MAX_TRIED_IDS)).contains(&last) => {
            (leader..=last).filter(is_counted).count()
        }
        _ => listed().filter(is_counted).count(),
    }
}

/// The process ID that was given last. Source: proc(5), `loadavg`, fifth field.
fn last_id() -> Option<i32> {
    fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().nth(4)?.parse().ok()
}

/// The IDs of all processes.
fn listed() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// Returns the group ID of a process: 0 for kernel threads, and -1 if there is no such process.
fn group_of(process: i32) -> i32 {
    // By libc, since rustix takes 0 for a mistake of its own.
    #[expect(unsafe_code, reason = "the call takes any number and touches no memory")]
    unsafe {
        libc::getpgid(process)
    }
}

/// Whether a process is running, that is, not a zombie.
///
/// Source: proc(5), `stat`: the name in parentheses, then the state.
fn is_running(process: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"));
    stat.is_ok_and(|stat| stat.rsplit(") ").next().is_some_and(|fields| !fields.starts_with('Z')))
}
