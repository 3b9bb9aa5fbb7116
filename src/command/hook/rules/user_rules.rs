//! [`UserRules`]: rules of a user for lines, and which lines they are about.

use climax_catalog::policy::NamePattern;
use climax_shell::parse;

/// The rules, each the text in `Bash(…)`; empty for `Bash` alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UserRules {
    pub(crate) deny: Vec<String>,
    pub(crate) ask: Vec<String>,
    pub(crate) allow: Vec<String>,
    /// The paths of rules for files that deny or ask, each the text in `Read(…)` or `Edit(…)`.
    pub(crate) files: Vec<String>,
    /// Whether a file of settings cannot be read, so that it may hold rules about any line.
    pub(crate) is_unread: bool,
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

    /// Returns whether a rule that denies or asks may be about what a line does, though not as it is typed: its words stand in
    /// the line, in their order, and others among them, as `git push` does in `git -C a 'push'` and in `timeout 5 git push`.
    pub(crate) fn may_concern(&self, line: &str) -> bool {
        let words = bare_words(line);
        let stands = |rule: &String| {
            let mut rest = words.iter();
            let own = bare_words(rule.trim_end_matches(":*"));
            own.iter().filter(|word| *word != "*").all(|word| rest.any(|other| is_alike(word, other)))
        };
        let is_named = |path: &String| {
            let own = path.split('/').rev().find(|part| !matches!(*part, "" | "*" | "**"));
            own.is_none_or(|own| words.iter().any(|word| is_alike(own, word)))
        };
        self.is_unread || self.deny.iter().chain(&self.ask).any(stands) || self.files.iter().any(is_named)
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

/// The words of a text without quotes, signs of the shell and the directories of paths, which stand as words of their own.
fn bare_words(text: &str) -> Vec<String> {
    let bare: String = text.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
    let words = bare.split(|c: char| c.is_whitespace() || ";|&()<>{}$`=,/".contains(c));
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Whether a word of a rule, which may have patterns, stands for another word.
fn is_alike(rule: &str, word: &str) -> bool {
    NamePattern::new(rule).matches(word)
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
