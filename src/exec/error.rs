//! Errors of starting a program.

use std::io;

use rustix::io::Errno;

/// A program could not be started.
///
/// The text `Command not found` is part of `docs/contract.md`, "Execution and result text".
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// No such program.
    #[error("Command not found: {0}")]
    NotFound(String),
    /// The program is a script whose interpreter does not exist, as in an environment of Python that was moved.
    #[error("Cannot run {0}: its interpreter {1} does not exist")]
    NoInterpreter(String, String),
    /// The program was found, and cannot be executed.
    #[error("Cannot run {0}: {1}")]
    NotExecutable(String, String),
    /// The directory to run in cannot be used.
    #[error("Cannot run in directory {0}: {1}")]
    Directory(String, #[source] io::Error),
    /// The operating system reported an error.
    #[error("Cannot start {0}: {1}")]
    System(String, #[source] io::Error),
    /// The directory for result files cannot be made.
    #[error("Cannot make a directory for the files of the result: {0}")]
    Files(#[source] io::Error),
    /// The policy takes a variable from one that this process does not have.
    #[error("The policy takes the variable {name} from {from}, which is not set where the server runs")]
    Variable {
        /// The variable of the program.
        name: String,
        /// The variable of this process.
        from: String,
    },
    /// The value of a variable, and the file that it comes from.
    #[error("Cannot read the value of {0} from {1}: {2}")]
    Secret(String, String, #[source] io::Error),
    /// The program cannot be confined as the policy requires.
    #[error("Cannot confine {0}: {1}")]
    Sandbox(String, String),
}

impl SpawnError {
    /// Makes the error of a server whose binary cannot be started again as a helper.
    pub(super) fn no_helpers(program: &str) -> Self {
        Self::Sandbox(program.to_owned(), "this server is not able to".to_owned())
    }

    /// Returns the exit status that a shell gives a command whose program is missing or cannot be executed; `None` for other
    /// errors. Source: POSIX.1-2024, "Exit Status for Commands".
    pub(crate) fn status_of_command(&self) -> Option<u8> {
        match self {
            Self::NotFound(_) | Self::NoInterpreter(..) => Some(127),
            Self::NotExecutable(..) => Some(126),
            _ => None,
        }
    }

    /// Whether a retry may succeed: a resource was exhausted, or the program file was being written.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        self.is_exhaustion() || matches!(self, Self::Files(_)) || self.is_one_of(&[Errno::TXTBSY])
    }

    /// Whether the system lacked descriptors, processes or memory for the program.
    pub(super) fn is_exhaustion(&self) -> bool {
        self.is_one_of(&[Errno::AGAIN, Errno::NOMEM, Errno::MFILE, Errno::NFILE])
    }

    fn is_one_of(&self, all: &[Errno]) -> bool {
        let Self::System(_, error) = self else { return false };
        all.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
    }
}
