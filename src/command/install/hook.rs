//! The hook in the settings of an agent: `climax hook CLIENT`, which judges the lines of the agent's own shell.

use std::path::PathBuf;

use jsonc_parser::cst::{CstArray, CstObject};
use serde_json::{Value, json};

use super::client::{Client, Places};
use super::settings::{self, Problem};
use crate::command::shell_word::quoted;
use crate::identity;

/// Where an agent's settings hold hooks, and what one looks like.
pub(super) struct HookPlace {
    /// The file.
    pub(super) path: PathBuf,
    /// The events before a line runs, and before the agent asks about it.
    events: &'static [&'static str],
    form: Form,
}

/// The form of the entries of an event.
#[derive(Clone, Copy)]
enum Form {
    /// Groups of commands, each for the tools that a pattern matches.
    Matched(&'static str),
    /// The same, where a command can say that a fault of it blocks.
    MatchedClosed(&'static str),
    /// Commands, of which a fault blocks.
    Plain,
    /// Commands for a shell.
    Shell,
    /// A plugin, which is a program of its own in the file.
    Plugin,
}

/// The events of agents whose question a hook can answer. Before a line runs, none of them is moved by a hook that allows it.
const WITH_QUESTIONS: &[&str] = &["PreToolUse", "PermissionRequest"];

/// The plugin of opencode. `COMMAND` stands for the words of the hook, as a list of JSON.
const PLUGIN: &str = r#"// Has PROGRAM judge each line of opencode's shell. `PROGRAM install opencode --hook` writes this file, and `--remove` with it
// takes it away.
import { spawnSync } from "node:child_process";

const command = COMMAND;

export const judge = async ({ directory }) => ({
  "tool.execute.before": async ({ tool }, { args }) => {
    if (tool !== "bash") return;
    const input = JSON.stringify({ command: args.command, cwd: args.workdir ?? directory });
    const { error, status, stdout, stderr } = spawnSync(command[0], command.slice(1), { input, encoding: "utf8", timeout: 10_000 });
    if (error || status !== 0) throw new Error(`The line was not judged, so it does not run: ${error?.message ?? stderr}`);
    const { decision, reason } = JSON.parse(stdout || "{}");
    if (decision === "deny") throw new Error(reason);
  },
});
"#;

impl HookPlace {
    /// Returns the place in the user's settings of a client; `None` if it has no hooks that are known.
    pub(super) fn of(client: Client, places: &Places) -> Option<Self> {
        let (path, events, form): (_, &[&str], _) = match client {
            Client::ClaudeCode => {
                let path = places.at("CLAUDE_CONFIG_DIR", ".claude").join("settings.json");
                (path, &["PreToolUse"], Form::MatchedClosed("Bash|Monitor"))
            }
            Client::Codex => {
                (places.at("CODEX_HOME", ".codex").join("hooks.json"), WITH_QUESTIONS, Form::Matched("Bash"))
            }
            Client::Gemini => (client.user_file(places), &["BeforeTool"], Form::Matched("run_shell_command")),
            Client::Qwen => (client.user_file(places), WITH_QUESTIONS, Form::Matched("run_shell_command|monitor")),
            Client::Cursor => (places.home.join(".cursor/hooks.json"), &["beforeShellExecution"], Form::Plain),
            Client::Copilot => {
                let name = format!("hooks/{}.json", identity::name());
                (places.at("COPILOT_HOME", ".copilot").join(name), &["preToolUse"], Form::Shell)
            }
            Client::Opencode => {
                let name = format!("opencode/plugin/{}.js", identity::name());
                (places.config().join(name), &["tool.execute.before"], Form::Plugin)
            }
            _ => return None,
        };
        Some(Self { path, events, form })
    }

    /// Returns the text of the settings with the hook that runs these words, in place of one that was there before.
    ///
    /// # Errors
    /// The text is invalid, or holds something else where the hooks belong.
    pub(super) fn with(&self, text: &str, words: &[String], mark: &str) -> Result<String, Problem> {
        if let Form::Plugin = self.form {
            return Ok(PLUGIN.replace("COMMAND", &json!(words).to_string()).replace("PROGRAM", identity::name()));
        }
        let command = line(words);
        settings::edited(text, |root| {
            let hooks = root.object_value_or_create("hooks").ok_or_else(|| Problem::NoObject("hooks".to_owned()))?;
            if let Form::Plain | Form::Shell = self.form
                && root.get("version").is_none()
            {
                drop(root.append("version", settings::input(&json!(1))));
            }
            let entry = self.entry(&command);
            for event in self.events {
                let no_list = || Problem::NoObject(format!("hooks.{event}"));
                put(&hooks.array_value_or_create(event).ok_or_else(no_list)?, &entry, mark);
            }
            Ok(())
        })
    }

    /// Returns the text of the settings without the hook; `None` if nothing is left of the file.
    ///
    /// # Errors
    /// The text is invalid, or holds something else where the hooks belong.
    pub(super) fn without(&self, text: &str, mark: &str) -> Result<Option<String>, Problem> {
        if let Form::Plugin = self.form {
            return Ok(None);
        }
        let text = settings::edited(text, |root| {
            let Some(hooks) = root.object_value("hooks") else { return Ok(()) };
            for event in self.events {
                let Some(list) = hooks.array_value(event) else { continue };
                while let Some((at, _)) = own(&list, mark) {
                    let Some(element) = list.elements().get(at).cloned() else { break };
                    element.remove();
                }
                take_if_empty(&hooks, event, list.elements().is_empty());
            }
            take_if_empty(root, "hooks", hooks.properties().is_empty());
            Ok(())
        });
        text.map(Some)
    }

    /// The command of the hook in the text of settings, if it is there.
    pub(super) fn command(&self, text: &str, mark: &str) -> Option<String> {
        if let Form::Plugin = self.form {
            let words = text.lines().find_map(|line| line.strip_prefix("const command = ")?.strip_suffix(';'));
            let words: Vec<String> = serde_json::from_str(words?).ok()?;
            return Some(line(&words)).filter(|line| line.contains(mark));
        }
        let value = settings::value(text).ok()?;
        let entries = self.events.iter().filter_map(|event| value["hooks"][event].as_array());
        entries.flatten().find_map(|entry| command_of(entry, mark))
    }

    fn entry(&self, command: &str) -> Value {
        match self.form {
            Form::Matched(tools) => {
                json!({ "matcher": tools, "hooks": [{ "type": "command", "command": command }] })
            }
            // Without these a hook whose program is gone lets every line through.
            Form::MatchedClosed(tools) => {
                json!({ "matcher": tools, "hooks": [{ "type": "command", "command": command, "onFailure": "block" }] })
            }
            Form::Plain => json!({ "command": command, "failClosed": true }),
            Form::Shell | Form::Plugin => json!({ "type": "command", "bash": command }),
        }
    }
}

/// What the user still has to know or do, once the hook is written.
pub(super) fn advice(client: Client) -> Option<&'static str> {
    match client {
        Client::Codex => Some(
            "Codex runs it once you have trusted it: `/hooks` in Codex. It lets lines run if the program of the hook is gone.",
        ),
        Client::Qwen => Some("Qwen Code lets lines run if the program of the hook is gone."),
        Client::Opencode => {
            Some("opencode cannot be told to ask you, so the hook stops what the policy denies and no more.")
        }
        _ => None,
    }
}

/// The words as a line of a shell.
fn line(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Puts an entry into a list, in place of the one that starts this program.
fn put(list: &CstArray, entry: &Value, mark: &str) {
    match own(list, mark) {
        Some((_, found)) if found == *entry => {}
        Some((at, _)) => {
            if let Some(element) = list.elements().get(at).cloned() {
                element.remove();
            }
            drop(list.insert(at, settings::input(entry)));
        }
        None => drop(list.append(settings::input(entry))),
    }
}

fn take_if_empty(object: &CstObject, key: &str, is_empty: bool) {
    if let Some(property) = object.get(key).filter(|_| is_empty) {
        property.remove();
    }
}

/// The entry of a list that runs a command with these words, with its place.
fn own(list: &CstArray, mark: &str) -> Option<(usize, Value)> {
    let values = list.elements().into_iter().map(|element| element.to_serde_value().unwrap_or_default());
    values.enumerate().find(|(_, value)| command_of(value, mark).is_some())
}

/// The command of an entry that starts this program with these words.
fn command_of(entry: &Value, mark: &str) -> Option<String> {
    let inner = entry["hooks"].as_array().into_iter().flatten();
    let commands =
        std::iter::once(entry).chain(inner).filter_map(|entry| entry["command"].as_str().or(entry["bash"].as_str()));
    commands.into_iter().find(|command| command.contains(mark) && command.contains(identity::name())).map(str::to_owned)
}
