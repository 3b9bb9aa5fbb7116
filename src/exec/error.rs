//! Errors of starting a program.

use std::io;

/// A program could not be started.
///
/// The text `Command not found` is part of `docs/contract.md`, "Execution and result text".
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// No such program.
    #[error("Command not found: {0}")]
    NotFound(String),
    /// The directory to run in cannot be used.
    #[error("Cannot run in directory {0}: {1}")]
    Directory(String, #[source] io::Error),
    /// The operating system reported an error.
    #[error("Cannot start {0}: {1}")]
    System(String, #[source] io::Error),
    /// The directory for result files cannot be made.
    #[error("Cannot make a directory for the files of the result: {0}")]
    Files(#[source] io::Error),
    /// The program cannot be confined as the policy requires.
    #[error("Cannot confine {0}: {1}")]
    Sandbox(String, String),
}

impl SpawnError {
    /// Whether a retry may succeed: a resource was exhausted, or the program file was being written.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        use rustix::io::Errno;
        let temporary = [Errno::AGAIN, Errno::NOMEM, Errno::MFILE, Errno::NFILE, Errno::TXTBSY];
        match self {
            Self::System(_, error) => temporary.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error())),
            Self::Files(_) => true,
            Self::NotFound(_) | Self::Directory(..) | Self::Sandbox(..) => false,
        }
    }
}
