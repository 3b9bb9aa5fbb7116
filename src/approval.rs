//! Approval: who is asked before a call, and what.

use std::future::{Future, pending};
use std::io::Write as _;

use climax_catalog::policy::Headless;
use climax_catalog::{Policy, ResolvedTool};
use sha2::{Digest as _, Sha256};

use crate::arguments::Bound;
use crate::argv::{self, Invocation};
use crate::exec::{self, End, Executor};
use crate::question::{self, Lookups};

/// Whoever can be asked about a call.
pub trait Approver: Sync {
    /// What is handed on where the answer comes with a later request.
    type Question: Send;

    /// Decides about a call.
    fn decide(&self, pending: &Pending<'_>) -> impl Future<Output = Verdict<Self::Question>> + Send;
}

/// What was decided about a call.
#[derive(Debug)]
pub enum Verdict<Q> {
    /// It may run.
    Approved,
    /// It may not.
    Denied(Denial),
    /// The client is to ask, and to call again with the answer.
    Asked(Q),
}

/// Why a call was not approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// Somebody was asked, and did not approve.
    ByUser,
    /// Nobody can be asked, and the policy denies calls then.
    Headless,
    /// The answer came with a state that was not made for this call.
    Forged,
}

/// A call that waits for approval: its arguments have been checked, nothing has run.
#[derive(Clone, Copy, Debug)]
pub struct Pending<'a> {
    pub(crate) tool: ResolvedTool<'a>,
    pub(crate) bound: &'a Bound<'a>,
    pub(crate) invocation: &'a Invocation,
    pub(crate) policy: &'a Policy,
    pub(crate) executor: &'a Executor,
}

impl Pending<'_> {
    /// The verdict where nobody can be asked.
    #[must_use]
    pub fn headless<Q>(&self) -> Verdict<Q> {
        match self.policy.headless() {
            Headless::Deny => Verdict::Denied(Denial::Headless),
            Headless::Approve => Verdict::Approved,
        }
    }

    /// What identifies the call: the tool and all values. Calls that differ in one of them have different digests.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut text = Vec::new();
        let values = self.bound.iter().map(|(arg, value)| (arg.name().to_owned(), value.to_string()));
        for (name, value) in std::iter::once((self.tool.name().to_owned(), String::new())).chain(values) {
            // Writing to memory does not fail.
            let _ = write!(text, "{}:{name}{}:{value}", name.len(), value.len());
        }
        Sha256::digest(&text).into()
    }

    /// The question, with the names that the tool's `resolve` looks up; a look-up that fails reads `<unresolved:NAME>`.
    pub async fn question(&self) -> String {
        let Some(template) = self.tool.confirm_message() else {
            return question::question(self.tool, None, self.invocation);
        };
        let mut found = Lookups::new();
        for resolve in self.tool.resolves().filter(|resolve| question::mentions(template, resolve.name())) {
            let invocation = argv::resolve(self.tool, resolve, self.bound, self.invocation, &exec::variable);
            let name = match self.executor.run(&invocation, None, pending()).await {
                Ok(outcome) if outcome.end == End::Exited(0) => outcome.stdout.text().trim().to_owned(),
                Ok(_) | Err(_) => String::new(),
            };
            found.insert(resolve.name(), Some(name).filter(|name| !name.is_empty()));
        }
        let own_words = question::from_template(template, self.bound, &found);
        question::question(self.tool, Some(&own_words), self.invocation)
    }
}
