//! `climax export`: prints the served catalog as JSON, for programs and for `climax diff`, or writes a skill for it.

mod skill;

use std::path::PathBuf;
use std::process::ExitCode;

use climax_catalog::policy::{ConfineLevel, Executor, Pattern};
use climax_catalog::{
    ArgRisk, ArgView, Catalog, CommandPart, Effects, EnvValue, MessageTemplate, Needs, Place, Prompt, ResolvedTool,
    Risk, RuleView, Sensitive, digest,
};
use serde_json::{Map, Value, json};

use crate::command::output::{FAILURE, print};
use crate::command::selection::Selection;
use crate::command::terminal;
use crate::serving::load::LoadedTools;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Accepted for scripts that ask every command for JSON; there is no other form
    #[arg(long)]
    json: bool,
    /// Write a skill to DIR/SKILL.md instead, for agents that take skills but no MCP; it has the name of DIR, such as
    /// .agents/skills/tools
    #[arg(long, value_name = "DIR", conflicts_with = "json")]
    skill: Option<PathBuf>,
}

/// Prints the catalog after the policy has been applied, or writes a skill for it.
pub(crate) fn run(catalog: &'static Catalog, arguments: &Args) -> ExitCode {
    let served = match arguments.selection.load(catalog) {
        Ok(served) => served,
        Err(code) => return code,
    };
    let Some(directory) = &arguments.skill else {
        return print(&format!("{:#}", exported(&served)), ExitCode::SUCCESS);
    };
    match skill::write(directory, &served.index, &arguments.selection.sources) {
        Ok(file) => print(&format!("wrote {}", file.display()), ExitCode::SUCCESS),
        Err(message) => {
            terminal::complain(&message);
            ExitCode::from(FAILURE)
        }
    }
}

/// Returns the served tools, prompts and settings as JSON.
pub(super) fn exported(served: &LoadedTools) -> Value {
    let LoadedTools { index, policy } = served;
    let tools = index.tools().map(|tool| {
        let mut json = tool_json(tool);
        json["needs_approval"] = json!(policy.needs_approval(tool));
        json
    });
    json!({
        "catalog_digest": digest(index, policy),
        "headless": policy.headless().as_str(),
        "executor": executor_json(policy.executor()),
        "confine": { "level": policy.confine().level.map(ConfineLevel::as_str), "required": policy.confine().required },
        "tools": tools.collect::<Vec<_>>(),
        "prompts": index.prompts().iter().map(prompt_json).collect::<Vec<_>>(),
    })
}

/// Returns all properties of a tool as JSON.
pub(super) fn tool_json(tool: ResolvedTool<'_>) -> Value {
    let cli = tool.cli();
    let resolves = tool.resolves().map(|resolve| {
        let json = json!({
            "command": resolve.words().collect::<Vec<_>>(),
            "args": resolve.args().map(|(name, value)| (name.to_owned(), value.into())).collect::<Map<_, _>>(),
            "timeout_ms": resolve.timeout_ms(),
        });
        (resolve.name().to_owned(), json)
    });
    let has_arg = |part: &CommandPart<'_>| match part {
        CommandPart::Arg(name) => tool.args().any(|arg| arg.name() == *name),
        CommandPart::Word(_) | CommandPart::Options => true,
    };
    json!({
        "name": tool.name(),
        "title": tool.title(),
        "description": tool.description(),
        "cli": cli.name(),
        "category": cli.category(),
        "tags": cli.tags().collect::<Vec<_>>(),
        "risk": tool.written_risk().map(Risk::as_str),
        "timeout_ms": tool.timeout_ms(),
        "long": tool.is_long(),
        "exit_codes": exit_codes_json(tool),
        "phrases": tool.phrases().collect::<Vec<_>>(),
        "command": cli.parts().chain(tool.parts()).filter(has_arg).map(part_text).collect::<Vec<_>>(),
        "programs": cli.programs().map(|(spelling, words)| (spelling.to_owned(), words.into())).collect::<Map<_, _>>(),
        "aliases": tool.aliases().collect::<Vec<_>>(),
        "always": cli.always().chain(tool.always()).collect::<Vec<_>>(),
        "groups": tool.groups().map(|group| json!({ "rule": group.kind().as_str(), "args": group.args().collect::<Vec<_>>() })).collect::<Vec<_>>(),
        "env": cli.env().map(|(name, value)| (name.to_owned(), env_json(value))).collect::<Map<_, _>>(),
        "sensitive": tool.is_sensitive(),
        "needs": tool.needs().map(|needs| needs_json(&needs)),
        "effects": tool.effects().map(|effects| effects_json(&effects)),
        "working_dir": cli.working_dir(),
        "output": tool.output(),
        "output_schema": tool.output_schema().map(parsed),
        "resource": tool.resource(),
        "ask": tool.questions().map(|question| json!({
            "name": question.name(),
            "message": question.message(),
            "args": question.args().collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "confirm_message": tool.confirm_message(),
        "resolve": resolves.collect::<Map<_, _>>(),
        "args": tool.args().map(arg_json).collect::<Vec<_>>(),
        "global_args": cli.global_args().map(arg_json).collect::<Vec<_>>(),
    })
}

fn effects_json(effects: &Effects) -> Value {
    let mut json: Map<String, Value> =
        effects.lists().map(|(key, list)| (key.to_owned(), json!(list))).into_iter().collect();
    let code: Map<String, Value> =
        effects.code.iter().map(|(arg, language)| (arg.clone(), language.as_str().into())).collect();
    json.insert("code".to_owned(), code.into());
    json.insert("names_only".to_owned(), effects.names_only.into());
    json.insert("prints_made".to_owned(), effects.prints_made.into());
    json.insert("bare".to_owned(), json!(effects.bare.map(Risk::as_str)));
    json.into()
}

fn needs_json(Needs { network, write, env, read, tracked, processes, cage, without, prefetch }: &Needs) -> Value {
    let mut json = json!({ "network": network, "write": write, "env": env });
    if *processes {
        json["processes"] = json!(true);
    }
    if let Some(cage) = cage {
        json["read"] = json!(read);
        json["tracked"] = json!(tracked);
        json["cage"] = json!(cage.as_str());
        json["without"] = json!(without.map(Risk::as_str));
        json["prefetch"] = json!(prefetch);
    }
    json
}

fn env_json(value: EnvValue<'_>) -> Value {
    match value {
        EnvValue::Literal(text) => text.into(),
        EnvValue::From(name) => json!({ "from": name }),
        EnvValue::File(path) => json!({ "file": path }),
    }
}

/// Parses JSON of the catalog, which was valid when it was compiled.
fn parsed(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_default()
}

/// Returns the exit codes that are answers, with their meanings.
fn exit_codes_json(tool: ResolvedTool<'_>) -> Value {
    tool.exit_codes().map(|(code, meaning)| (code.to_string(), meaning.into())).collect::<Map<_, _>>().into()
}

fn prompt_json(prompt: &Prompt) -> Value {
    let args = prompt.args.iter().map(
        |arg| json!({ "name": arg.name, "description": arg.description, "required": arg.required, "enum": arg.values }),
    );
    let messages = prompt.messages.iter().map(|message| match message {
        MessageTemplate::Text { role, text } => json!({ "role": role.as_str(), "text": text }),
        MessageTemplate::Call { tool, args } => {
            json!({ "tool": tool, "args": args.iter().cloned().map(|(name, text)| (name, text.into())).collect::<Map<_, _>>() })
        }
    });
    json!({
        "name": prompt.name,
        "title": prompt.title,
        "description": prompt.description,
        "args": args.collect::<Vec<_>>(),
        "messages": messages.collect::<Vec<_>>(),
    })
}

/// Returns a rule as JSON. What it does not say beside its pattern and bounds is left out, as older exports do.
fn rule_json(rule: RuleView<'_>) -> Value {
    let from = if rule.is_from_policy() { "policy" } else { "config" };
    let rule = rule.to_rule();
    let pattern = |pattern: &Option<Pattern>| pattern.as_ref().map(|pattern| pattern.as_str().to_owned());
    let mut json = json!({ "pattern": pattern(&rule.pattern), "min": rule.min, "max": rule.max, "from": from });
    let list = |texts: &Vec<String>| Some(json!(texts)).filter(|_| !texts.is_empty());

    for (key, value) in [
        ("enum", list(&rule.values)),
        ("value", rule.fixed.clone().map(Value::from)),
        ("within", list(&rule.within)),
        ("require_approval", pattern(&rule.approval).map(Value::from)),
    ] {
        if let Some(value) = value {
            json[key] = value;
        }
    }

    json
}

/// Returns all properties of an arg as JSON.
pub(super) fn arg_json(arg: ArgView<'_>) -> Value {
    let has_flag = arg.place() == Place::Option;
    let rules = arg.rules().map(rule_json);
    let choices = arg.choices().map(|choice| match (choice.title, choice.written()) {
        (None, None) => json!(choice.value),
        (title, words) => json!({ "value": choice.value, "title": title, "words": words }),
    });
    json!({
        "name": arg.name(),
        "description": arg.description(),
        "type": arg.kind().as_str(),
        "place": arg.place().as_str(),
        "flag": has_flag.then(|| arg.flag()),
        "required": arg.required(),
        "default": arg.default(),
        "shape": arg.shape().as_str(),
        "separator": Some(arg.separator()).filter(|text| !text.is_empty()),
        "aliases": arg.aliases().collect::<Vec<_>>(),
        "off": arg.off(),
        "variable": arg.variable(),
        "enum": choices.collect::<Vec<_>>(),
        "min_items": arg.min_items(),
        "max_items": arg.max_items(),
        "shown": arg.is_shown(),
        "ordered": arg.is_ordered(),
        "risk": risk_json(&arg.risk()),
        "sensitive": sensitive_json(arg.sensitive()),
        "asked": arg.is_from_user(),
        "output": arg.output().map(|output| json!({ "mime": output.mime, "file": output.file })),
        "rules": rules.collect::<Vec<_>>(),
        "allow_leading_dash": arg.leading_dash().unwrap_or(false),
    })
}

fn sensitive_json(sensitive: Sensitive) -> Value {
    match sensitive {
        Sensitive::Never => false.into(),
        Sensitive::Always => true.into(),
        Sensitive::Values(values) => values.into(),
    }
}

fn risk_json(risk: &ArgRisk) -> Value {
    match risk {
        ArgRisk::OfTool => Value::Null,
        ArgRisk::Always(risk) => risk.as_str().into(),
        ArgRisk::ByValue { values, otherwise } => {
            let values = values.iter().map(|(value, risk)| (value.clone(), risk.as_str().into()));
            values.chain([("else".to_owned(), otherwise.as_str().into())]).collect::<Map<_, _>>().into()
        }
    }
}

/// Returns the parts of a command: `{name}` for the place of an arg.
fn part_text(part: CommandPart<'_>) -> String {
    match part {
        CommandPart::Word(word) => word.to_owned(),
        CommandPart::Arg(name) => format!("{{{name}}}"),
        CommandPart::Options => "{options}".to_owned(),
    }
}

fn executor_json(executor: &Executor) -> Value {
    match executor {
        Executor::Local => json!({ "type": "local" }),
        Executor::Container(container) => json!({
            "type": "docker",
            "runtime": container.runtime.as_str(),
            "image": container.image,
            "volumes": container.volumes,
            "working_dir": container.working_dir,
            "network": container.network,
        }),
        Executor::Sandbox(sandbox) => json!({
            "type": "sandbox",
            "read": sandbox.read,
            "write": sandbox.write,
            "network": sandbox.network,
            "limits": {
                "memory_mb": sandbox.limits.memory_mb,
                "cpu_s": sandbox.limits.cpu_s,
                "processes": sandbox.limits.processes,
                "file_mb": sandbox.limits.file_mb,
            },
        }),
    }
}
