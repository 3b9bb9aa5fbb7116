//! The rules of a user's settings for lines: what an agent is told to deny, to ask about and to allow.

mod claude_code;
mod codex;
mod qwen;

use std::fs;
use std::path::{Path, PathBuf};

use climax_catalog::policy::NamePattern;
use climax_shell::{Body, List, parse};

use super::client::{HookClient, Moment};
use crate::exec;

/// The rules, each the text in `Bash(…)`; empty for `Bash` alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UserRules {
    pub(super) deny: Vec<String>,
    pub(super) ask: Vec<String>,
    pub(super) allow: Vec<String>,
    /// Whether a rule that cannot be read may ask about any line.
    pub(super) asks_always: bool,
}

impl UserRules {
    /// Reads the rules that an answer of the hook could slip past, for lines that run in a directory.
    ///
    /// Claude Code applies its rules to the line that a hook returns. Codex and Qwen Code apply theirs to what was typed and
    /// start the hook afterwards, in place of the question, so that only those which ask are left to it.
    pub(super) fn of(client: HookClient, moment: Moment, directory: &Path) -> Self {
        let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        match (client, moment) {
            (HookClient::ClaudeCode, _) => claude_code::rules(&directory),
            (HookClient::Codex, Moment::BeforeQuestion { .. }) => codex::rules(&directory),
            (HookClient::Qwen, Moment::BeforeQuestion { .. }) => qwen::rules(&directory),
            _ => Self::default(),
        }
    }

    /// Returns whether a rule denies a line, or a command of it.
    pub(super) fn deny(&self, line: &str) -> bool {
        any(&self.deny, line)
    }

    /// Returns whether a rule asks about a line, or about a command of it.
    pub(super) fn ask(&self, line: &str) -> bool {
        self.asks_always || any(&self.ask, line)
    }

    /// Returns whether rules allow every command of a line.
    pub(super) fn allow(&self, line: &str) -> bool {
        let commands = commands(line);
        !commands.is_empty() && commands.iter().all(|command| self.allow.iter().any(|rule| matches(rule, command)))
    }
}

/// The directory that a variable names, or one in the home directory.
fn own_directory(variable: &str, in_home: &str) -> Option<PathBuf> {
    let home = exec::variable("HOME").map(PathBuf::from);
    exec::variable(variable).map(PathBuf::from).or(home.map(|home| home.join(in_home)))
}

/// The files of a directory whose names end so; none if it cannot be listed.
fn files_of(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.to_string_lossy().ends_with(ending)).collect()
}

fn any(rules: &[String], line: &str) -> bool {
    !rules.is_empty()
        && commands(line)
            .iter()
            .map(String::as_str)
            .chain([line.trim()])
            .any(|command| rules.iter().any(|rule| matches(rule, command)))
}

/// Returns whether a rule is about a command. `:*` at its end stands for any further words, and `*` for any characters.
fn matches(rule: &str, command: &str) -> bool {
    if let Some(start) = rule.strip_suffix(":*") {
        return command
            .strip_prefix(start)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace));
    }
    rule.is_empty() || NamePattern::new(rule).matches(command)
}

/// The commands of a line as they are typed; the whole line if it is not read.
fn commands(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    match parse(line) {
        Ok(script) => of_list(line, &script.list, &mut found),
        Err(_) => found.push(line.trim().to_owned()),
    }
    found
}

fn of_list(line: &str, list: &List, found: &mut Vec<String>) {
    for chain in &list.items {
        for pipeline in std::iter::once(&chain.first).chain(chain.rest.iter().map(|(_, pipeline)| pipeline)) {
            for command in &pipeline.commands {
                match &command.body {
                    Body::Subshell(list) | Body::Group(list) => of_list(line, list, found),
                    // A compound command counts as a whole, and so does what is in it.
                    Body::For(own) => of_list(line, &own.body, found),
                    Body::While(own) => {
                        of_list(line, &own.condition, found);
                        of_list(line, &own.body, found);
                    }
                    Body::If(own) => {
                        for branch in &own.branches {
                            of_list(line, &branch.condition, found);
                            of_list(line, &branch.body, found);
                        }
                        own.otherwise.iter().for_each(|list| of_list(line, list, found));
                    }
                    _ => {}
                }
                found.extend(line.get(command.range.clone()).map(|text| text.trim().to_owned()));
            }
        }
    }
}
