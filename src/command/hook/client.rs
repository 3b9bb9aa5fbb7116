//! The messages of agents to their hooks, and the answers that they understand.
//!
//! Source: the documentation of each agent's hooks. Claude Code 2.1, Codex 0.169, Gemini CLI, Copilot CLI, Cursor, Qwen Code.

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
    /// Where its shell is.
    pub(super) directory: Option<PathBuf>,
    /// Whether the agent runs in a mode in which it asks nobody.
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
        let line = match self {
            Self::Cursor | Self::Opencode => message["command"].as_str().map(str::to_owned),
            _ => {
                let tool = text(&["tool_name", "toolName"]).ok_or("the message names no tool")?;
                if !SHELL_TOOLS.contains(&tool) {
                    return Ok(None);
                }
                self.line(&message)
            }
        };
        let line = line.ok_or("the message has no line")?;
        let mode = text(&["permission_mode", "permissionMode", "approval_mode"]).unwrap_or_default();
        Ok(Some(Request {
            line,
            directory: text(&["cwd"]).filter(|path| !path.is_empty()).map(PathBuf::from),
            asks_nobody: UNATTENDED.contains(&mode),
        }))
    }

    /// The line in the input of a tool. Copilot sends the input as a text that holds JSON.
    fn line(self, message: &Value) -> Option<String> {
        let input = if self == Self::Copilot { &message["toolArgs"] } else { &message["tool_input"] };
        let parsed: Option<Value> = input.as_str().and_then(|text| serde_json::from_str(text).ok());
        parsed.as_ref().unwrap_or(input)["command"].as_str().map(str::to_owned)
    }

    /// Returns whether the agent can be told to ask the user.
    pub(super) fn can_ask(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::Qwen | Self::Copilot | Self::Cursor)
    }

    /// Returns whether the user's settings of the agent have rules for lines, which a rewritten line would slip past.
    pub(super) fn has_rules(self) -> bool {
        self == Self::ClaudeCode
    }

    /// Returns the answer that lets a line run. Cursor cannot replace it, so a line to rewrite is left to it.
    pub(super) fn allowed(self, rewritten: Option<String>) -> Answer {
        match (self, rewritten) {
            // Codex lets a line run only together with its text, which this hook does not repeat.
            (Self::Cursor, Some(_)) | (Self::Codex, None) => Answer::Nothing,
            (_, rewritten) => Answer::Allow(rewritten),
        }
    }

    /// Returns the answer in the format of the agent.
    pub(super) fn rendered(self, answer: &Answer) -> Value {
        let (decision, reason, rewritten) = match answer {
            Answer::Nothing => return json!({}),
            Answer::Allow(rewritten) => ("allow", None, rewritten.as_deref()),
            Answer::Ask(reason) => ("ask", Some(reason.as_str()), None),
            Answer::Deny(reason) => ("deny", Some(reason.as_str()), None),
        };
        let input = rewritten.map(|line| json!({ "command": line }));
        match self {
            Self::ClaudeCode | Self::Codex | Self::Qwen => {
                let mut output = Map::new();
                output.insert("hookEventName".to_owned(), "PreToolUse".into());
                output.insert("permissionDecision".to_owned(), decision.into());
                output.extend(reason.map(|reason| ("permissionDecisionReason".to_owned(), reason.into())));
                output.extend(input.map(|input| ("updatedInput".to_owned(), input)));
                json!({ "hookSpecificOutput": output })
            }
            Self::Gemini => {
                let mut output = json!({ "decision": decision });
                if let Some(reason) = reason {
                    output["reason"] = reason.into();
                }
                if let Some(input) = input {
                    output["hookSpecificOutput"] = json!({ "hookEventName": "BeforeTool", "tool_input": input });
                }
                output
            }
            Self::Copilot => {
                let mut output = json!({ "permissionDecision": decision });
                if let Some(reason) = reason {
                    output["permissionDecisionReason"] = reason.into();
                }
                if let Some(input) = input {
                    output["modifiedArgs"] = input;
                }
                output
            }
            Self::Cursor => {
                let reason = reason.unwrap_or_default();
                json!({ "permission": decision, "user_message": reason, "agent_message": reason })
            }
            Self::Opencode => json!({ "decision": decision, "reason": reason, "command": rewritten }),
        }
    }
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
            let expected = Request { line: "ls".to_owned(), directory: Some("/x".into()), asks_nobody: false };
            assert_eq!(request, expected, "{client:?}");
        }
        let other = json!({"tool_name": "Read", "tool_input": {"file_path": "x"}});
        assert_eq!(HookClient::ClaudeCode.request(&other.to_string()), Ok(None));
        for broken in
            ["", "{}", "[]", r#"{"tool_name": "Bash"}"#, r#"{"tool_name": "Bash", "tool_input": {"command": 1}}"#]
        {
            assert!(HookClient::ClaudeCode.request(broken).is_err(), "{broken}");
        }
    }
}
