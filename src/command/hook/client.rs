//! The messages of agents to their hooks, and the answers that they understand.
//!
//! Source: the documentation of each agent's hooks, and what they do: Claude Code 2.1.331, Codex 0.169, Gemini CLI 0.61,
//! Qwen Code 0.24, Copilot CLI 1.0.102 and opencode 1.18 were run with a hook (`tests/hooks`), Cursor was not.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

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

/// Modes of agents in which nobody is asked.
const UNATTENDED: [&str; 5] = ["bypassPermissions", "dontAsk", "yolo", "never", "full-auto"];

impl HookClient {
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
                if !SHELL_TOOLS.contains(&tool) {
                    return Ok(None);
                }
                tool_input(&message)
            }
        };
        let line = input["command"].as_str().ok_or("the message has no line")?;
        let mode = text(&["permission_mode", "permissionMode", "approval_mode"]).unwrap_or_default();
        Ok(Some(Request {
            line: line.to_owned(),
            directory: directory(text(&["cwd"]), &input),
            input: input.as_object().cloned().unwrap_or_default(),
            asks_nobody: UNATTENDED.contains(&mode) || matches!(self, Self::Gemini | Self::Opencode),
        }))
    }

    /// Returns whether the agent can be told to ask the user. Gemini CLI can, and then waits forever where it runs without one.
    pub(super) fn can_ask(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::Qwen | Self::Copilot | Self::Cursor)
    }

    /// Returns whether the user's settings of the agent have rules for lines, which a rewritten line would slip past.
    pub(super) fn has_rules(self) -> bool {
        self == Self::ClaudeCode
    }

    /// Returns the answer that lets a line run.
    ///
    /// Only Claude Code runs a rewritten line, since the user's rules of the others, which this hook does not read, would be
    /// applied to what it was rewritten to. Copilot's own rules that deny a line do not hold against a hook that allows it, and
    /// the others are not moved by one that does.
    pub(super) fn allowed(self, rewritten: Option<String>) -> Answer {
        match (self, rewritten) {
            (Self::ClaudeCode, rewritten) => Answer::Allow(rewritten),
            (Self::Cursor, None) => Answer::Allow(None),
            _ => Answer::Nothing,
        }
    }

    /// Returns the answer in the format of the agent. `input` is what the agent said; a rewritten line goes back within it,
    /// because agents take what a hook returns for the whole input.
    pub(super) fn rendered(self, answer: &Answer, input: &Map<String, Value>) -> Value {
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
        let other = json!({"tool_name": "Read", "tool_input": {"file_path": "x"}});
        assert_eq!(HookClient::ClaudeCode.request(&other.to_string()), Ok(None));
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
        let answer = HookClient::ClaudeCode.rendered(&Answer::Allow(Some("x".to_owned())), &request.input);
        let expected = json!({"command": "x", "run_in_background": true});
        assert_eq!(answer["hookSpecificOutput"]["updatedInput"], expected);
    }
}
