//! The rules of a user's settings for lines: what an agent is told to deny, to ask about and to allow.

mod claude_code;
mod codex;
mod places;
mod qwen;
mod user_rules;

use std::path::Path;

pub(super) use self::user_rules::UserRules;
use super::client::{HookClient, Moment};

/// Reads the rules that an answer of the hook could slip past, for lines that run in a directory.
///
/// Claude Code applies its rules to the line that a hook returns. Codex and Qwen Code apply theirs to what was typed and start the
/// hook afterwards, in place of the question, so that only those which ask are left to it.
pub(super) fn of_user(client: HookClient, moment: Moment, directory: &Path) -> UserRules {
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    match (client, moment) {
        (HookClient::ClaudeCode, _) => claude_code::rules(&directory),
        (HookClient::Codex, Moment::BeforeQuestion { .. }) => codex::rules(&directory),
        (HookClient::Qwen, Moment::BeforeQuestion { .. }) => qwen::rules(&directory),
        _ => UserRules::default(),
    }
}
