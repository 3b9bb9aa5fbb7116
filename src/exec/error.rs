//! Why a program could not be started.

use std::fmt;
use std::io;

/// A program that could not be started.
#[derive(Debug)]
pub enum SpawnError {
    /// No such program.
    NotFound(String),
    /// The directory to run in cannot be used.
    Directory(String, io::Error),
    /// The system refused.
    Refused(String, io::Error),
    /// There is no directory for the files that it writes.
    Files(io::Error),
    /// It cannot be confined as the policy asks.
    Sandbox(String, String),
}

/// `Command not found` is part of the contract (SPEC §7).
impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound(program) => write!(f, "Command not found: {program}"),
            Self::Directory(path, error) => write!(f, "Cannot run in directory {path}: {error}"),
            Self::Refused(program, error) => write!(f, "Cannot start {program}: {error}"),
            Self::Files(error) => write!(f, "Cannot make a directory for the files of the result: {error}"),
            Self::Sandbox(program, problem) => write!(f, "Cannot confine {program}: {problem}"),
        }
    }
}

impl std::error::Error for SpawnError {}

impl SpawnError {
    /// Whether the same start may succeed later: the system was short of something, or the program was being written.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        use rustix::io::Errno;
        let temporary = [Errno::AGAIN, Errno::NOMEM, Errno::MFILE, Errno::NFILE, Errno::TXTBSY];
        match self {
            Self::Refused(_, error) => temporary.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error())),
            Self::Files(_) => true,
            Self::NotFound(_) | Self::Directory(..) | Self::Sandbox(..) => false,
        }
    }
}
