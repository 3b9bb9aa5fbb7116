//! Asks the user to fill in forms and to approve calls.

use std::convert::Infallible;
use std::future::{Future, pending};
use std::path::Path;
use std::time::Duration;

use climax_catalog::Cage;
use climax_catalog::policy::{Headless, SensitiveRule};
use serde_json::{Map, Value};

use crate::call::arguments;
use crate::call::command_line;
use crate::call::confirmation::{self, Lookups};
use crate::call::digest::{self, RequestDigest};
use crate::call::form::Form;
pub use crate::call::outcome::Denial;
use crate::call::plan::{Plan, PlannedCall, Stage};
use crate::exec::{self, End, Isolation, Runner};

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

    /// Asks the user to approve the calls of a plan.
    fn approve(&self, plan: &Plan<'_>) -> impl Future<Output = Verdict<Self::Question>> + Send;

    /// What becomes of questions that come up while a line runs.
    fn late_questions(&self) -> LateQuestions {
        LateQuestions::ByPolicy
    }
}

/// What becomes of questions that come up while a line runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LateQuestions {
    /// The user is asked.
    Asked,
    /// Nobody can be asked, so the policy decides.
    ByPolicy,
    /// The user can be asked only before a line runs.
    Refused,
}

/// An approver without a user, for resources and prompts.
#[derive(Clone, Copy, Debug)]
pub struct Unattended;

impl Approver for Unattended {
    type Question = Infallible;

    async fn fill_in(&self, _: &Form<'_>, _: &RequestDigest) -> FormAnswer<Infallible> {
        FormAnswer::Denied(Denial::Unanswerable)
    }

    async fn approve(&self, _: &Plan<'_>) -> Verdict<Infallible> {
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

/// What the approval of a plan is about. Its arguments have been checked, and its programs have not been started.
impl Plan<'_> {
    /// Returns the verdict of the policy for clients that cannot ask a user.
    #[must_use]
    pub fn headless<Q>(&self) -> Verdict<Q> {
        match self.policy.headless() {
            _ if self.calls().any(|call| call.is_uncaged) || self.open.iter().any(|open| open.is_uncaged) => {
                Verdict::Denied(Denial::Unasked)
            }
            Headless::Deny => Verdict::Denied(Denial::Headless),
            Headless::Approve => Verdict::Approved,
        }
    }

    /// Returns whether the policy requires approval of one of the calls.
    #[must_use]
    pub fn needs_approval(&self) -> bool {
        self.stages.iter().any(|stage| self.stage_needs_approval(stage))
    }

    /// Returns whether the policy requires approval of a call, or of one that it starts.
    pub(crate) fn stage_needs_approval(&self, stage: &Stage<'_>) -> bool {
        let asks_about_secrets = self.policy.sensitive() == SensitiveRule::Ask;
        stage.call.with_started().any(|call| {
            self.policy.needs_approval_at(call.tool, call.approval_risk(self.policy))
                || arguments::need_approval(&call.bound)
                || asks_about_secrets && call.sensitive.is_some()
                || call.is_uncaged
        })
    }

    /// Returns the digest of everything that the approval covers: all values, the command lines, the directories, the
    /// risks.
    #[must_use]
    pub fn digest(&self) -> RequestDigest {
        digest::of_pairs(self.calls().flat_map(PlannedCall::pairs))
    }

    /// Returns the digest of the agent's request, without the user's answers.
    #[must_use]
    pub fn request_digest(&self) -> RequestDigest {
        let given = |call: &PlannedCall<'_>| {
            digest::pairs(call.tool, &call.bound, |arg| !arg.is_from_user()).collect::<Vec<_>>()
        };
        digest::of_pairs(self.calls().flat_map(given))
    }

    /// Returns the text of the question. The tools' `resolve` commands are run for the names in it.
    ///
    /// A name whose command fails reads `<unresolved:NAME>`.
    pub async fn question(&self) -> String {
        let mut texts = Vec::new();
        for call in self.calls() {
            let reasons = call.reasons();
            texts.push(call.question(self.runner).await + &reasons);
        }
        match texts.len() {
            1 => texts.swap_remove(0),
            count => format!("Run {count} commands?\n\n{}", texts.join("\n\n")),
        }
    }
}

/// Says what git would run because of a git directory.
pub(crate) fn planted(git: &Path) -> String {
    format!(
        "git would run programs that {} names, as hooks or in its configuration, and that were made or changed since the \
         session began",
        git.display()
    )
}

impl PlannedCall<'_> {
    /// Returns all that the approval of the call covers.
    ///
    /// The directory of result files differs from call to call, so it is left out.
    fn pairs(&self) -> Vec<(String, String)> {
        let files_dir = self.invocation.files_dir.as_ref().map(|dir| dir.display().to_string());
        let stable = |word: &String| files_dir.as_ref().map_or_else(|| word.clone(), |dir| word.replace(dir, ""));
        let words = self.invocation.argv.iter().map(|word| (String::new(), stable(word)));
        let dir = self.invocation.cwd.iter().map(|dir| ("cwd".to_owned(), dir.display().to_string()));
        let held = if self.is_uncaged { "none" } else { self.cage().map_or("", Cage::as_str) };
        let risk = [("risk", self.risk().as_str()), ("cage", held)].map(|(name, is)| (name.to_owned(), is.to_owned()));
        digest::pairs(self.tool, &self.bound, |_| true).chain(words).chain(dir).chain(risk).collect()
    }

    /// Returns what the user has to know beyond the command line, each in a paragraph of its own.
    fn reasons(&self) -> String {
        let protected = self.changes.protected.as_ref();
        let protected = protected.map(|path| format!("\n\nOther programs load or run {}.", path.display()));
        let planted = self.planted.as_ref().map(|git| format!("\n\n{}.", planted(git)));
        let sensitive = self.sensitive.as_ref().map(|reason| format!("\n\n{reason}."));
        let uncaged = self
            .is_uncaged
            .then(|| "\n\nNo cage holds the program: it may change, send and start whatever this user can.".to_owned());
        [protected, planted, sensitive, uncaged].into_iter().flatten().collect()
    }

    async fn question(&self, runner: &Runner) -> String {
        let question = self.question_of_tool(runner).await;
        match self.cage().filter(|cage| Isolation::here().is_some_and(|isolation| isolation.restores(*cage))) {
            Some(_) => format!(
                "{question}\n\nThe program can change .git and settings that other programs load; these are put back \
                 after it: restored, not prevented."
            ),
            None => question,
        }
    }

    async fn question_of_tool(&self, runner: &Runner) -> String {
        let Some(template) = self.tool.confirm_message() else {
            return confirmation::question(self.tool, self.risk(), None, &self.invocation);
        };
        let mut found = Lookups::new();
        for resolve in self.tool.resolves().filter(|resolve| confirmation::mentions(template, resolve.name())) {
            let invocation = command_line::resolve(self.tool, resolve, &self.bound, &self.invocation, &exec::variable);
            let name = match runner.run(&invocation, None, pending()).await {
                Ok(outcome) if outcome.end == End::Exited(0) => outcome.stdout.text().trim().to_owned(),
                Ok(_) | Err(_) => String::new(),
            };
            found.insert(resolve.name(), Some(name).filter(|name| !name.is_empty()));
        }

        let message = confirmation::from_template(template, &self.bound, &found);
        confirmation::question(self.tool, self.risk(), Some(&message), &self.invocation)
    }
}
