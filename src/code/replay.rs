//! The log of a run: what the host answered, so that the program can run again without a call being made twice.
//!
//! A program does the same again if it gets the same answers in the same order: its time and its random numbers come from the
//! log too.

use super::message::Request;

/// Maximum bytes of the answers that a run has got when its client has to ask its user.
const MAX_LOGGED_BYTES: usize = 16 << 20;

/// The log of a run.
#[derive(Clone, Debug)]
pub(crate) struct ReplayLog {
    /// The number of the run in the audit file.
    pub(crate) run: u64,
    /// The seed of its random numbers.
    pub(super) seed: u32,
    /// When it began, in milliseconds since 1970.
    pub(super) began_ms: u64,
    /// The calls that were answered, in the order of their answers.
    pub(super) answered: Vec<AnsweredCall>,
    /// Whether some are missing, since all of them would take too many bytes.
    is_cut: bool,
    /// The call whose user is being asked.
    pub(crate) asked: Option<u64>,
}

/// A call that was answered.
#[derive(Clone, Debug)]
pub(super) struct AnsweredCall {
    pub(super) id: u64,
    pub(super) request: Request,
    /// The message to the guest.
    pub(super) message: String,
    /// The names of the arguments that the tool does not have.
    pub(super) ignored: Vec<String>,
}

impl ReplayLog {
    /// Makes the log of a run that begins at this time, in milliseconds since 1970.
    pub(crate) fn new(run: u64, seed: u32, began_ms: u64) -> Self {
        Self { run, seed, began_ms, answered: Vec::new(), is_cut: false, asked: None }
    }

    /// Returns the log with which the same run begins again.
    pub(super) fn again(&self) -> Self {
        Self::new(self.run, self.seed, self.began_ms)
    }

    /// Adds a call that was answered.
    pub(super) fn add(&mut self, call: AnsweredCall) {
        self.is_cut |= self.bytes() + call.message.len() > MAX_LOGGED_BYTES;
        if self.is_cut {
            self.answered.clear();
        } else {
            self.answered.push(call);
        }
    }

    /// Whether it has all calls, so that the program can run again.
    pub(super) fn is_whole(&self) -> bool {
        !self.is_cut
    }

    /// The bytes of its answers.
    pub(crate) fn bytes(&self) -> usize {
        self.answered.iter().map(|call| call.message.len()).sum()
    }
}
