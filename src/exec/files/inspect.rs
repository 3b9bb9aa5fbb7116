//! What `test` and `cd` look at in files.
//!
//! Source: POSIX.1-2024, "test"; bash(1), "CONDITIONAL EXPRESSIONS".

use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use rustix::fs::{Access, access};
use rustix::process::{getegid, geteuid};

/// Whether an operator of `test` holds for a file, by its letter; `None` if there is no such operator.
pub(crate) fn holds(letter: char, path: &Path) -> Option<bool> {
    let found = || path.metadata().ok();
    let can = |mode: Access| access(path, mode).is_ok();
    let has_bit = |bit: u32| found().is_some_and(|found| found.mode() & bit != 0);
    Some(match letter {
        'e' | 'a' => found().is_some(),
        'f' => found().is_some_and(|found| found.is_file()),
        'd' => found().is_some_and(|found| found.is_dir()),
        'h' | 'L' => path.symlink_metadata().is_ok_and(|found| found.file_type().is_symlink()),
        's' => found().is_some_and(|found| found.len() > 0),
        'r' => can(Access::READ_OK),
        'w' => can(Access::WRITE_OK),
        'x' => can(Access::EXEC_OK),
        'b' => found().is_some_and(|found| found.file_type().is_block_device()),
        'c' => found().is_some_and(|found| found.file_type().is_char_device()),
        'p' => found().is_some_and(|found| found.file_type().is_fifo()),
        'S' => found().is_some_and(|found| found.file_type().is_socket()),
        'g' => has_bit(0o2000),
        'u' => has_bit(0o4000),
        'k' => has_bit(0o1000),
        'O' => found().is_some_and(|found| found.uid() == geteuid().as_raw()),
        'G' => found().is_some_and(|found| found.gid() == getegid().as_raw()),
        'N' => found().is_some_and(|found| found.mtime() > found.atime()),
        _ => return None,
    })
}

/// Whether a file is newer than another, or the other is missing.
pub(crate) fn is_newer(one: &Path, other: &Path) -> bool {
    let time = |path: &Path| path.metadata().and_then(|found| found.modified()).ok();
    match (time(one), time(other)) {
        (Some(one), Some(other)) => one > other,
        (one, _) => one.is_some(),
    }
}

/// Whether two paths lead to the same file.
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| path.metadata().ok().map(|found| (found.dev(), found.ino()));
    identity(one).is_some_and(|one| Some(one) == identity(other))
}

/// Checks that a directory can be entered.
///
/// # Errors
/// It is missing, no directory, or may not be read.
pub(crate) fn check_directory(path: &Path) -> io::Result<()> {
    path.read_dir().map(drop)
}
