//! What the commands of a line did, for its result.

use std::mem::discriminant;
use std::time::Duration;

use climax_catalog::Cage;

use super::streams::{Output, Stream};
use crate::call::plan_outcome::{StageOutcome, StepOutcome, Tested};
use crate::exec::{Captured, End, Outcome};

/// Most steps that a result has. Of further ones only failures are added.
const MAX_STEPS: usize = 2_000;

/// What commands did, in order.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) steps: Vec<StepOutcome>,
    /// The bytes of their output.
    bytes: u64,
}

impl Record {
    /// Adds the outcome of a pipeline. Beyond `most` bytes of output, no more is kept.
    pub(super) fn push(&mut self, mut step: StepOutcome, most: u64) {
        for stage in &mut step.stages {
            self.bytes += stage.outcome.stdout.total_bytes() + stage.outcome.stderr.total_bytes();
            if self.bytes > most {
                stage.outcome.stdout = stage.outcome.stdout.without_text();
                stage.outcome.stderr = stage.outcome.stderr.without_text();
            }
        }
        let is_notable = step.stages.iter().any(|stage| !stage.outcome.succeeded());
        if self.steps.len() < MAX_STEPS || is_notable && self.steps.len() < 2 * MAX_STEPS {
            self.steps.push(step);
        } else if let Some(last) = self.steps.last_mut() {
            *last = step;
        }
    }

    /// Says that the line was stopped or has taken too long, if no program says it.
    pub(super) fn end(&mut self, end: End, text: &str) {
        let mut stages = self.steps.iter().flat_map(|step| &step.stages);
        if !stages.any(|stage| discriminant(&stage.outcome.end) == discriminant(&end)) {
            let stage =
                StageOutcome { outcome: Outcome::of_builtin(end), ..builtin_stage("climax", text, 0, Vec::new()) };
            self.steps.push(StepOutcome { stages: vec![stage] });
        }
    }

    /// Says of the programs that were stopped that a signal has ended them, since the line goes on without them.
    pub(super) fn end_by_signal(&mut self, signal: i32) {
        for stage in self.steps.iter_mut().flat_map(|step| &mut step.stages) {
            if matches!(stage.outcome.end, End::Stopped(_)) {
                stage.outcome.end = End::Signaled(signal);
            }
        }
    }

    /// Adds what commands did that this one waited for.
    pub(super) fn extend(&mut self, other: Self, most: u64) {
        for step in other.steps {
            self.push(step, most);
        }
    }
}

/// Makes the outcome of a builtin that printed something or failed.
pub(super) fn builtin_stage(name: &str, text: &str, status: i32, printed: Vec<(Stream, Vec<u8>)>) -> StageOutcome {
    let mut outcome = Outcome::of_builtin(End::Exited(status));
    for (stream, bytes) in printed {
        let captured = Captured::from_bytes(&bytes, usize::MAX);
        match stream {
            Stream::Output => outcome.stdout = captured,
            Stream::Errors => outcome.stderr = captured,
        }
    }
    StageOutcome {
        tool: name.to_owned(),
        text: text.to_owned(),
        outcome,
        cage: None::<Cage>,
        has_network: true,
        prefetch: None,
        tested: Tested::No,
        duration: Duration::ZERO,
    }
}

/// Puts what a program printed where its streams go in the result.
pub(super) fn placed(mut outcome: Outcome, output: &Output, errors: &Output) -> Outcome {
    let (stdout, stderr) = (std::mem::take(&mut outcome.stdout), std::mem::take(&mut outcome.stderr));
    for (captured, stream) in [(stdout, output), (stderr, errors)] {
        let Output::Result(stream) = stream else { continue };
        let own = match stream {
            Stream::Output => &mut outcome.stdout,
            Stream::Errors => &mut outcome.stderr,
        };
        if own.total_bytes() == 0 {
            *own = captured;
        } else if captured.total_bytes() > 0 {
            *own = own.followed_by(&captured);
        }
    }
    outcome
}
