//! When files were changed last, by a time that no program can set.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// By how much the times of files may lag behind the clock. Linux takes them from its last tick.
const TICK: Duration = Duration::from_millis(20);

/// Returns the time that a file gets which is changed from now on, at the earliest.
pub(in crate::exec) fn from_now_on() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(TICK)
}

/// Returns whether a file, or what a link leads to, has been made, changed or replaced since a time.
pub(in crate::exec) fn is_changed_since(path: &Path, since: Duration) -> bool {
    [path.symlink_metadata(), path.metadata()].iter().flatten().any(|about| changed(about) >= since)
}

/// Returns when a file was changed last, its name included.
pub(in crate::exec) fn changed(about: &Metadata) -> Duration {
    let (seconds, nanoseconds) = (about.ctime().try_into().unwrap_or(0), about.ctime_nsec().try_into().unwrap_or(0));
    Duration::new(seconds, nanoseconds)
}
