//! Asks the user to fill in forms and to approve calls.

use std::convert::Infallible;
use std::future::{Future, pending};
use std::time::Duration;

use climax_catalog::policy::Headless;
use climax_catalog::{Policy, ResolvedTool, Risk};
use serde_json::{Map, Value};

use crate::call::arguments::{self, Bound};
use crate::call::command_line;
use crate::call::confirmation::{self, Lookups};
use crate::call::digest::{self, RequestDigest};
use crate::call::form::Form;
use crate::call::risk;
use crate::exec::{self, End, Invocation, Runner};

/// Time limit for the user to approve a call.
pub(crate) const APPROVAL_LIMIT: Duration = Duration::from_mins(10);

/// Asks the user to fill in forms and to approve calls.
pub trait Approver: Sync {
    /// The question for a client that sends the answer with a later request.
    type Question: Send;

    /// Asks the user to fill in a form. The form belongs to the request with this digest.
    fn fill_in(
        &self,
        form: &Form<'_>,
        request: &RequestDigest,
    ) -> impl Future<Output = FormAnswer<Self::Question>> + Send;

    /// Asks the user to approve a call.
    fn approve(&self, call: &PendingCall<'_>) -> impl Future<Output = Verdict<Self::Question>> + Send;
}

/// An approver without a user, for resources and prompts.
#[derive(Clone, Copy, Debug)]
pub struct Unattended;

impl Approver for Unattended {
    type Question = Infallible;

    async fn fill_in(&self, _: &Form<'_>, _: &RequestDigest) -> FormAnswer<Infallible> {
        FormAnswer::Denied(Denial::Unanswerable)
    }

    async fn approve(&self, _: &PendingCall<'_>) -> Verdict<Infallible> {
        Verdict::Denied(Denial::Unasked)
    }
}

/// The user's answer to a form.
#[derive(Debug)]
pub enum FormAnswer<Q> {
    /// The values of the form.
    Filled(Map<String, Value>),
    /// The form was not filled in.
    Denied(Denial),
    /// The client must show the form, then repeat the request with the answer.
    InputRequired(Q),
}

/// The user's decision about a call.
#[derive(Debug)]
pub enum Verdict<Q> {
    /// The call may run.
    Approved,
    /// The call may not run.
    Denied(Denial),
    /// The client must ask the user, then repeat the call with the answer.
    InputRequired(Q),
}

/// Why a call was not approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denial {
    /// The user was asked and did not approve.
    #[error("the user did not approve the call")]
    ByUser,
    /// The client cannot ask a user, and the policy denies such calls.
    #[error("it needs approval, and this client cannot ask anybody (policy: approval.headless is deny)")]
    Headless,
    /// The tool has a form, and the client cannot ask a user.
    #[error("Not run: the user has to give some of the values, and cannot be asked here (elicitation)")]
    Unanswerable,
    /// The answer came with a request state of another call.
    #[error("the call came with a state that was not made for it")]
    Forged,
    /// The question cannot be put, whatever the client can do.
    #[error("it needs an answer of the user, who cannot be asked here")]
    Unasked,
}

impl Denial {
    /// Returns the text of the refusal of a call of `tool`. It is the same in calls, lines, chains and code.
    #[must_use]
    pub fn text(self, tool: &str) -> String {
        match self {
            Self::ByUser => format!("Tool execution denied by user: {tool}"),
            Self::Headless => format!(
                "Tool execution needs approval, and this client cannot ask anybody: {tool} (policy: approval.headless is \
                 deny)"
            ),
            Self::Unanswerable => self.to_string(),
            Self::Forged | Self::Unasked => format!("Tool execution denied: {tool}: {self}"),
        }
    }
}

/// Calls that wait for one approval. Their arguments have been checked. Their programs have not been started.
#[derive(Clone, Debug)]
pub struct PendingCall<'a> {
    /// One call, or those of a command line.
    pub(crate) calls: Vec<PlannedCall<'a>>,
    pub(crate) policy: &'a Policy,
    pub(crate) runner: &'a Runner,
}

/// A call with its planned command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlannedCall<'a> {
    pub(crate) tool: ResolvedTool<'a>,
    pub(crate) bound: &'a Bound<'a>,
    pub(crate) invocation: &'a Invocation,
}

impl PendingCall<'_> {
    /// Returns the verdict of the policy for clients that cannot ask a user.
    #[must_use]
    pub fn headless<Q>(&self) -> Verdict<Q> {
        match self.policy.headless() {
            Headless::Deny => Verdict::Denied(Denial::Headless),
            Headless::Approve => Verdict::Approved,
        }
    }

    /// Returns whether the policy requires approval of one of the calls.
    #[must_use]
    pub fn needs_approval(&self) -> bool {
        let of_value = |call: &PlannedCall<'_>| arguments::need_approval(call.bound);
        self.calls.iter().any(|call| self.policy.needs_approval_at(call.tool, call.risk()) || of_value(call))
    }

    /// Returns the digest of everything that the approval covers: all values, the command lines, the directories, the
    /// risks.
    #[must_use]
    pub fn digest(&self) -> RequestDigest {
        digest::of_pairs(self.calls.iter().flat_map(PlannedCall::pairs))
    }

    /// Returns the digest of the agent's request, without the user's answers.
    #[must_use]
    pub fn request_digest(&self) -> RequestDigest {
        let given = |call: &PlannedCall<'_>| {
            digest::pairs(call.tool, call.bound, |arg| !arg.is_from_user()).collect::<Vec<_>>()
        };
        digest::of_pairs(self.calls.iter().flat_map(given))
    }

    /// Returns the text of the question. The tools' `resolve` commands are run for the names in it.
    ///
    /// A name whose command fails reads `<unresolved:NAME>`.
    pub async fn question(&self) -> String {
        let mut texts = Vec::with_capacity(self.calls.len());
        for call in &self.calls {
            texts.push(call.question(self.runner).await);
        }
        match texts.len() {
            1 => texts.swap_remove(0),
            count => format!("Run {count} commands?\n\n{}", texts.join("\n\n")),
        }
    }
}

impl PlannedCall<'_> {
    /// Returns the risk of the tool with these arguments.
    pub(crate) fn risk(&self) -> Risk {
        risk::of_call(self.tool, self.bound)
    }

    /// Returns all that the approval of the call covers.
    ///
    /// The directory of result files differs from call to call, so it is left out.
    fn pairs(&self) -> Vec<(String, String)> {
        let files_dir = self.invocation.files_dir.as_ref().map(|dir| dir.display().to_string());
        let stable = |word: &String| files_dir.as_ref().map_or_else(|| word.clone(), |dir| word.replace(dir, ""));
        let words = self.invocation.argv.iter().map(|word| (String::new(), stable(word)));
        let dir = self.invocation.cwd.iter().map(|dir| ("cwd".to_owned(), dir.display().to_string()));
        let risk = [("risk".to_owned(), self.risk().as_str().to_owned())];
        digest::pairs(self.tool, self.bound, |_| true).chain(words).chain(dir).chain(risk).collect()
    }

    async fn question(&self, runner: &Runner) -> String {
        let Some(template) = self.tool.confirm_message() else {
            return confirmation::question(self.tool, self.risk(), None, self.invocation);
        };
        let mut found = Lookups::new();
        for resolve in self.tool.resolves().filter(|resolve| confirmation::mentions(template, resolve.name())) {
            let invocation = command_line::resolve(self.tool, resolve, self.bound, self.invocation, &exec::variable);
            let name = match runner.run(&invocation, None, pending()).await {
                Ok(outcome) if outcome.end == End::Exited(0) => outcome.stdout.text().trim().to_owned(),
                Ok(_) | Err(_) => String::new(),
            };
            found.insert(resolve.name(), Some(name).filter(|name| !name.is_empty()));
        }
        let message = confirmation::from_template(template, self.bound, &found);
        confirmation::question(self.tool, self.risk(), Some(&message), self.invocation)
    }
}
