//! What has been done for requests whose client has to ask its user before the next step.
//!
//! The client sends the request again with the answer. What has been done is taken from here, and is not done twice.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Instant;

use serde_json::{Map, Value};

use crate::call::approval::APPROVAL_LIMIT;
use crate::call::chain::{MAX_CHAIN_BYTES, StepResult};
#[cfg(has_code)]
use crate::code::ReplayLog;
use crate::lock::Unpoisoned as _;

/// Maximum chains and programs that wait for answers. The oldest gives way.
pub(crate) const MAX_WAITING_LOGS: usize = 64;

/// Maximum bytes of output of all chains and programs that wait for answers.
pub(crate) const MAX_WAITING_LOG_BYTES: usize = 4 * MAX_CHAIN_BYTES;

/// The requests that wait for answers, the oldest first.
#[derive(Debug, Default)]
pub(super) struct ReplayLogs(Mutex<VecDeque<WaitingRequest>>);

/// A request that waits for an answer.
#[derive(Debug)]
pub(super) struct WaitingRequest {
    /// The state that the client sends back. No other request has it.
    pub(super) state: String,
    /// The identity of the caller.
    pub(super) caller: Vec<u8>,
    /// The arguments of the request.
    pub(super) arguments: Map<String, Value>,
    /// What has been done.
    pub(super) done: Done,
    /// When the question was sent.
    pub(super) asked_at: Instant,
}

/// What has been done for a request.
#[derive(Debug)]
pub(super) enum Done {
    /// The results of the steps of a chain.
    Chain(Vec<StepResult>),
    /// The answers that a program has got.
    #[cfg(has_code)]
    Code(ReplayLog),
}

impl ReplayLogs {
    /// Stores what has been done for a request.
    pub(super) fn store(&self, waiting: WaitingRequest) {
        let mut logs = self.0.lock().unpoisoned();
        logs.retain(|waiting| waiting.asked_at.elapsed() < APPROVAL_LIMIT);
        logs.push_back(waiting);
        let bytes = |logs: &VecDeque<WaitingRequest>| logs.iter().map(|waiting| waiting.done.bytes()).sum::<usize>();
        while logs.len() > MAX_WAITING_LOGS || bytes(&logs) > MAX_WAITING_LOG_BYTES {
            logs.pop_front();
        }
    }

    /// Removes what has been done for a request, and returns it; `None` if there is no such request.
    pub(super) fn take(&self, state: &str, caller: &[u8], arguments: &Map<String, Value>) -> Option<Done> {
        let mut logs = self.0.lock().unpoisoned();
        let is_it = |waiting: &WaitingRequest| {
            waiting.state == state && waiting.caller == caller && waiting.arguments == *arguments
        };
        let at = logs.iter().position(is_it)?;
        let waiting = logs.remove(at).filter(|waiting| waiting.asked_at.elapsed() < APPROVAL_LIMIT);
        waiting.map(|waiting| waiting.done)
    }
}

impl Done {
    fn bytes(&self) -> usize {
        match self {
            Self::Chain(steps) => {
                let bytes = |step: &StepResult| {
                    step.stdout.as_ref().map_or(0, String::len) + step.shown.len() + step.stderr.len()
                };
                steps.iter().map(bytes).sum()
            }
            #[cfg(has_code)]
            Self::Code(log) => log.bytes(),
        }
    }
}
