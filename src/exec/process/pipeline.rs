//! Joins programs into pipelines by pipes of the kernel.
//!
//! Bytes between the programs do not pass through this process. A program whose reader has ended gets SIGPIPE, as in a
//! shell.

use std::io;
use std::os::fd::OwnedFd;

use super::joint::{ErrorSink, Joint, Sink, pipe_between};
use super::start::find;
use crate::exec::error::SpawnError;
use crate::exec::invocation::Invocation;

/// A program of a pipeline.
#[derive(Debug)]
pub struct PipelineStage {
    /// The program.
    pub invocation: Invocation,
    /// Whether its standard output goes to the next program, or out of the pipeline. Otherwise it goes nowhere.
    pub has_output: bool,
    /// Where its standard error goes.
    pub errors: ErrorSink,
}

/// The streams at both ends of a pipeline.
#[derive(Debug, Default)]
pub struct PipelineEnds {
    /// The standard input of the first program; that of its invocation if `None`.
    pub input: Option<OwnedFd>,
    /// The standard output of the last program.
    pub output: Sink,
}

/// A program of a pipeline that could not be started.
#[derive(Debug)]
pub struct StageError {
    /// Its place in the pipeline.
    pub stage: usize,
    /// The reason.
    pub error: SpawnError,
}

impl StageError {
    fn system(stage: usize, invocation: &Invocation, error: io::Error) -> Self {
        Self { stage, error: SpawnError::System(invocation.argv[0].clone(), error) }
    }
}

/// Joins the programs by pipes, and gives all of them the longest timeout.
///
/// # Errors
/// A program does not exist, or the system lacks descriptors.
pub(crate) fn join(stages: Vec<PipelineStage>, ends: PipelineEnds) -> Result<Vec<(Invocation, Joint)>, StageError> {
    let timeout = stages.iter().map(|stage| stage.invocation.timeout).max().unwrap_or_default();
    let count = stages.len();
    let PipelineEnds { mut input, output } = ends;
    let mut last_output = Some(output);

    let mut joined = Vec::with_capacity(count);
    for (at, PipelineStage { invocation, has_output, errors }) in stages.into_iter().enumerate() {
        // The start of a single program finds out by itself, before any other has started.
        if count > 1 {
            find(&invocation).map_err(|error| StageError { stage: at, error })?;
        }

        let own_input = input.take();
        let output = if at + 1 == count {
            last_output.take().unwrap_or_default()
        } else {
            let (read, write) = pipe_between().map_err(|error| StageError::system(at, &invocation, error))?;
            input = Some(read);
            Sink::Descriptor(write)
        };

        joined.push((Invocation { timeout, ..invocation }, Joint { input: own_input, output, errors, has_output }));
    }
    Ok(joined)
}
