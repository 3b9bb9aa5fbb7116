//! Judges lines that another shell would run: whether they may run as they are, or only as a line of climax.
//!
//! A line is planned as a call is, and nothing runs. What is read whole and only reads is allowed. Such a line runs as it was
//! typed if its programs are harmless without the options, variables and confinement that climax adds; else it is rewritten.
//!
//! Source: `docs/contract.md`, "The judge".

mod bare;
mod rewrite;

use std::path::Path;

use climax_catalog::{Cage, Risk};
use serde_json::{Value, json};

use crate::call::approval;
use crate::call::given_code::runs_code;
use crate::call::line::UnreadLine;
use crate::call::outcome::CallError;
use crate::call::plan::{OpenCall, OpenRun, Plan, PlannedCall};
use crate::call::plan_outcome::PlanFailure;
use crate::call::request::{LineBounds, LineInput, Purpose, Request, Session};
use crate::call::sensitive;
use crate::call::toolbox::Toolbox;
use crate::call::unknown;

pub use bare::ShellLife;
pub use rewrite::Rewriter;
pub(crate) use rewrite::quoted;

/// What is to become of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Decision {
    /// It may run.
    Allow,
    /// The user is to be asked.
    Ask,
    /// It may not run.
    Deny,
}

impl Decision {
    /// Returns the name in results.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Why a line is judged as it is, the gravest reason of its commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Cause {
    /// It reads.
    Reads,
    /// It writes.
    Writes,
    /// It is not read whole, or how it is read would not be how it runs.
    Unread,
    /// It runs a program that an argument gives, which a cage would keep from what it may be meant to do.
    RunsCode,
    /// It prints secrets.
    PrintsSecrets,
    /// It may destroy something.
    Destroys,
    /// It sends what it has read to a host that nobody has named.
    SendsData,
    /// It changes what other programs load or run.
    ChangesProtected,
    /// It starts climax, or sets its variables.
    StartsJudge,
    /// The policy refuses it.
    Refused,
}

impl Cause {
    /// Returns the name in the audit file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns the cause of what has a risk, and nothing else to be said about it.
    fn of_risk(risk: Risk) -> Self {
        match risk {
            Risk::Read => Self::Reads,
            Risk::Write => Self::Writes,
            Risk::Destructive => Self::Destroys,
        }
    }
}

/// The judgement of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What is to become of it.
    pub decision: Decision,
    /// Its risk, if it was read whole.
    pub risk: Option<Risk>,
    /// Whether it prints secrets.
    pub is_sensitive: bool,
    /// The gravest reason.
    pub cause: Cause,
    /// The reason, for people.
    pub reason: String,
    /// Its commands, as far as they were read.
    pub commands: Vec<JudgedCommand>,
    /// The line to run instead of the typed one.
    pub rewritten: Option<String>,
}

/// A command of a judged line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedCommand {
    /// Its words.
    pub argv: Vec<String>,
    /// Its tool; `None` for a program that no config describes.
    pub tool: Option<String>,
    /// The cage in which climax would run it.
    pub cage: Option<Cage>,
    /// Its risk.
    pub risk: Risk,
    /// What is to be said about it.
    pub why: String,
}

impl Judgement {
    /// The judgement of a line that cannot be judged.
    #[must_use]
    pub fn unread(reason: String) -> Self {
        asked(Cause::Unread, None, reason, Vec::new())
    }

    /// Returns the judgement as JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut json = json!({
            "decision": self.decision.as_str(),
            "risk": self.risk.map(Risk::as_str),
            "sensitive": self.is_sensitive,
            "reason": self.reason,
            "commands": self.commands.iter().map(JudgedCommand::to_json).collect::<Vec<_>>(),
        });
        if let Some(rewritten) = &self.rewritten {
            json["rewritten"] = rewritten.as_str().into();
        }
        json
    }
}

impl JudgedCommand {
    fn to_json(&self) -> Value {
        let mut json = json!({ "argv": self.argv, "risk": self.risk.as_str(), "why": self.why });
        if let Some(tool) = &self.tool {
            json["tool"] = tool.as_str().into();
        }
        if let Some(cage) = self.cage {
            json["cage"] = Cage::as_str(cage).into();
        }
        json
    }
}

/// Judges a line that a shell is to run in a directory.
#[must_use]
pub fn judge(toolbox: &Toolbox, line: &str, directory: Option<&Path>, rewriter: &Rewriter) -> Judgement {
    if line.contains("CLIMAX_") {
        let reason = "it names a variable of the program that judges it".to_owned();
        return asked(Cause::StartsJudge, None, reason, Vec::new());
    }
    let text = directory.map(|directory| directory.display().to_string());
    let request = Request::Line {
        text: line,
        directory: text.as_deref(),
        input: LineInput::Nothing,
        bounds: LineBounds::default(),
    };
    match toolbox.plan(request, Session::anonymous(Purpose::Call)) {
        Err(failure) => of_failure(toolbox, &failure),
        Ok(plan) => of_plan(toolbox, line, &plan, rewriter),
    }
}

/// Judges a line that cannot be planned.
fn of_failure(toolbox: &Toolbox, failure: &PlanFailure) -> Judgement {
    let is_hidden = |program: &str| toolbox.policy.described_programs().iter().any(|name| name == program);
    let is_refused = match &failure.error {
        CallError::PolicyDenied { .. } | CallError::Sensitive { .. } | CallError::UnknownTool { .. } => true,
        CallError::Unread(unread) => match unread.as_ref() {
            UnreadLine::Command { error, unread } => unread.is_withheld || is_hidden(&error.found),
            UnreadLine::Lacking { .. } | UnreadLine::Syntax(_) => false,
        },
        _ => false,
    };
    let reason = failure.error.reasons().join("; ");
    if is_refused {
        let reason = format!("the policy does not permit it: {reason}");
        return Judgement { decision: Decision::Deny, ..asked(Cause::Refused, None, reason, Vec::new()) };
    }
    asked(Cause::Unread, None, reason, Vec::new())
}

fn of_plan(toolbox: &Toolbox, line: &str, plan: &Plan<'_>, rewriter: &Rewriter) -> Judgement {
    let own = rewriter.program_name();
    let stages = plan.stages.iter().flat_map(|stage| stage.call.with_started().map(move |call| (stage, call)));
    let stages: Vec<_> = stages.map(|(stage, call)| (stage, call, toolbox.secrets_in_reach(call))).collect();
    let commands: Vec<(Cause, JudgedCommand)> =
        stages.iter().map(|(stage, call, secrets)| judged(toolbox, &stage.text, (call, secrets), &own)).collect();
    let open: Vec<(Cause, String)> = plan.open.iter().map(judged_open).collect();
    let closed = || commands.iter().map(|(cause, command)| (*cause, &command.why));
    let all = || closed().chain(open.iter().map(|(cause, why)| (*cause, why)));
    let cause = all().map(|(cause, _)| cause).max().unwrap_or(Cause::Reads);
    let risk = plan.risk();
    let gravest = all().find(|(own, _)| *own == cause).map(|(_, why)| why.clone());
    let reason = gravest.unwrap_or_else(|| reason_of(cause).to_owned());
    let commands: Vec<JudgedCommand> = commands.into_iter().map(|(_, command)| command).collect();

    if plan.has_background && matches!(cause, Cause::Reads | Cause::Writes) {
        let reason = "`&` leaves a command behind that runs on".to_owned();
        return asked(Cause::Unread, Some(risk), reason, commands);
    }

    let allowed = toolbox.policy.judgement().hook_allow;
    let is_within = match cause {
        Cause::Reads => true,
        Cause::Writes => allowed >= Risk::Write,
        _ => false,
    };
    if !is_within || plan.needs_approval() || plan.may_need_approval() {
        return asked(cause, Some(risk), reason, commands);
    }

    if rests_on_places(plan) {
        let reason = "what one command changes may lead another one to other files".to_owned();
        return asked(Cause::Destroys, Some(risk), reason, commands);
    }

    let judgement = Judgement { decision: Decision::Allow, ..asked(cause, Some(risk), reason, commands) };
    let script = plan.script.clone().unwrap_or_default();
    let is_open_to_secrets = stages.iter().any(|(_, _, secrets)| !secrets.is_empty());
    if plan.open.is_empty()
        && !is_open_to_secrets
        && bare::runs_as_typed((line, &script), plan, toolbox.policy.lines(), allowed)
    {
        return judgement;
    }
    match rewriter.rewritten(line, &script, cause == Cause::Reads, &toolbox.policy) {
        Ok(rewritten) => Judgement { rewritten: Some(rewritten), ..judgement },
        Err(problem) => {
            let Judgement { risk, commands, .. } = judgement;
            asked(Cause::Unread, risk, problem.to_owned(), commands)
        }
    }
}

/// Returns whether a command counts as `write` only for where its files lie, beside others that change something: a link that
/// one of them makes would lead it elsewhere, and another shell does not look again.
fn rests_on_places(plan: &Plan<'_>) -> bool {
    let changing = plan.calls().filter(|call| call.risk() > Risk::Read).count() + plan.open.len();
    changing > 1 && plan.calls().any(|call| call.approval_risk(plan.policy) < call.risk())
}

/// Judges a call of a line, with the names of the secrets in its reach. `text` is the command as it was typed.
fn judged(
    toolbox: &Toolbox,
    text: &str,
    (call, secrets): (&PlannedCall<'_>, &[String]),
    own: &str,
) -> (Cause, JudgedCommand) {
    let risk = call.risk();
    let program = call.invocation.argv.first().and_then(|program| Path::new(program).file_name()?.to_str());
    let is_unknown = unknown::runs(call.tool);
    let (cause, why) = if program == Some(own) {
        (Cause::StartsJudge, "it starts the program that judges it".to_owned())
    } else if let Some(path) = &call.changes.protected {
        (Cause::ChangesProtected, format!("other programs load or run {}", path.display()))
    } else if is_unknown {
        // A cage would hold it, but it might need what the cage does not give.
        (Cause::Unread, no_config(program.unwrap_or_default()))
    } else if let Some(git) = &call.planted {
        (Cause::RunsCode, approval::planted(git))
    } else if call.least_risk == Risk::Destructive {
        (Cause::SendsData, format!("{} would send what the line has read to a host that nobody has named", call.name()))
    } else if let Some(reason) = &call.sensitive {
        (Cause::PrintsSecrets, reason.clone())
    } else if let Some(reason) = sensitive::among_others(call, secrets) {
        (Cause::PrintsSecrets, reason)
    } else if runs_code(call.tool, &call.bound) {
        (Cause::RunsCode, format!("`{text}` {}", reason_of(Cause::RunsCode)))
    } else {
        let cause = Cause::of_risk(call.approval_risk(&toolbox.policy));
        let left_out = match secrets {
            [] => String::new(),
            names => format!(", without {}", names.join(", ")),
        };
        (cause, format!("`{text}` {}{left_out}", reason_of(cause)))
    };
    let command = JudgedCommand {
        argv: call.invocation.argv.clone(),
        tool: (!is_unknown).then(|| call.name().to_owned()),
        cage: call.cage(),
        risk,
        why,
    };
    (cause, command)
}

/// Judges a command whose words will be known once the line runs.
fn judged_open(open: &OpenCall<'_>) -> (Cause, String) {
    let text = &open.text;
    match &open.runs {
        OpenRun::Undescribed(program) => (Cause::Unread, no_config(program)),
        OpenRun::Code => (Cause::RunsCode, format!("`{text}` {}", reason_of(Cause::RunsCode))),
        OpenRun::Sending => (Cause::SendsData, format!("`{text}` {}", reason_of(Cause::SendsData))),
        OpenRun::Described => {
            let cause = Cause::of_risk(open.risk);
            (cause, format!("`{text}` {}", reason_of(cause)))
        }
    }
}

fn no_config(program: &str) -> String {
    format!("no config describes `{program}`")
}

fn reason_of(cause: Cause) -> &'static str {
    match cause {
        Cause::Reads => "only reads",
        Cause::Writes => "writes",
        Cause::Unread => "is not read whole",
        Cause::RunsCode => "runs a program, and may change what that one changes",
        Cause::PrintsSecrets => "prints secrets",
        Cause::Destroys => "may destroy something",
        Cause::SendsData => "would send what the line has read to a host that nobody has named",
        Cause::ChangesProtected => "changes what other programs load",
        Cause::StartsJudge => "starts the program that judges it",
        Cause::Refused => "is refused by the policy",
    }
}

fn asked(cause: Cause, risk: Option<Risk>, reason: String, commands: Vec<JudgedCommand>) -> Judgement {
    let is_sensitive = cause == Cause::PrintsSecrets;
    Judgement { decision: Decision::Ask, risk, is_sensitive, cause, reason, commands, rewritten: None }
}
