//! Asks the user for the values of a tool's forms, and for approval.

use climax_catalog::ResolvedTool;
use serde_json::{Map, Value};

use crate::call::approval::{Approver, FormAnswer, Verdict};
use crate::call::arguments::{self, Bound};
use crate::call::digest;
use crate::call::form::Form;
use crate::call::outcome::{CallError, CallResult, Permission};
use crate::call::plan::Plan;
use crate::exec::{Outcome, Stop};

/// Asks the user to fill in each form of a tool. `given` holds the agent's values.
///
/// # Errors
/// The result of the call, if it ends here.
pub(super) async fn fill_in_forms<A: Approver>(
    tool: ResolvedTool<'_>,
    given: &Bound<'_>,
    approver: &A,
    stop: impl Future<Output = Stop>,
) -> Result<Map<String, Value>, CallResult<A::Question>> {
    tokio::select! {
        biased;
        why = stop => Err(CallResult::Ran(Outcome::not_started(why))),
        answers = answers(tool, given, approver) => answers,
    }
}

async fn answers<A: Approver>(
    tool: ResolvedTool<'_>,
    given: &Bound<'_>,
    approver: &A,
) -> Result<Map<String, Value>, CallResult<A::Question>> {
    let request = digest::of_request(tool, given);
    let mut answers = Map::new();
    for question in tool.questions() {
        let form = Form::of_question(tool, question, given);
        match approver.fill_in(&form, &request).await {
            FormAnswer::Filled(values) => {
                let names: Vec<&str> = question.args().collect();
                let unusable = arguments::unusable_answers(tool, &names, &values);
                if !unusable.is_empty() {
                    let question = question.name().to_owned();
                    return Err(CallResult::Failed(CallError::UnusableAnswer { question, unusable }));
                }
                answers.extend(values);
            }
            FormAnswer::Denied(denial) => return Err(CallResult::Failed(CallError::ApprovalDenied(denial))),
            FormAnswer::InputRequired(question) => return Err(CallResult::InputRequired(question)),
        }
    }

    Ok(answers)
}

/// Asks the user to approve a plan, if the policy requires approval of one of its calls.
///
/// # Errors
/// The result of the call, if it ends here.
pub(super) async fn approve<A: Approver>(
    plan: &Plan<'_>,
    approver: &A,
    stop: impl Future<Output = Stop>,
) -> Result<Permission, CallResult<A::Question>> {
    if !plan.needs_approval() {
        return Ok(Permission::NotNeeded);
    }

    let verdict = tokio::select! {
        biased;
        why = stop => return Err(CallResult::Ran(Outcome::not_started(why))),
        verdict = approver.approve(plan) => verdict,
    };
    match verdict {
        Verdict::Approved => Ok(Permission::Approved),
        Verdict::Denied(denial) => Err(CallResult::Failed(CallError::ApprovalDenied(denial))),
        Verdict::InputRequired(question) => Err(CallResult::InputRequired(question)),
    }
}
