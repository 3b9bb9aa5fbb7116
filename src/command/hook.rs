//! `climax hook`: the judge as a hook of an agent, which reads what the agent is about to run and answers in its format.

mod client;
mod rules;

use std::io::{self, Read as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum as _;
use climax_catalog::policy::Bypass;
use climax_catalog::{Catalog, Risk};
use serde_json::{Map, Value, json};

use self::client::{Answer, HookClient, Moment, Request};
use self::rules::UserRules;
use crate::call::audit::Audit;
use crate::call::judge::{Cause, Decision, Judgement};
use crate::command::check::Judge;
use crate::command::output::print;
use crate::command::selection::Sources;
use crate::command::terminal;
use crate::telemetry::log;

/// Exit status by which a hook stops what the agent was about to do, whatever its output is.
const BLOCK: u8 = 2;

/// The largest message of an agent, in bytes.
const MAX_MESSAGE_BYTES: u64 = 1 << 20;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The agent that starts this hook
    #[arg(value_enum)]
    pub(crate) client: HookClient,
    #[command(flatten)]
    pub(crate) options: HookOptions,
}

/// The options of a hook.
#[derive(clap::Args, Debug)]
pub(crate) struct HookOptions {
    #[command(flatten)]
    pub(crate) sources: Sources,
    /// Append a line of JSON for each decision to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,
}

/// Answers the agent's message on standard input. On a fault of its own it has the user asked, or blocks where that is
/// impossible.
pub(crate) fn run(catalog: &'static Catalog, arguments: &Args) -> ExitCode {
    let client = arguments.client;
    let answer = catch_unwind(AssertUnwindSafe(|| answer(catalog, arguments)));
    let answer = answer.unwrap_or_else(|_| Err("the judge has failed".to_owned()));
    match answer {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(answer)) => print(&answer.to_string(), ExitCode::SUCCESS),
        Err(problem) if client.can_ask() => {
            let answer = Answer::Ask(format!("this line was not judged: {problem}"));
            print(&client.rendered(&answer, Moment::BeforeRun, &Map::new()).to_string(), ExitCode::SUCCESS)
        }
        Err(problem) => {
            terminal::complain(&format!("this line was not judged: {problem}"));
            ExitCode::from(BLOCK)
        }
    }
}

/// Returns the answer in the format of the agent; `None` where it is told nothing.
fn answer(catalog: &'static Catalog, arguments: &Args) -> Result<Option<Value>, String> {
    let mut message = String::new();
    let read = io::stdin().lock().take(MAX_MESSAGE_BYTES + 1).read_to_string(&mut message);
    read.map_err(|error| format!("the message cannot be read: {error}"))?;
    if message.len() as u64 > MAX_MESSAGE_BYTES {
        return Err(format!("the message has more than {MAX_MESSAGE_BYTES} bytes"));
    }
    let Some(request) = arguments.client.request(&message)? else { return Ok(None) };

    // The policy, the configs and the audit file are those of whoever set the hook up: their paths start where the hook does, and
    // not in the directory of the agent, which may hold a policy of its own.
    let audit = arguments.options.audit.as_deref().map(Audit::open).transpose();
    let audit = audit.map_err(|error| format!("the audit file cannot be opened: {error}"))?;
    let judge = Judge::new(catalog, &arguments.options.sources, Some(&request.line), arguments.client.shell())
        .map_err(|_| "the policy or a config has mistakes".to_owned())?;
    if let Some(directory) = &request.directory {
        std::env::set_current_dir(directory)
            .map_err(|error| format!("the directory {} cannot be entered: {error}", directory.display()))?;
    }

    let (line, judgement) = judge.judge_typed(request.line);
    let request = Request { line, ..request };
    let rules = rules::of_user(arguments.client, request.moment, Path::new("."));
    let policy = PolicyOfHook { bypass: judge.bypass(), withholds_tools: judge.withholds_tools() };
    let answer = decided(&request, judgement.clone(), &rules, policy, arguments.client);
    if let Some(audit) = audit {
        let written = audit.write(&audit_line(arguments.client, &judgement, &answer));
        written.map_err(|error| format!("the audit file cannot be written: {error}"))?;
    }
    Ok((answer != Answer::Nothing).then(|| arguments.client.rendered(&answer, request.moment, &request.input)))
}

/// The line of a decision in the audit file. It has no words of the line, because they may be secrets.
fn audit_line(client: HookClient, judgement: &Judgement, answer: &Answer) -> Value {
    let tools = judgement.commands.iter().map(|command| command.tool.as_deref());
    json!({
        "time": log::now(),
        "client": client.to_possible_value().map(|value| value.get_name().to_owned()),
        "tools": tools.collect::<Vec<_>>(),
        "risk": judgement.risk.map(Risk::as_str),
        "sensitive": judgement.is_sensitive,
        "cause": judgement.cause.as_str(),
        "answer": answer.as_str(),
        "rewritten": matches!(answer, Answer::Allow(Some(_))),
    })
}

/// What the policy says of hooks.
#[derive(Clone, Copy)]
struct PolicyOfHook {
    bypass: Bypass,
    withholds_tools: bool,
}

/// Returns the answer to a judgement.
///
/// Where the client's own flow is enough, there is none: for what writes, for what is not read whole, and for what would be
/// asked about where the user's own rules allow it. The user's rules that deny or ask are applied to the line as it was typed,
/// since a rewritten one would slip past them, and where they may be about a command that is typed otherwise, the client
/// decides. In place of a question that the client is about to put, only what the judge
/// allows and no rule asks about is answered.
fn decided(
    request: &Request,
    judgement: Judgement,
    rules: &UserRules,
    policy: PolicyOfHook,
    client: HookClient,
) -> Answer {
    let Judgement { decision, cause, reason, rewritten, risk, .. } = judgement;
    if decision == Decision::Deny {
        return Answer::Deny(reason);
    }
    if rules.deny(&request.line) {
        return Answer::Deny("a rule of the user's settings denies it".to_owned());
    }
    let is_grave = match cause {
        Cause::ChangesProtected | Cause::SendsData => true,
        Cause::Destroys | Cause::PrintsSecrets => policy.bypass == Bypass::Strict,
        // What the policy withholds may be in it.
        Cause::Unread => policy.withholds_tools,
        _ => false,
    };
    if request.asks_nobody {
        return if is_grave && decision == Decision::Ask { Answer::Deny(reason) } else { Answer::Nothing };
    }

    if let Moment::BeforeQuestion { .. } = request.moment {
        let is_allowed = decision == Decision::Allow && !rules.ask(&request.line) && !rules.may_concern(&request.line);
        return if is_allowed { client.allowed(request.moment, rewritten) } else { Answer::Nothing };
    }
    match (decision, cause) {
        _ if rules.ask(&request.line) && client.can_ask() => {
            Answer::Ask("a rule of the user's settings asks about it".to_owned())
        }
        (Decision::Allow, _) if rules.ask(&request.line) || rules.may_concern(&request.line) => Answer::Nothing,
        // What a rule allows may hold more than its words say, and the rewritten line only reads.
        (Decision::Allow, _) => client.allowed(request.moment, rewritten),
        _ if rules.allow(&request.line) => Answer::Nothing,
        // The policy may count changes of the project's files as writing.
        (_, Cause::Writes) => Answer::Nothing,
        (_, Cause::Reads | Cause::Unread | Cause::RunsCode) if risk != Some(Risk::Destructive) => Answer::Nothing,
        _ if client.can_ask() => Answer::Ask(reason),
        _ => Answer::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judgement(decision: Decision, cause: Cause) -> Judgement {
        Judgement {
            decision,
            risk: Some(Risk::Read),
            is_sensitive: false,
            cause,
            reason: "why".to_owned(),
            commands: Vec::new(),
            rewritten: Some("climax sh -c x".to_owned()),
        }
    }

    fn answer(client: HookClient, asks_nobody: bool, rules: &UserRules, judgement: Judgement) -> Answer {
        answer_at(Moment::BeforeRun, client, asks_nobody, rules, judgement)
    }

    fn answer_at(
        moment: Moment,
        client: HookClient,
        asks_nobody: bool,
        rules: &UserRules,
        judgement: Judgement,
    ) -> Answer {
        let request = Request { line: "rm -rf x".to_owned(), input: Map::new(), directory: None, asks_nobody, moment };
        let policy = PolicyOfHook { bypass: Bypass::Usual, withholds_tools: false };
        decided(&request, judgement, rules, policy, client)
    }

    #[test]
    fn what_reads_runs_rewritten_and_what_writes_is_left_to_the_client() {
        let none = UserRules::default();
        let of = |decision, cause| answer(HookClient::ClaudeCode, false, &none, judgement(decision, cause));
        assert_eq!(of(Decision::Allow, Cause::Reads), Answer::Allow(Some("climax sh -c x".to_owned())));
        for cause in [Cause::Writes, Cause::Unread, Cause::RunsCode] {
            assert_eq!(of(Decision::Ask, cause), Answer::Nothing);
        }
        for cause in
            [Cause::Destroys, Cause::PrintsSecrets, Cause::SendsData, Cause::ChangesProtected, Cause::StartsJudge]
        {
            assert_eq!(of(Decision::Ask, cause), Answer::Ask("why".to_owned()), "{cause:?}");
        }
        assert_eq!(of(Decision::Deny, Cause::Refused), Answer::Deny("why".to_owned()));
    }

    #[test]
    fn rules_of_the_user_hold_for_the_typed_line() {
        let deny = UserRules { deny: vec!["rm:*".to_owned()], ..UserRules::default() };
        let read = judgement(Decision::Allow, Cause::Reads);
        assert!(matches!(answer(HookClient::ClaudeCode, false, &deny, read.clone()), Answer::Deny(_)));
        let ask = UserRules { ask: vec!["rm -rf *".to_owned()], ..UserRules::default() };
        assert!(matches!(answer(HookClient::ClaudeCode, false, &ask, read), Answer::Ask(_)));
        let allow = UserRules { allow: vec!["rm:*".to_owned()], ..UserRules::default() };
        let destroys = judgement(Decision::Ask, Cause::Destroys);
        assert_eq!(answer(HookClient::ClaudeCode, false, &allow, destroys), Answer::Nothing);
        let read = judgement(Decision::Allow, Cause::Reads);
        assert!(matches!(answer(HookClient::ClaudeCode, false, &allow, read), Answer::Allow(Some(_))));
    }

    #[test]
    fn nobody_is_asked_where_the_agent_asks_nobody() {
        let none = UserRules::default();
        let of = |cause| answer(HookClient::ClaudeCode, true, &none, judgement(Decision::Ask, cause));
        assert_eq!(of(Cause::Destroys), Answer::Nothing);
        assert_eq!(of(Cause::SendsData), Answer::Deny("why".to_owned()));
        assert_eq!(of(Cause::ChangesProtected), Answer::Deny("why".to_owned()));
        let codex = answer(HookClient::Codex, false, &none, judgement(Decision::Ask, Cause::Destroys));
        assert_eq!(codex, Answer::Nothing, "Codex has no answer that asks");
    }

    #[test]
    fn a_question_is_answered_only_for_what_is_allowed_and_no_rule_asks_about() {
        let none = UserRules::default();
        let of = |takes_another, client, rules: &UserRules, judgement| {
            answer_at(Moment::BeforeQuestion { takes_another }, client, false, rules, judgement)
        };
        let read = judgement(Decision::Allow, Cause::Reads);
        let as_typed = Judgement { rewritten: None, ..read.clone() };
        assert_eq!(of(true, HookClient::Qwen, &none, read.clone()), Answer::Allow(read.rewritten.clone()));
        assert_eq!(of(false, HookClient::Codex, &none, read.clone()), Answer::Nothing, "Codex rewrites nothing there");
        assert_eq!(of(false, HookClient::Codex, &none, as_typed.clone()), Answer::Allow(None));
        for cause in [Cause::Writes, Cause::Unread, Cause::Destroys, Cause::PrintsSecrets, Cause::SendsData] {
            assert_eq!(
                of(true, HookClient::Qwen, &none, judgement(Decision::Ask, cause)),
                Answer::Nothing,
                "{cause:?}"
            );
        }
        assert!(matches!(
            of(true, HookClient::Qwen, &none, judgement(Decision::Deny, Cause::Refused)),
            Answer::Deny(_)
        ));
        for rules in [
            UserRules { ask: vec!["rm:*".to_owned()], ..UserRules::default() },
            UserRules { asks_always: true, ..UserRules::default() },
        ] {
            assert_eq!(of(true, HookClient::Qwen, &rules, read.clone()), Answer::Nothing);
            assert_eq!(of(false, HookClient::Codex, &rules, as_typed.clone()), Answer::Nothing);
        }
        let unattended = Moment::BeforeQuestion { takes_another: true };
        assert_eq!(answer_at(unattended, HookClient::Qwen, true, &none, read), Answer::Nothing);
    }
}
