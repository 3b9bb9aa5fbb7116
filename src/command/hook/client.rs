//! The messages of agents to their hooks, and the answers that they understand.
//!
//! Source: the documentation of each agent's hooks, and what they do: Claude Code 2.1.331, Codex 0.169, Gemini CLI 0.61,
//! Qwen Code 0.24, Copilot CLI 1.0.102 and opencode 1.18 were run with a hook (`tests/hooks`), Cursor was not.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::call::judge::ShellLife;

/// An agent with hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum HookClient {
    /// Claude Code
    ClaudeCode,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
    /// Qwen Code
    Qwen,
    /// Copilot CLI
    Copilot,
    /// Cursor
    Cursor,
    /// opencode, by a plugin
    Opencode,
}

/// What an agent is about to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// The line.
    pub(super) line: String,
    /// The input of the agent's tool, of which the line is one field.
    pub(super) input: Map<String, Value>,
    /// Where its shell is.
    pub(super) directory: Option<PathBuf>,
    /// Whether nobody can be asked: the agent runs in a mode without questions, or cannot be told to put one and does not say
    /// its mode.
    pub(super) asks_nobody: bool,
    /// When the agent says so.
    pub(super) moment: Moment,
}

/// When an agent starts its hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// Before a line runs.
    BeforeRun,
    /// Before the user is asked about a line, after the rules of the agent that deny it: an answer takes the user's place.
    BeforeQuestion {
        /// Whether the agent runs another line in its place.
        takes_another: bool,
    },
}

/// What the agent is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Nothing, so that its own rules decide.
    Nothing,
    /// To run the line, or this one in its place.
    Allow(Option<String>),
    /// To ask the user, with the reason.
    Ask(String),
    /// Not to run it, with the reason.
    Deny(String),
}

impl Answer {
    /// Returns the name in the audit file.
    pub(super) fn as_str(&self) -> &'static str {
        match self {
            Self::Nothing => "none",
            Self::Allow(_) => "allow",
            Self::Ask(_) => "ask",
            Self::Deny(_) => "deny",
        }
    }
}

/// Names of the tools by which agents run lines.
const SHELL_TOOLS: [&str; 5] = ["Bash", "bash", "shell", "run_shell_command", "local_shell"];

/// Names of the tools by which Claude Code and Qwen Code watch the output of a line, or of something that is no line.
const WATCHING_TOOLS: [&str; 2] = ["Monitor", "monitor"];

/// Modes of agents in which nobody is asked.
const UNATTENDED: [&str; 5] = ["bypassPermissions", "dontAsk", "yolo", "never", "full-auto"];

/// The event in which Codex and Qwen Code start a hook before they ask the user.
const QUESTION: &str = "PermissionRequest";

impl HookClient {
    /// Returns how long the shell lives that runs a line of the agent.
    ///
    /// Claude Code alone takes over the directory of the line before. Copilot CLI keeps shells, and of Cursor nothing is known.
    pub(super) fn shell(self) -> ShellLife {
        match self {
            Self::ClaudeCode | Self::Codex | Self::Gemini | Self::Qwen | Self::Opencode => ShellLife::Line,
            Self::Copilot | Self::Cursor => ShellLife::Session,
        }
    }

    /// Reads the message of an agent; `None` if it is about something else than a line.
    ///
    /// # Errors
    /// It has another form.
    pub(super) fn request(self, message: &str) -> Result<Option<Request>, String> {
        let message: Value =
            serde_json::from_str(message).map_err(|error| format!("the message is no JSON: {error}"))?;
        let text = |names: &[&str]| names.iter().find_map(|name| message[*name].as_str());
        let input = match self {
            Self::Cursor | Self::Opencode => message.clone(),
            _ => {
                let tool = text(&["tool_name", "toolName"]).ok_or("the message names no tool")?;
                let input = tool_input(&message);
                let has_line = SHELL_TOOLS.contains(&tool)
                    || WATCHING_TOOLS.contains(&tool) && input.get("command").is_some_and(|line| !line.is_null());
                if !has_line {
                    return Ok(None);
                }
                input
            }
        };
        let line = input["command"].as_str().ok_or("the message has no line")?;
        let mode = text(&["permission_mode", "permissionMode", "approval_mode"]).unwrap_or_default();
        let moment = match text(&["hook_event_name"]) {
            Some(QUESTION) if self == Self::Codex && is_about_network(&input) => return Ok(None),
            // Qwen Code takes the line as it is, or none, where it plans.
            Some(QUESTION) => Moment::BeforeQuestion { takes_another: self == Self::Qwen && mode != "plan" },
            _ => Moment::BeforeRun,
        };
        Ok(Some(Request {
            line: line.to_owned(),
            directory: directory(text(&["cwd"]), &input),
            input: input.as_object().cloned().unwrap_or_default(),
            asks_nobody: UNATTENDED.contains(&mode) || matches!(self, Self::Gemini | Self::Opencode),
            moment,
        }))
    }

    /// Returns whether the agent can be told to ask the user. Gemini CLI can, and then waits forever where it runs without one.
    pub(super) fn can_ask(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::Qwen | Self::Copilot | Self::Cursor)
    }

    /// Returns the answer that lets a line run.
    ///
    /// Before a line runs only Claude Code takes a rewritten one, since the user's rules of the others, which this hook does
    /// not read, would be applied to what it was rewritten to. Copilot's own rules that deny a line do not hold against a hook
    /// that allows it, and the others are not moved by one that does. Before a question the rules have been applied to the line
    /// as it was typed.
    pub(super) fn allowed(self, moment: Moment, rewritten: Option<String>) -> Answer {
        match (moment, self, rewritten) {
            (Moment::BeforeQuestion { takes_another: true }, _, rewritten)
            | (Moment::BeforeRun, Self::ClaudeCode, rewritten) => Answer::Allow(rewritten),
            (Moment::BeforeQuestion { .. }, _, None) | (Moment::BeforeRun, Self::Cursor, None) => Answer::Allow(None),
            _ => Answer::Nothing,
        }
    }

    /// Returns the answer in the format of the agent. `input` is what the agent said; a rewritten line goes back within it,
    /// because agents take what a hook returns for the whole input.
    pub(super) fn rendered(self, answer: &Answer, moment: Moment, input: &Map<String, Value>) -> Value {
        let (reason, rewritten) = match answer {
            Answer::Nothing => return json!({}),
            Answer::Allow(rewritten) => (None, rewritten.as_deref()),
            Answer::Ask(reason) | Answer::Deny(reason) => (Some(reason.as_str()), None),
        };
        let decision = answer.as_str();
        let input = rewritten.map(|line| {
            let mut input = input.clone();
            input.insert("command".to_owned(), line.into());
            input
        });
        if let Moment::BeforeQuestion { .. } = moment {
            return question_answered(answer, input);
        }
        match self {
            Self::ClaudeCode | Self::Codex | Self::Qwen => {
                let mut output = Map::new();
                output.insert("hookEventName".to_owned(), "PreToolUse".into());
                output.insert("permissionDecision".to_owned(), decision.into());
                output.extend(reason.map(|reason| ("permissionDecisionReason".to_owned(), reason.into())));
                output.extend(input.map(|input| ("updatedInput".to_owned(), input.into())));
                json!({ "hookSpecificOutput": output })
            }
            Self::Copilot => json!({ "permissionDecision": decision, "permissionDecisionReason": reason }),
            Self::Cursor => {
                let reason = reason.unwrap_or_default();
                json!({ "permission": decision, "user_message": reason, "agent_message": reason })
            }
            Self::Gemini | Self::Opencode => json!({ "decision": decision, "reason": reason }),
        }
    }
}

/// The answer in place of the user's. What is to be asked about is left to the question.
fn question_answered(answer: &Answer, input: Option<Map<String, Value>>) -> Value {
    let mut decision = Map::new();
    match answer {
        Answer::Nothing | Answer::Ask(_) => return json!({}),
        Answer::Allow(_) => {
            decision.insert("behavior".to_owned(), "allow".into());
            decision.extend(input.map(|input| ("updatedInput".to_owned(), input.into())));
        }
        Answer::Deny(reason) => {
            decision.insert("behavior".to_owned(), "deny".into());
            decision.insert("message".to_owned(), reason.as_str().into());
        }
    }
    json!({ "hookSpecificOutput": { "hookEventName": QUESTION, "decision": decision } })
}

/// Whether Codex asks about a host that a running line reaches, and not about the line.
fn is_about_network(input: &Value) -> bool {
    input["description"].as_str().is_some_and(|text| text.starts_with("network-access"))
}

/// The input of a tool, which older versions of Copilot CLI send as a text that holds JSON.
fn tool_input(message: &Value) -> Value {
    let input = message.get("tool_input").or(message.get("toolArgs")).unwrap_or(&Value::Null);
    input.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_else(|| input.clone())
}

/// Where a line runs: in the directory that the input of the tool names, else in that of the session.
fn directory(session: Option<&str>, input: &Value) -> Option<PathBuf> {
    // Gemini CLI and Qwen Code.
    let own = ["dir_path", "directory"].into_iter().find_map(|name| input[name].as_str());
    let parts: Vec<&str> = [session, own].into_iter().flatten().filter(|path| !path.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_each_agent_are_read() {
        for (client, message) in [
            (
                HookClient::ClaudeCode,
                json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "cwd": "/x", "permission_mode": "default"}),
            ),
            (
                HookClient::Codex,
                json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "cwd": "/x", "model": "m"}),
            ),
            (
                HookClient::Gemini,
                json!({"tool_name": "run_shell_command", "tool_input": {"command": "ls"}, "cwd": "/x"}),
            ),
            (HookClient::Qwen, json!({"tool_name": "run_shell_command", "tool_input": {"command": "ls"}, "cwd": "/x"})),
            (HookClient::Copilot, json!({"toolName": "bash", "toolArgs": "{\"command\": \"ls\"}", "cwd": "/x"})),
            (HookClient::Cursor, json!({"command": "ls", "cwd": "/x"})),
            (HookClient::Opencode, json!({"command": "ls", "cwd": "/x"})),
        ] {
            let request = client.request(&message.to_string()).unwrap().unwrap();
            assert_eq!(request.line, "ls", "{client:?}");
            assert_eq!(request.directory, Some("/x".into()), "{client:?}");
        }
        for (client, input, expected) in [
            (HookClient::Gemini, json!({"command": "ls", "dir_path": "sub"}), "/x/sub"),
            (HookClient::Qwen, json!({"command": "ls", "directory": "/y"}), "/y"),
        ] {
            let message = json!({"tool_name": "run_shell_command", "tool_input": input, "cwd": "/x"});
            let request = client.request(&message.to_string()).unwrap().unwrap();
            assert_eq!(request.directory, Some(expected.into()), "{client:?}");
        }
        for (tool, input) in [("Read", json!({"file_path": "x"})), ("Monitor", json!({"ws": {"url": "wss://x"}}))] {
            let other = json!({"tool_name": tool, "tool_input": input});
            assert_eq!(HookClient::ClaudeCode.request(&other.to_string()), Ok(None), "{tool}");
        }
        for (client, tool) in [(HookClient::ClaudeCode, "Monitor"), (HookClient::Qwen, "monitor")] {
            let watching = json!({"tool_name": tool, "tool_input": {"command": "tail -f x"}});
            let request = client.request(&watching.to_string()).unwrap().unwrap();
            assert_eq!(request.line, "tail -f x", "{client:?}");
        }
        for broken in
            ["", "{}", "[]", r#"{"tool_name": "Bash"}"#, r#"{"tool_name": "Bash", "tool_input": {"command": 1}}"#]
        {
            assert!(HookClient::ClaudeCode.request(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn rewritten_lines_keep_the_rest_of_the_input() {
        let message = json!({"tool_name": "Bash", "tool_input": {"command": "ls", "run_in_background": true}});
        let request = HookClient::ClaudeCode.request(&message.to_string()).unwrap().unwrap();
        let answer = Answer::Allow(Some("x".to_owned()));
        let rendered = HookClient::ClaudeCode.rendered(&answer, request.moment, &request.input);
        let expected = json!({"command": "x", "run_in_background": true});
        assert_eq!(rendered["hookSpecificOutput"]["updatedInput"], expected);
    }

    #[test]
    fn questions_are_answered_in_their_own_form() {
        let message = |mode: &str, input: Value| {
            json!({"hook_event_name": QUESTION, "tool_name": "Bash", "tool_input": input, "permission_mode": mode})
                .to_string()
        };
        let input = json!({"command": "ls *", "directory": "/x"});
        let request = HookClient::Qwen.request(&message("default", input.clone())).unwrap().unwrap();
        assert_eq!(request.moment, Moment::BeforeQuestion { takes_another: true });
        let allowed = HookClient::Qwen.rendered(&Answer::Allow(Some("x".to_owned())), request.moment, &request.input);
        let decision = json!({"behavior": "allow", "updatedInput": {"command": "x", "directory": "/x"}});
        assert_eq!(
            allowed,
            json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}})
        );
        let planning = HookClient::Qwen.request(&message("plan", input)).unwrap().unwrap();
        assert_eq!(planning.moment, Moment::BeforeQuestion { takes_another: false });

        let input = json!({"command": "ls", "description": "why"});
        let request = HookClient::Codex.request(&message("default", input)).unwrap().unwrap();
        assert_eq!(request.moment, Moment::BeforeQuestion { takes_another: false });
        let denied = HookClient::Codex.rendered(&Answer::Deny("no".to_owned()), request.moment, &request.input);
        assert_eq!(denied["hookSpecificOutput"]["decision"], json!({"behavior": "deny", "message": "no"}));
        let network = json!({"command": "curl x", "description": "network-access https://x.example:443"});
        assert_eq!(HookClient::Codex.request(&message("default", network)), Ok(None), "no line is asked about");
    }
}
