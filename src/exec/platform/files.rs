//! Files as Unix has them: opened without waiting and without following links, private, executable, permitted.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::{Access, CWD, FileType, Mode, OFlags, access, fstat, open, openat};

/// Opens a file for appending. A new file is readable by its owner only.
///
/// # Errors
/// The file cannot be opened. A FIFO without a reader is an error too: opening it does not block.
pub(crate) fn open_for_append(path: &Path) -> io::Result<File> {
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(nonblocking).open(path)
}

/// Opens a directory, whose descriptor stays valid when something else gets its name.
///
/// # Errors
/// The directory cannot be opened.
pub(crate) fn open_directory(path: &Path) -> io::Result<OwnedFd> {
    Ok(openat(CWD, path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// Opens a regular file for reading, without blocking.
///
/// # Errors
/// The file cannot be opened, or is not regular.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    regular(open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?)
}

/// Opens a regular file in an open directory for reading, without blocking. A link is not followed.
///
/// # Errors
/// The file cannot be opened, or is not regular.
pub(crate) fn open_regular_in(directory: impl AsFd, name: &str) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    regular(openat(directory, name, flags, Mode::empty())?)
}

fn regular(opened: OwnedFd) -> io::Result<File> {
    if FileType::from_raw_mode(fstat(&opened)?.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("expected a regular file"));
    }
    Ok(File::from(opened))
}

/// Makes a directory and those above it, for their owner only.
///
/// # Errors
/// It cannot be made.
pub(crate) fn make_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Returns whether this process may write to an existing path.
pub(crate) fn may_write(path: &Path) -> bool {
    access(path, Access::WRITE_OK).is_ok()
}

/// Checks that this process may enter a directory.
///
/// # Errors
/// The reason why it may not.
pub(crate) fn may_enter(directory: &Path) -> io::Result<()> {
    Ok(access(directory, Access::EXEC_OK)?)
}

/// Returns whether a file is executable for somebody.
pub(crate) fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}
