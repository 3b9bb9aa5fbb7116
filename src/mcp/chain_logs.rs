//! The results of chains whose client has to ask its user before the next step.
//!
//! The client sends the chain again with the answer. The steps that have run are taken from here, and do not run twice.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Instant;

use crate::call::approval::APPROVAL_LIMIT;
use crate::call::chain::{ChainStep, MAX_CHAIN_BYTES, StepResult};
use crate::lock::Unpoisoned as _;

/// Maximum chains that wait for answers. The oldest gives way.
pub(crate) const MAX_WAITING_CHAINS: usize = 64;

/// Maximum bytes of output of all chains that wait for answers.
pub(crate) const MAX_WAITING_CHAIN_BYTES: usize = 4 * MAX_CHAIN_BYTES;

/// Chains that wait for answers, the oldest first.
#[derive(Debug, Default)]
pub(super) struct ChainLogs(Mutex<VecDeque<ChainLog>>);

/// A chain that waits for an answer.
#[derive(Debug)]
pub(super) struct ChainLog {
    /// The state that the client sends back. No other request has it.
    pub(super) state: String,
    /// The identity of the caller.
    pub(super) caller: Vec<u8>,
    /// The steps of the chain.
    pub(super) steps: Vec<ChainStep>,
    /// The results of those that have run.
    pub(super) done: Vec<StepResult>,
    /// When the question was sent.
    pub(super) asked_at: Instant,
}

impl ChainLogs {
    /// Stores the log of a chain.
    pub(super) fn store(&self, log: ChainLog) {
        let mut logs = self.0.lock().unpoisoned();
        logs.retain(|log| log.asked_at.elapsed() < APPROVAL_LIMIT);
        logs.push_back(log);
        while logs.len() > MAX_WAITING_CHAINS
            || logs.iter().map(ChainLog::bytes).sum::<usize>() > MAX_WAITING_CHAIN_BYTES
        {
            logs.pop_front();
        }
    }

    /// Removes the log of a chain and returns the results of its steps; `None` if there is no such log.
    pub(super) fn take(&self, state: &str, caller: &[u8], steps: &[ChainStep]) -> Option<Vec<StepResult>> {
        let mut logs = self.0.lock().unpoisoned();
        let is_it = |log: &ChainLog| log.state == state && log.caller == caller && log.steps == steps;
        let at = logs.iter().position(is_it)?;
        let log = logs.remove(at).filter(|log| log.asked_at.elapsed() < APPROVAL_LIMIT);
        log.map(|log| log.done)
    }
}

impl ChainLog {
    fn bytes(&self) -> usize {
        self.done.iter().map(|step| step.stdout.as_ref().map_or(0, String::len) + step.stderr.len()).sum()
    }
}
