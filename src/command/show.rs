//! `climax show`: shows a tool as its author and its caller need it.

use std::process::ExitCode;

use climax_catalog::policy::{ArgRule, Executor, Headless, Protection};
use climax_catalog::{ArgRisk, ArgView, Needs, ResolvedTool, Risk};
use serde_json::{Map, Value, json};

use super::call::write_reply;
use super::shell_word::quoted;
use super::{export, list, terminal};
use crate::call::visible::TextForm;
use crate::call::{CallError, Toolbox, suggest_tools};
use crate::command::output::{print, usage};
use crate::command::selection::Sources;
use crate::exec::{Isolation, Limits, Runner};
use crate::identity;
use crate::mcp::{self, reply::reply};
use crate::serving::Program;
use crate::serving::load;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The tool's name
    pub(crate) tool: String,
    #[command(flatten)]
    pub(crate) sources: Sources,
    /// Print JSON: what `climax_describe` says in full, with all args, the policy and an example
    #[arg(long)]
    pub(crate) json: bool,
}

/// Shows the tool. Exit status 1 if there is none of this name.
pub(crate) fn run(program: &Program, arguments: &Args) -> ExitCode {
    let served = match arguments.sources.load(program.catalog) {
        Ok(served) => served,
        Err(code) => return code,
    };
    let runner = Runner::new(served.policy.executor().clone(), Limits::default(), 1);
    let toolbox = Toolbox::new(served.index, served.policy, runner, None);
    let Some(tool) = toolbox.index.get(&arguments.tool) else {
        return unknown(&toolbox, &arguments.tool, arguments.json);
    };
    let text = if arguments.json { json(&toolbox, tool).to_string() } else { text(&toolbox, tool) };

    print(&text, ExitCode::SUCCESS)
}

/// Reports that no tool has this name, with those that resemble it.
fn unknown(toolbox: &Toolbox, name: &str, as_json: bool) -> ExitCode {
    if !as_json && toolbox.index.summary().any(|summary| load::is_named(summary.cli, name)) {
        return usage(&format!(
            "`{name}` is a CLI, and `show` takes a tool: `{} list {name}` lists its tools",
            identity::name()
        ));
    }
    let error = CallError::UnknownTool { suggestions: suggest_tools(&toolbox.index, name) };
    write_reply(&reply(name, climax_catalog::OutputForm::Text, Err(error), TextForm::Visible), as_json)
}

fn json(toolbox: &Toolbox, tool: ResolvedTool<'_>) -> Value {
    let mut json = mcp::described(toolbox, tool);
    json["args"] = tool.args().map(export::arg_json).collect();
    json["policy"] = json!({
        "approval_from": toolbox.policy.approval_from(tool).map(Risk::as_str),
        "headless": toolbox.policy.headless().as_str(),
    });
    json["example"] = json!(mcp::permitted_examples(tool).next());
    json
}

fn text(toolbox: &Toolbox, tool: ResolvedTool<'_>) -> String {
    let described = mcp::described(toolbox, tool);
    let risk = tool.written_risk().map_or("not written in the config", Risk::as_str);
    let template = template(&described);
    let mut blocks = vec![
        format!("{}\n{}", tool.name(), tool.description()),
        format!("CLI: {}\nRisk: {risk}", tool.cli().name()),
        format!("Command line:\n  {template}"),
        args(tool),
        format!("Policy:\n  {}", policy(toolbox, tool).join("\n  ")),
    ];
    if described["installed"] == json!(false) {
        blocks.push(format!("The program is not installed: `{} doctor` says what is missing.", identity::name()));
    }

    blocks.extend(mcp::permitted_examples(tool).next().map(|args| format!("Example:\n  {}", example(tool, &args))));
    blocks.retain(|block| !block.is_empty());

    blocks.join("\n\n")
}

/// Returns the command line of a tool, with places for values.
pub(super) fn template(described: &Value) -> String {
    match described["argv"].as_array() {
        Some(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        None => "(none: the tool is a part of this program)".to_owned(),
    }
}

/// Formats the table of args.
fn args(tool: ResolvedTool<'_>) -> String {
    if tool.args().len() == 0 {
        return "The tool takes no arguments.".to_owned();
    }
    let rows = tool.args().map(|arg| [arg.name().to_owned(), notes(arg).join(", "), arg.description().to_owned()]);
    terminal::table(["Argument", "Form", "Description"], rows)
}

/// Returns what is special about an arg, with its risk and whether agents see it.
pub(super) fn notes(arg: ArgView<'_>) -> Vec<String> {
    let mut notes = list::arg_notes(arg);
    match arg.risk() {
        ArgRisk::OfTool => {}
        ArgRisk::Always(risk) => notes.push(format!("risk {}", risk.as_str())),
        ArgRisk::ByValue { .. } => notes.push("risk by value".to_owned()),
    }

    if !arg.is_shown() {
        notes.push("accepted, but not shown to agents".to_owned());
    }

    notes
}

/// Says in sentences what the policy makes of the tool.
pub(super) fn policy(toolbox: &Toolbox, tool: ResolvedTool<'_>) -> Vec<String> {
    let approval = match toolbox.policy.approval_from(tool) {
        None => "No call needs approval.".to_owned(),
        Some(Risk::Read) => "Every call needs approval.".to_owned(),
        Some(least) => format!("A call needs approval if its risk is {} or higher.", least.as_str()),
    };
    let headless = toolbox.policy.approval_from(tool).map(|_| match toolbox.policy.headless() {
        Headless::Deny => "Where the client cannot ask the user, such a call is denied.".to_owned(),
        Headless::Approve => "Where the client cannot ask the user, such a call is approved.".to_owned(),
    });
    let place = match toolbox.policy.executor() {
        _ if tool.is_native() => None,
        Executor::Local => tool.needs().and_then(|needs| cage(&needs, toolbox.policy.lines().rules.protect)),
        Executor::Sandbox(_) => Some("The program runs in a sandbox.".to_owned()),
        Executor::Container(container) => Some(format!("The program runs in the image {}.", container.image)),
    };
    let rules =
        tool.args().flat_map(|arg| arg.rules().filter(|rule| rule.is_from_policy()).map(move |rule| (arg, rule)));
    let rules = rules.flat_map(|(arg, rule)| rule_sentences(arg.name(), &rule.to_rule()));

    std::iter::once(approval).chain(headless).chain(place).chain(rules).collect()
}

/// Says in a sentence which cage the program runs in, or what it can do where the system has none.
fn cage(needs: &Needs, protection: Protection) -> Option<String> {
    let cage = needs.cage?;
    let name = cage.as_str();
    Some(match Isolation::here() {
        Some(isolation) if isolation.holds(cage, protection) => {
            let how = if isolation.restores(cage) { "; protected names are restored, not prevented" } else { "" };
            format!("The program runs in the cage `{name}` ({}{how}).", isolation.as_str())
        }
        _ => {
            let risk = needs.without.unwrap_or(Risk::Destructive);
            format!("This system has no cage `{name}`, so the risk of a call is {} at least.", risk.as_str())
        }
    })
}

/// Says in sentences what a rule of the policy demands of an argument.
fn rule_sentences(name: &str, rule: &ArgRule) -> Vec<String> {
    let mut sentences = Vec::new();
    sentences.extend(rule.min.map(|min| format!("`{name}` must be {min} or more.")));
    sentences.extend(rule.max.map(|max| format!("`{name}` must be {max} or less.")));
    sentences.extend(rule.pattern.as_ref().map(|pattern| format!("`{name}` must match `{}`.", pattern.as_str())));
    sentences.extend(rule.fixed.as_ref().map(|value| format!("`{name}` is always {}.", quoted(value))));
    if !rule.values.is_empty() {
        sentences.push(format!("`{name}` must be one of: {}.", rule.values.join(", ")));
    }
    if !rule.within.is_empty() {
        sentences.push(format!("`{name}` must lie in: {}.", rule.within.join(", ")));
    }

    let approval = rule.approval.as_ref();
    sentences
        .extend(approval.map(|pattern| format!("A call needs approval if `{name}` matches `{}`.", pattern.as_str())));

    sentences
}

/// Writes a call for the command line.
pub(super) fn example(tool: ResolvedTool<'_>, args: &Map<String, Value>) -> String {
    let is_single = |value: &Value| !value.is_array() && !value.is_object();
    let words: Vec<String> = if args.values().all(is_single) {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        args.iter().map(|(name, value)| quoted(&format!("{name}={}", text(value)))).collect()
    } else {
        vec!["--args".to_owned(), quoted(&Value::Object(args.clone()).to_string())]
    };
    [identity::name(), "call", tool.name()].into_iter().map(str::to_owned).chain(words).collect::<Vec<_>>().join(" ")
}
