//! Runs pipelines: programs that start at once, joined by pipes of the kernel.
//!
//! Bytes between the programs do not pass through this process. A program whose reader has ended gets SIGPIPE, as in a
//! shell.

use std::future::Future;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::try_join_all;

use super::invocation::Invocation;
use super::joint::{ErrorSink, Joint, Sink, pipe_between};
use super::masks::Masks;
use super::secrets;
use super::{Outcome, Runner, SpawnError, Stop, Watch, process};

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

impl Runner {
    /// Runs the programs of a pipeline at once and waits for all of them. They share one slot.
    ///
    /// Each may take as long as the one with the longest timeout. If one cannot be started, the others are killed. When
    /// `stop` completes, all are ended. `watch` reports the last one. Returns what each did, and how long it ran.
    ///
    /// # Errors
    /// A program could not be started. A failure of a started program is an [`Outcome`].
    pub async fn run_pipeline(
        &self,
        stages: Vec<PipelineStage>,
        ends: PipelineEnds,
        watch: Option<&Watch>,
        stop: impl Future<Output = Stop>,
    ) -> Result<Vec<(Outcome, Duration)>, StageError> {
        let mut stop = Box::pin(stop);
        let _slot = match self.slot(stop.as_mut()).await {
            Ok(slot) => slot,
            Err(why) => return Ok(stages.iter().map(|_| (Outcome::not_started(why), Duration::ZERO)).collect()),
        };
        let mut masks = Masks::default();
        let mut taken = Vec::with_capacity(stages.len());
        for (at, stage) in stages.into_iter().enumerate() {
            let (invocation, own) =
                secrets::take(&stage.invocation).map_err(|error| StageError { stage: at, error })?;
            masks = masks.with(&own);
            taken.push(PipelineStage { invocation, ..stage });
        }
        let joined = joined(taken, ends)?;
        let last = joined.len().saturating_sub(1);
        let stop = stop.shared();
        let runs = joined.into_iter().enumerate().map(|(stage, (invocation, joint))| {
            // A program may print what it reads from another.
            let (stop, watch, masks) = (stop.clone(), watch.filter(|_| stage == last), &masks);
            async move {
                let start = Instant::now();
                let ran = self.run_joined(&invocation, joint, (watch, masks), stop).await;
                ran.map(|outcome| (outcome, start.elapsed())).map_err(|error| StageError { stage, error })
            }
        });
        try_join_all(runs).await
    }
}

/// Joins the programs by pipes, and gives all of them the longest timeout.
fn joined(stages: Vec<PipelineStage>, ends: PipelineEnds) -> Result<Vec<(Invocation, Joint)>, StageError> {
    let timeout = stages.iter().map(|stage| stage.invocation.timeout).max().unwrap_or_default();
    let count = stages.len();
    let PipelineEnds { mut input, output } = ends;
    let mut output = Some(output);
    let mut joined = Vec::with_capacity(count);
    for (at, PipelineStage { invocation, has_output, errors }) in stages.into_iter().enumerate() {
        // The start of a single program finds out by itself, before any other has started.
        if count > 1 {
            process::find(&invocation).map_err(|error| StageError { stage: at, error })?;
        }
        let own_input = input.take();
        let out = if at + 1 == count {
            output.take().unwrap_or_default()
        } else {
            let failed = |error| {
                let error = SpawnError::System(invocation.argv[0].clone(), error);
                StageError { stage: at, error }
            };
            let (read, write) = pipe_between().map_err(failed)?;
            input = Some(read);
            Sink::Descriptor(write)
        };
        joined
            .push((Invocation { timeout, ..invocation }, Joint { input: own_input, output: out, errors, has_output }));
    }
    Ok(joined)
}
