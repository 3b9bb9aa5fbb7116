//! [`UserRules`]: rules of a user for lines, and which lines they are about.

use climax_catalog::policy::NamePattern;
use climax_shell::parse;

/// The rules, each the text in `Bash(…)`; empty for `Bash` alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UserRules {
    pub(crate) deny: Vec<String>,
    pub(crate) ask: Vec<String>,
    pub(crate) allow: Vec<String>,
    /// Whether a rule that cannot be read may ask about any line.
    pub(crate) asks_always: bool,
}

impl UserRules {
    /// Returns whether a rule denies a line, or a command of it.
    pub(crate) fn deny(&self, line: &str) -> bool {
        any(&self.deny, line)
    }

    /// Returns whether a rule asks about a line, or about a command of it.
    pub(crate) fn ask(&self, line: &str) -> bool {
        self.asks_always || any(&self.ask, line)
    }

    /// Returns whether rules allow every command of a line.
    pub(crate) fn allow(&self, line: &str) -> bool {
        let commands = commands(line);
        !commands.is_empty() && commands.iter().all(|command| self.allow.iter().any(|rule| matches(rule, command)))
    }
}

fn any(rules: &[String], line: &str) -> bool {
    !rules.is_empty()
        && commands(line)
            .into_iter()
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

/// The commands of a line as they are typed, those in words and in compound commands too; the whole line if it is not read.
fn commands(line: &str) -> Vec<&str> {
    let Ok(script) = parse(line) else { return vec![line.trim()] };
    let commands = script.list.commands().into_iter();
    commands.filter_map(|command| line.get(command.range.clone())).map(str::trim).collect()
}
