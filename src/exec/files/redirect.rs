//! Opens the files of redirections: the file that was named, and nothing that a link put in its place meanwhile.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use crate::exec::platform::open_without_links;

/// How a file is opened for writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opened {
    /// It must not exist.
    New,
    /// It is continued.
    Continued,
    /// It is replaced.
    Replaced,
}

/// Opens a regular file for reading, whose path has no links.
///
/// # Errors
/// It cannot be read, or it is no regular file, or its path has a link by now.
pub(crate) fn open_to_read(path: &Path) -> io::Result<OwnedFd> {
    open(path, OFlags::RDONLY)
}

/// Opens a regular file for writing, whose path has no links.
///
/// # Errors
/// It cannot be written, or its path has a link by now, or it is not as expected: new, or a regular file.
pub(crate) fn open_to_write(path: &Path, opened: Opened) -> io::Result<OwnedFd> {
    let flags = match opened {
        Opened::New => OFlags::CREATE | OFlags::EXCL,
        Opened::Continued => OFlags::APPEND,
        Opened::Replaced => OFlags::TRUNC,
    };
    open(path, OFlags::WRONLY | flags)
}

/// Opens a device that gives bytes at once, for reading.
///
/// # Errors
/// It cannot be read, or it is no device.
pub(crate) fn open_device(path: &Path) -> io::Result<OwnedFd> {
    let file = File::from(open_without_links(path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY, Mode::empty())?);
    let is_device = std::os::unix::fs::FileTypeExt::is_char_device(&file.metadata()?.file_type());
    if is_device { Ok(file.into()) } else { Err(io::Error::other("it is no device")) }
}

/// Opens a path without links, of which none may come meanwhile.
fn open(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    // What looks at a device or a named pipe could wait for ever.
    if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
        let waits = "named pipes and devices are not opened, since a line could wait at them for ever";
        let is_directory = path.is_dir();
        let other = || io::Error::new(io::ErrorKind::Unsupported, waits);
        return Err(if is_directory { io::ErrorKind::IsADirectory.into() } else { other() });
    }
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::NONBLOCK;
    let mode = if flags.contains(OFlags::CREATE) { Mode::from_raw_mode(0o666) } else { Mode::empty() };
    let file = File::from(open_without_links(path, flags, mode)?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let file = OwnedFd::from(file);
    let flags = rustix::fs::fcntl_getfl(&file)?;
    rustix::fs::fcntl_setfl(&file, flags - OFlags::NONBLOCK)?;
    Ok(file)
}
