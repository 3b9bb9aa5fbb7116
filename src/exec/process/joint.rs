//! The streams of a process: its own pipes to this server, or descriptors that join it to other programs.

use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;

use command_fds::FdMapping;
use tokio::net::unix::pipe;
use tokio::process::Command;

/// Where a process reads and writes.
#[derive(Debug)]
pub(crate) struct Joint {
    /// Its standard input; that of its invocation if `None`.
    pub input: Option<OwnedFd>,
    /// Its standard output.
    pub output: Sink,
    /// Its standard error.
    pub errors: ErrorSink,
    /// Whether standard output goes there. Standard error may go there without it, as in `2>&1 >/dev/null`.
    pub has_output: bool,
    /// Further streams that it reads, with the numbers of their descriptors.
    pub more: Vec<(u32, OwnedFd)>,
}

impl Default for Joint {
    /// Standard input of the invocation, and both outputs into the outcome.
    fn default() -> Self {
        Self { input: None, output: Sink::Captured, errors: ErrorSink::Captured, has_output: true, more: Vec::new() }
    }
}

/// Where standard output goes.
#[derive(Debug, Default)]
pub(crate) enum Sink {
    /// Into the outcome.
    #[default]
    Captured,
    /// To another program, or to a stream of this process.
    Descriptor(OwnedFd),
}

/// Where standard error goes.
#[derive(Debug, Default)]
pub(crate) enum ErrorSink {
    /// Into the outcome, apart from standard output.
    #[default]
    Captured,
    /// Where standard output goes.
    Output,
    /// To a stream of this process.
    Descriptor(OwnedFd),
    /// Nowhere.
    Null,
}

/// The descriptors of a process, before it starts. Each start gets copies.
pub(crate) struct Descriptors {
    input: Option<OwnedFd>,
    output: Sink,
    errors: ErrorSink,
    has_output: bool,
    more: Vec<(u32, OwnedFd)>,
}

/// The end of a pipe from which this server reads both streams of a process.
pub(crate) type Merged = Option<pipe::Receiver>;

impl Joint {
    /// Makes the pipe for both streams of a process, if they go into the outcome as one.
    ///
    /// # Errors
    /// The system lacks descriptors.
    pub(crate) fn open(self) -> io::Result<(Descriptors, Merged)> {
        let Self { input, output, errors, has_output, more } = self;

        if let (Sink::Captured, ErrorSink::Output) = (&output, &errors) {
            let (read, write) = pipe_between()?;
            let merged = pipe::Receiver::from_owned_fd(read)?;
            return Ok((
                Descriptors { input, output: Sink::Descriptor(write), errors, has_output, more },
                Some(merged),
            ));
        }
        Ok((Descriptors { input, output, errors, has_output, more }, None))
    }
}

/// A stream of a process that is to be started.
#[derive(Debug)]
pub(crate) enum Stream {
    /// The null device.
    Null,
    /// A pipe to this server.
    Piped,
    /// A descriptor.
    Descriptor(OwnedFd),
}

impl From<Stream> for Stdio {
    fn from(stream: Stream) -> Self {
        match stream {
            Stream::Null => Self::null(),
            Stream::Piped => Self::piped(),
            Stream::Descriptor(descriptor) => descriptor.into(),
        }
    }
}

impl Descriptors {
    /// Returns the standard input for a start. `has_text` says whether the invocation has a text for it.
    pub(crate) fn input(&self, has_text: bool) -> io::Result<Stream> {
        Ok(match &self.input {
            Some(descriptor) => Stream::Descriptor(descriptor.try_clone()?),
            None if has_text => Stream::Piped,
            None => Stream::Null,
        })
    }

    /// Returns the standard output for a start.
    pub(crate) fn output(&self) -> io::Result<Stream> {
        if self.has_output { self.sink() } else { Ok(Stream::Null) }
    }

    fn sink(&self) -> io::Result<Stream> {
        Ok(match &self.output {
            Sink::Captured => Stream::Piped,
            Sink::Descriptor(descriptor) => Stream::Descriptor(descriptor.try_clone()?),
        })
    }

    /// Returns the further streams for a start.
    pub(crate) fn more(&self) -> io::Result<Vec<(u32, OwnedFd)>> {
        self.more.iter().map(|(number, descriptor)| Ok((*number, descriptor.try_clone()?))).collect()
    }

    /// Returns the standard error for a start.
    pub(crate) fn errors(&self) -> io::Result<Stream> {
        Ok(match &self.errors {
            ErrorSink::Captured => Stream::Piped,
            ErrorSink::Output => return self.sink(),
            ErrorSink::Descriptor(descriptor) => Stream::Descriptor(descriptor.try_clone()?),
            ErrorSink::Null => Stream::Null,
        })
    }
}

/// Makes a pipe between two programs: the end to read from, and the end to write to.
///
/// # Errors
/// The system lacks descriptors.
pub(crate) fn pipe_between() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = io::pipe()?;
    Ok((read.into(), write.into()))
}

/// Gives a program descriptors beside its usual streams, with their numbers in the program.
pub(super) fn give(command: &mut Command, more: impl Iterator<Item = (i32, OwnedFd)>) -> io::Result<()> {
    use command_fds::CommandFdExt as _;

    let mappings: Vec<FdMapping> = more.map(|(child_fd, parent_fd)| FdMapping { parent_fd, child_fd }).collect();
    if mappings.is_empty() {
        return Ok(());
    }
    command.fd_mappings(mappings).map(drop).map_err(io::Error::other)
}
