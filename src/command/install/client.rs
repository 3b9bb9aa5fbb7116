//! The clients that climax can be installed in: their settings files and entries.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::{Map, Value, json};

use super::settings::Format;
use crate::identity;

/// A client with settings that name MCP servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    /// Claude Code
    ClaudeCode,
    /// Claude Desktop
    ClaudeDesktop,
    /// Cursor
    Cursor,
    /// Visual Studio Code
    Vscode,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
    /// opencode
    Opencode,
    /// Qwen Code
    Qwen,
    /// Copilot CLI
    Copilot,
    /// Zed
    Zed,
}

/// The directories and variables from which the places of settings follow.
pub(super) struct Places {
    pub(super) home: PathBuf,
    /// Looks up a variable of the environment; an empty one counts as unset.
    pub(super) variable: fn(&str) -> Option<PathBuf>,
}

impl Places {
    /// The directory of the user's configuration files.
    pub(super) fn config(&self) -> PathBuf {
        self.at("XDG_CONFIG_HOME", ".config")
    }

    /// The directory of applications that follow the rules of the system's desktop.
    fn applications(&self) -> PathBuf {
        if cfg!(target_os = "macos") { self.home.join("Library/Application Support") } else { self.config() }
    }

    /// The directory that a variable names, or one in the home directory.
    pub(super) fn at(&self, variable: &str, in_home: &str) -> PathBuf {
        (self.variable)(variable).unwrap_or_else(|| self.home.join(in_home))
    }
}

impl Client {
    /// The name that people know.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cursor => "Cursor",
            Self::Vscode => "VS Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Opencode => "opencode",
            Self::Qwen => "Qwen Code",
            Self::Copilot => "Copilot CLI",
            Self::Zed => "Zed",
        }
    }

    /// The language of the settings.
    pub(super) fn format(self) -> Format {
        if self == Self::Codex { Format::Toml } else { Format::Json }
    }

    /// The key of the settings that holds the servers.
    pub(super) fn servers_key(self) -> &'static str {
        match self {
            Self::Vscode => "servers",
            Self::Codex => "mcp_servers",
            Self::Opencode => "mcp",
            Self::Zed => "context_servers",
            _ => "mcpServers",
        }
    }

    /// The file of the user's settings.
    pub(super) fn user_file(self, places: &Places) -> PathBuf {
        match self {
            Self::ClaudeCode => places.at("CLAUDE_CONFIG_DIR", "").join(".claude.json"),
            Self::ClaudeDesktop => places.applications().join("Claude/claude_desktop_config.json"),
            Self::Cursor => places.home.join(".cursor/mcp.json"),
            Self::Vscode => places.applications().join("Code/User/mcp.json"),
            Self::Codex => places.at("CODEX_HOME", ".codex").join("config.toml"),
            Self::Gemini => places.at("GEMINI_CLI_HOME", "").join(".gemini/settings.json"),
            Self::Opencode => with_comments(places.config().join("opencode/opencode.json")),
            Self::Qwen => places.at("QWEN_HOME", ".qwen").join("settings.json"),
            Self::Copilot => places.at("COPILOT_HOME", ".copilot").join("mcp-config.json"),
            Self::Zed => places.home.join(".config/zed/settings.json"),
        }
    }

    /// The file of a project's settings, if the client has such.
    pub(super) fn project_file(self, project: &Path) -> Option<PathBuf> {
        let name = match self {
            Self::ClaudeCode => ".mcp.json",
            Self::Cursor => ".cursor/mcp.json",
            Self::Vscode => ".vscode/mcp.json",
            Self::Codex => ".codex/config.toml",
            Self::Gemini => ".gemini/settings.json",
            Self::Opencode => return Some(with_comments(project.join("opencode.json"))),
            Self::Qwen => ".qwen/settings.json",
            Self::Zed => ".zed/settings.json",
            Self::ClaudeDesktop | Self::Copilot => return None,
        };
        Some(project.join(name))
    }

    /// The entry of the settings that starts `command` with these arguments.
    pub(super) fn entry(self, command: &str, args: &[String]) -> Map<String, Value> {
        let entry = match self {
            Self::ClaudeCode | Self::Vscode => json!({ "type": "stdio", "command": command, "args": args }),
            Self::Opencode => {
                let words: Vec<&str> = std::iter::once(command).chain(args.iter().map(String::as_str)).collect();
                json!({ "type": "local", "command": words })
            }
            Self::Qwen => json!({ "command": command, "args": args, "alwaysLoadTools": true }),
            Self::Copilot => json!({ "type": "local", "command": command, "args": args, "tools": ["*"] }),
            _ => json!({ "command": command, "args": args }),
        };
        entry.as_object().cloned().unwrap_or_default()
    }

    /// What the user still has to know or do.
    pub(super) fn advice(self) -> Cow<'static, str> {
        let advice = match self {
            Self::ClaudeCode => "Start a new session. `/mcp` shows the server.",
            Self::ClaudeDesktop => "Quit Claude Desktop and start it again.",
            Self::Cursor => "Cursor asks once whether the server may start: see its settings, MCP.",
            Self::Vscode => "Choose `MCP: List Servers` in VS Code to start the server.",
            Self::Codex => "Start a new session. In a project, Codex reads settings only if it trusts the project.",
            Self::Gemini => "Gemini CLI starts servers only in trusted folders.",
            Self::Opencode | Self::Qwen => "Start a new session.",
            Self::Copilot => {
                let server = identity::name();
                return format!("`copilot --allow-tool {server}` stops the questions before each call.").into();
            }
            Self::Zed => "The agent panel of Zed shows the server.",
        };
        advice.into()
    }
}

/// Returns the file itself, or that of the same name with comments if only that exists.
fn with_comments(file: PathBuf) -> PathBuf {
    let commented = file.with_extension("jsonc");
    if !file.exists() && commented.exists() { commented } else { file }
}
