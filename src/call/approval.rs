//! Whom a call needs: who fills in what the agent is not to choose, and who approves.

use std::convert::Infallible;
use std::future::{Future, pending};
use std::io::Write as _;

use climax_catalog::policy::Headless;
use climax_catalog::{ArgView, Policy, ResolvedTool};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::call::arguments::Bound;
use crate::call::command_line;
use crate::call::confirmation::{self, Lookups};
use crate::call::form::Form;
use crate::exec::Invocation;
use crate::exec::{self, End, Runner};
use std::time::Duration;

/// How long somebody may take to approve a call.
pub(crate) const APPROVAL_LIMIT: Duration = Duration::from_mins(10);

/// Whoever can be asked about a call.
pub trait Approver: Sync {
    /// What is handed on where the answer comes with a later request.
    type Question: Send;

    /// Has a form filled in, for a request of this identity.
    fn ask(&self, form: &Form<'_>, request: &Identity) -> impl Future<Output = Answer<Self::Question>> + Send;

    /// Decides about a call.
    fn decide(&self, pending: &Pending<'_>) -> impl Future<Output = Verdict<Self::Question>> + Send;
}

/// What tells a request from all others: what it is about, and all values that came with it.
pub type Identity = [u8; 32];

/// Nobody: for what clients read without a user who waits for it.
#[derive(Clone, Copy, Debug)]
pub struct Nobody;

impl Approver for Nobody {
    type Question = Infallible;

    async fn ask(&self, _: &Form<'_>, _: &Identity) -> Answer<Infallible> {
        Answer::Denied(Denial::Unanswerable)
    }

    async fn decide(&self, _: &Pending<'_>) -> Verdict<Infallible> {
        Verdict::Denied(Denial::Headless)
    }
}

/// What became of a form.
#[derive(Debug)]
pub enum Answer<Q> {
    /// It was filled in.
    Given(Map<String, Value>),
    /// It was not.
    Denied(Denial),
    /// The client is to show it, and to ask again with the answer.
    Asked(Q),
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
    /// Somebody has to fill in a form, and nobody can be asked to.
    Unanswerable,
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
    pub(crate) runner: &'a Runner,
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

    /// What identifies what would run: the call with what the user has given, and what the question shows of it. Where files
    /// of the result go is another place each time.
    #[must_use]
    pub fn identity(&self) -> Identity {
        let files_dir = self.invocation.files_dir.as_ref().map(|dir| dir.display().to_string());
        let stable = |word: &String| files_dir.as_ref().map_or_else(|| word.clone(), |dir| word.replace(dir, ""));
        let words = self.invocation.argv.iter().map(|word| (String::new(), stable(word)));
        let dir = self.invocation.cwd.iter().map(|dir| ("cwd".to_owned(), dir.display().to_string()));
        let risk = [("risk".to_owned(), self.tool.risk().as_str().to_owned())];
        identity_of(pairs(self.tool, self.bound, |_| true).chain(words).chain(dir).chain(risk))
    }

    /// What identifies the request, without what the user has given.
    #[must_use]
    pub fn request(&self) -> Identity {
        identity(self.tool, self.bound)
    }

    /// The question, with the names that the tool's `resolve` looks up; a look-up that fails reads `<unresolved:NAME>`.
    pub async fn question(&self) -> String {
        let Some(template) = self.tool.confirm_message() else {
            return confirmation::question(self.tool, None, self.invocation);
        };
        let mut found = Lookups::new();
        for resolve in self.tool.resolves().filter(|resolve| confirmation::mentions(template, resolve.name())) {
            let invocation = command_line::resolve(self.tool, resolve, self.bound, self.invocation, &exec::variable);
            let name = match self.runner.run(&invocation, None, pending()).await {
                Ok(outcome) if outcome.end == End::Exited(0) => outcome.stdout.text().trim().to_owned(),
                Ok(_) | Err(_) => String::new(),
            };
            found.insert(resolve.name(), Some(name).filter(|name| !name.is_empty()));
        }
        let own_words = confirmation::from_template(template, self.bound, &found);
        confirmation::question(self.tool, Some(&own_words), self.invocation)
    }
}

/// What identifies a request: the tool and all values of the agent. Requests that differ in one of them are different.
#[must_use]
pub(crate) fn identity(tool: ResolvedTool<'_>, bound: &Bound<'_>) -> Identity {
    identity_of(pairs(tool, bound, |arg| !arg.is_from_user()))
}

/// The tool, and the values of some args; where files go is nobody's to say.
fn pairs<'a>(
    tool: ResolvedTool<'_>,
    bound: &'a Bound<'_>,
    is_part: impl Fn(ArgView<'_>) -> bool + 'a,
) -> impl Iterator<Item = (String, String)> + 'a {
    let given = bound.iter().filter(move |(arg, _)| arg.output().is_none() && is_part(*arg));
    let values = given.map(|(arg, value)| (arg.name().to_owned(), value.to_string()));
    std::iter::once((tool.name().to_owned(), String::new())).chain(values)
}

/// What identifies a list of pairs.
#[must_use]
pub(crate) fn identity_of(pairs: impl Iterator<Item = (String, String)>) -> Identity {
    let mut text = Vec::new();
    for (name, value) in pairs {
        // Writing to memory does not fail.
        let _ = write!(text, "{}:{name}{}:{value}", name.len(), value.len());
    }
    Sha256::digest(&text).into()
}
