//! Appends to a file that other processes may read, rename or replace.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde_json::Value;

/// Opens a file for appending. A new file is readable by its owner only.
///
/// # Errors
/// The file cannot be opened. A FIFO without a reader is an error too: opening it does not block.
pub(crate) fn open_for_append(path: &Path) -> io::Result<File> {
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(nonblocking).open(path)
}

/// Appends a line in one write, since other processes may append to the same file.
///
/// # Errors
/// The file cannot be opened or written.
pub(super) fn append_line(path: &Path, line: &Value) -> io::Result<()> {
    open_for_append(path)?.write_all(format!("{line}\n").as_bytes())
}
