//! The rules of a user's settings for lines: what Claude Code is told to deny, to ask about and to allow.
//!
//! Source: the documentation of Claude Code, "Settings" and "Permissions".

use std::fs;
use std::path::{Path, PathBuf};

use climax_catalog::policy::NamePattern;
use climax_shell::{Body, List, parse};
use serde_json::Value;

use crate::exec;

/// The rules, each the text in `Bash(…)`; empty for `Bash` alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UserRules {
    pub(super) deny: Vec<String>,
    pub(super) ask: Vec<String>,
    pub(super) allow: Vec<String>,
}

impl UserRules {
    /// Reads the rules of the user, of the project of a directory, and of whoever manages this machine.
    pub(super) fn of(directory: &Path) -> Self {
        let home = exec::variable("HOME").map(PathBuf::from);
        let own = exec::variable("CLAUDE_CONFIG_DIR").map(PathBuf::from).or(home.map(|home| home.join(".claude")));
        let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        let projects = directory
            .ancestors()
            .flat_map(|path| ["settings.json", "settings.local.json"].map(|name| path.join(".claude").join(name)));
        let files = own.map(|own| own.join("settings.json")).into_iter().chain(projects);
        let managed =
            ["/etc/claude-code/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.json"];

        let mut rules = Self::default();
        for file in files.chain(managed.map(PathBuf::from)) {
            rules.add(&fs::read_to_string(file).unwrap_or_default());
        }
        rules
    }

    /// Adds the rules of a settings file. What is no JSON has none.
    fn add(&mut self, text: &str) {
        let settings: Value = serde_json::from_str(text).unwrap_or_default();
        for (name, rules) in [("deny", &mut self.deny), ("ask", &mut self.ask), ("allow", &mut self.allow)] {
            let written = settings["permissions"][name].as_array().into_iter().flatten().filter_map(Value::as_str);
            rules.extend(written.filter_map(|rule| {
                let rest = rule.strip_prefix("Bash")?;
                if rest.is_empty() {
                    return Some(String::new());
                }
                Some(rest.strip_prefix('(')?.strip_suffix(')')?.to_owned())
            }));
        }
    }

    /// Returns whether a rule denies a line, or a command of it.
    pub(super) fn deny(&self, line: &str) -> bool {
        any(&self.deny, line)
    }

    /// Returns whether a rule asks about a line, or about a command of it.
    pub(super) fn ask(&self, line: &str) -> bool {
        any(&self.ask, line)
    }

    /// Returns whether rules allow every command of a line.
    pub(super) fn allow(&self, line: &str) -> bool {
        let commands = commands(line);
        !commands.is_empty() && commands.iter().all(|command| self.allow.iter().any(|rule| matches(rule, command)))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_about_each_command_of_a_line() {
        let mut rules = UserRules::default();
        rules.add(r#"{"permissions": {"deny": ["Bash(rm:*)", "Read(./.env)"], "ask": ["Bash(git push *)"], "allow": ["Bash(ls)", "Bash(npm run test:*)"]}}"#);
        for (line, is_denied) in [
            ("rm x", true),
            ("rm", true),
            ("rmdir x", false),
            ("ls && rm x", true),
            ("for f in *; do rm $f; done", true),
            ("(cd a; rm b) | cat", true),
            ("echo rm", false),
        ] {
            assert_eq!(rules.deny(line), is_denied, "{line}");
        }
        assert!(rules.ask("git push origin main") && !rules.ask("git pushx"));
        assert!(rules.allow("ls") && rules.allow("npm run test -- -x && ls"));
        assert!(!rules.allow("ls -l") && !rules.allow("ls && rm x") && !rules.allow("npm run testx"));
    }

    #[test]
    fn rule_without_a_text_is_about_every_line() {
        let mut rules = UserRules::default();
        rules.add(r#"{"permissions": {"deny": ["Bash"]}}"#);
        assert!(rules.deny("ls"));
    }
}
