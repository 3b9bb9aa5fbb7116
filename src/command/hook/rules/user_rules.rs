//! [`UserRules`]: rules of a user for lines, and which lines they are about.

use climax_catalog::policy::NamePattern;
use climax_shell::{Body, List, parse};

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
