//! Where a command reads and writes.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::exec::{self, ErrorSink, Joint, Sink};

/// The streams of a command.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    pub(super) input: Source,
    pub(super) output: Output,
    pub(super) errors: Output,
    /// What `<(…)` prints, with the numbers of the descriptors from which programs read it.
    pub(super) processes: Vec<(u32, Arc<OwnedFd>)>,
}

/// Where a command reads.
#[derive(Clone, Debug, Default)]
pub(super) enum Source {
    #[default]
    Nothing,
    /// A text that a call gets as it stands.
    Text(String),
    File(Arc<OwnedFd>),
}

/// Where a command writes.
#[derive(Clone, Debug)]
pub(super) enum Output {
    Nothing,
    /// Into the result.
    Result(Stream),
    File(Arc<OwnedFd>),
}

/// A stream of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    Output,
    Errors,
}

impl Streams {
    /// Returns these streams with the output in the result.
    pub(super) fn captured(&self) -> Self {
        Self { output: Output::Result(Stream::Output), ..self.clone() }
    }

    /// Returns what a `<(…)` prints, by the path that stands for it in the words of a command.
    pub(super) fn process(&self, path: &str) -> Option<Arc<OwnedFd>> {
        let number: u32 = path.strip_prefix("/dev/fd/")?.parse().ok()?;
        self.processes.iter().find(|(own, _)| *own == number).map(|(_, file)| Arc::clone(file))
    }

    /// Returns the streams as a program gets them. The text of an input is part of its invocation.
    ///
    /// # Errors
    /// The system lacks descriptors.
    pub(super) fn joint(&self) -> io::Result<Joint> {
        let input = match &self.input {
            Source::Nothing | Source::Text(_) => None,
            Source::File(file) => Some(file.try_clone()?),
        };
        let output = match &self.output {
            Output::Nothing | Output::Result(_) => Sink::Captured,
            Output::File(file) => Sink::Descriptor(file.try_clone()?),
        };
        let errors = match (&self.errors, &self.output) {
            (Output::Nothing, _) => ErrorSink::Null,
            (Output::Result(own), Output::Result(other)) if own == other => ErrorSink::Output,
            (Output::Result(_), _) => ErrorSink::Captured,
            (Output::File(file), _) => ErrorSink::Descriptor(file.try_clone()?),
        };
        let more = |(number, file): &(u32, Arc<OwnedFd>)| Ok((*number, file.try_clone()?));
        let more = self.processes.iter().map(more).collect::<io::Result<Vec<_>>>()?;
        Ok(Joint { input, output, errors, has_output: !matches!(self.output, Output::Nothing), more })
    }
}

impl Source {
    /// Makes a stream of a text, for a command that reads a part of it.
    ///
    /// # Errors
    /// The system lacks descriptors or space.
    pub(super) async fn into_file(self) -> io::Result<Self> {
        let Self::Text(text) = self else { return Ok(self) };
        let file = blocking(move || exec::stream_of(text.as_bytes())).await?;
        Ok(Self::File(Arc::new(file)))
    }

    /// Reads all of it, at most `most` bytes.
    ///
    /// # Errors
    /// It is longer, or cannot be read.
    pub(super) async fn read_all(&self, most: usize) -> io::Result<Vec<u8>> {
        match self {
            Self::Nothing => Ok(Vec::new()),
            Self::Text(text) => Ok(text.clone().into_bytes()),
            Self::File(file) => {
                let file = file.try_clone()?;
                blocking(move || exec::read_to_end(file, most)).await
            }
        }
    }
}

/// Runs what may block on a thread of its own.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

/// Writes to a stream. A reader that has ended is an error.
pub(super) async fn write_all(file: &OwnedFd, bytes: Vec<u8>) -> io::Result<()> {
    let file = file.try_clone()?;
    blocking(move || exec::write_all(file, &bytes)).await
}
