//! Holds all processes of a cage to their bounds, by looking at them from time to time.
//!
//! The kernel counts the processes of a user in a user namespace, but not those of root, and limits the memory of single
//! processes only. A group of processes with limits (a cgroup) is seldom given to programs of a user.

use std::fs;
use std::time::Instant;

use rustix::param::page_size;
use rustix::process::Pid;

/// Maximum number of processes and threads in a cage.
pub(super) const MAX_PROCESSES: usize = 512;

/// How long to wait between two looks, in milliseconds: little while there are many processes.
const INTERVAL_MS: i32 = 200;
const SHORT_INTERVAL_MS: i32 = 10;

/// From this number of processes on, the next look comes soon.
const MANY_PROCESSES: usize = 64;

/// Looks at the processes of a cage.
pub(super) struct Watch {
    /// The most memory that all processes together may have, in bytes; `None` if it is unknown.
    most_bytes: Option<u64>,
    /// When the last look was.
    looked: Instant,
    interval_ms: i32,
}

impl Watch {
    /// Permits half of the memory of this machine.
    pub(super) fn new() -> Self {
        let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let kib = text
            .lines()
            .find_map(|line| line.strip_prefix("MemTotal:")?.split_whitespace().next()?.parse::<u64>().ok());
        Self { most_bytes: kib.map(|kib| kib * 1024 / 2), looked: Instant::now(), interval_ms: INTERVAL_MS }
    }

    /// Returns the time until the next look, in milliseconds.
    pub(super) fn interval_ms(&self) -> i32 {
        self.interval_ms
    }

    /// Returns the bound that is broken, in words. It looks only if it is time to.
    ///
    /// Time decides and not the absence of signals, because a program can make them come without end.
    ///
    /// `init` is this process. Where `/proc` shows another namespace, it has other numbers there, and nothing is counted.
    pub(super) fn broken(&mut self, init: Pid) -> Option<String> {
        if self.looked.elapsed().as_millis() < self.interval_ms.unsigned_abs().into() {
            return None;
        }
        self.looked = Instant::now();

        let this = fs::read_link("/proc/self").ok()?;
        if this.to_str() != Some(&init.as_raw_nonzero().to_string()) {
            return None;
        }

        let mut processes = 0;
        let mut bytes = 0;
        for entry in fs::read_dir("/proc").ok()?.flatten() {
            let name = entry.file_name();
            if !name.to_str().is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit())) {
                continue;
            }
            processes += 1;
            bytes += memory(&entry.path()).unwrap_or_default();
        }
        self.interval_ms = if processes > MANY_PROCESSES { SHORT_INTERVAL_MS } else { INTERVAL_MS };

        if processes > MAX_PROCESSES {
            return Some(format!("more than {MAX_PROCESSES} processes"));
        }
        let most = self.most_bytes.filter(|most| bytes > *most)?;
        Some(format!("more than {} MiB of memory", most >> 20))
    }
}

/// Returns the memory that a process has for itself, in bytes. Source: `proc_pid_statm`(5).
fn memory(process: &std::path::Path) -> Option<u64> {
    let text = fs::read_to_string(process.join("statm")).ok()?;
    let mut pages = text.split_whitespace().skip(1).map(|pages| pages.parse::<u64>().ok());
    let (resident, shared) = (pages.next()??, pages.next()??);
    Some(resident.saturating_sub(shared) * u64::try_from(page_size()).ok()?)
}
