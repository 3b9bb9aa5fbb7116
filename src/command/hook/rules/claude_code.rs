//! The rules of Claude Code, from its settings and from its command line.
//!
//! Source: the documentation of Claude Code, "Settings" and "Permissions", and what 2.1.331 tells its hooks: `CLAUDE_PID` names
//! its process.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::places::{files_of, own_directory};
use super::user_rules::UserRules;
use crate::exec;

/// Where those who manage a machine put settings.
const MANAGED: [&str; 2] = ["/etc/claude-code", "/Library/Application Support/ClaudeCode"];

/// Reads the rules of the user, of the project of a directory, of whoever manages this machine, and of the command line.
pub(super) fn rules(directory: &Path) -> UserRules {
    let own = own_directory("CLAUDE_CONFIG_DIR", ".claude");
    let own = own.map(|own| ["settings.json", "remote-settings.json"].map(|name| own.join(name)));
    let names = ["settings.json", "settings.local.json"];
    let projects = directory.ancestors().flat_map(|path| names.map(|name| path.join(".claude").join(name)));
    let managed = MANAGED.map(Path::new).into_iter().flat_map(|place| {
        let parts = files_of(&place.join("managed-settings.d"), ".json");
        std::iter::once(place.join("managed-settings.json")).chain(parts)
    });

    let mut rules = UserRules::default();
    for file in own.into_iter().flatten().chain(projects).chain(managed) {
        add(&mut rules, &fs::read_to_string(file).unwrap_or_default());
    }
    if let Some(process) = exec::variable("CLAUDE_PID").and_then(|id| id.parse::<u32>().ok()) {
        let process = PathBuf::from(format!("/proc/{process}"));
        let line = fs::read(process.join("cmdline")).unwrap_or_default();
        let words: Vec<&str> = line.split(|byte| *byte == 0).filter_map(|word| str::from_utf8(word).ok()).collect();
        add_options(&mut rules, &words, &process.join("cwd"));
    }
    rules
}

/// Adds the rules of a settings file.
fn add(rules: &mut UserRules, text: &str) {
    let settings: Value = serde_json::from_str(text).unwrap_or_else(|_| {
        rules.is_unread |= !text.trim().is_empty();
        Value::Null
    });
    for name in ["deny", "ask"] {
        let written = settings["permissions"][name].as_array().into_iter().flatten().filter_map(Value::as_str);
        rules.files.extend(written.filter_map(|rule| text_for(rule, "Read").or_else(|| text_for(rule, "Edit"))));
    }
    for (name, rules) in [("deny", &mut rules.deny), ("ask", &mut rules.ask), ("allow", &mut rules.allow)] {
        let written = settings["permissions"][name].as_array().into_iter().flatten().filter_map(Value::as_str);
        rules.extend(written.filter_map(|rule| text_for(rule, "Bash")));
    }
}

/// The text of a rule for a tool; `None` of one for another tool.
fn text_for(rule: &str, tool: &str) -> Option<String> {
    let rest = rule.trim().strip_prefix(tool)?;
    if rest.is_empty() {
        return Some(String::new());
    }
    Some(rest.strip_prefix('(')?.strip_suffix(')')?.to_owned())
}

/// Adds the rules of the options of a command line, whose paths start in a directory.
fn add_options(rules: &mut UserRules, words: &[&str], directory: &Path) {
    let mut words = words.iter().copied().peekable();
    while let Some(word) = words.next() {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        match name {
            "--settings" | "--managed-settings" => {
                let Some(value) = value.or_else(|| words.next()) else { continue };
                let text = if value.trim_start().starts_with('{') {
                    Ok(value.to_owned())
                } else {
                    fs::read_to_string(directory.join(value))
                };
                match text {
                    Ok(text) => add(rules, &text),
                    Err(_) => rules.asks_always = true,
                }
            }
            "--disallowedTools" | "--disallowed-tools" => {
                let mut listed = value.map_or_else(Vec::new, split);
                while let Some(value) = words.next_if(|word| !word.starts_with('-')) {
                    listed.extend(split(value));
                }
                rules.deny.extend(listed.iter().filter_map(|rule| text_for(rule, "Bash")));
                rules.files.extend(listed.iter().filter_map(|rule| text_for(rule, "Read")));
            }
            _ => {}
        }
    }
}

/// The rules of a list that is separated by commas or blanks, which a rule has in its parentheses too.
fn split(list: &str) -> Vec<String> {
    let (mut rules, mut depth) = (vec![String::new()], 0_usize);
    for character in list.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' | ' ' if depth == 0 => {
                rules.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(rule) = rules.last_mut() {
            rule.push(character);
        }
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_about_each_command_of_a_line() {
        let mut rules = UserRules::default();
        add(
            &mut rules,
            r#"{"permissions": {"deny": ["Bash(rm:*)", "Read(./.env)"], "ask": ["Bash(git push *)"], "allow": ["Bash(ls)", "Bash(npm run test:*)"]}}"#,
        );
        for (line, is_denied) in [
            ("rm x", true),
            ("rm", true),
            ("rmdir x", false),
            ("ls && rm x", true),
            ("for f in *; do rm $f; done", true),
            ("(cd a; rm b) | cat", true),
            ("echo $(rm x)", true),
            ("diff <(rm x) \"${y:-`rm z`}\"", true),
            ("case $(rm x) in a) ls;; esac", true),
            ("echo rm", false),
        ] {
            assert_eq!(rules.deny(line), is_denied, "{line}");
        }
        assert!(rules.ask("git push origin main") && !rules.ask("git pushx"));
        assert!(rules.allow("ls") && rules.allow("npm run test -- -x && ls"));
        assert!(!rules.allow("ls -l") && !rules.allow("ls && rm x") && !rules.allow("npm run testx"));
    }

    #[test]
    fn rules_may_concern_commands_that_are_typed_otherwise() {
        let mut rules = UserRules::default();
        add(
            &mut rules,
            r#"{"permissions": {"deny": ["Bash(rm:*)", "Read(./secrets/**)", "Read(*.pem)"], "ask": ["Bash(git push *)"]}}"#,
        );
        for line in [
            "timeout 5 rm x",
            "X=1 rm x",
            "ls | xargs rm",
            "bash -c 'rm x'",
            r"\rm x",
            "/bin/rm x",
            "r''m x",
            "find . -exec rm {} +",
            "git -C a push b",
            "git  push b",
            "cat secrets/a",
            "sed -n 1p \"$PWD/secrets/a\"",
            "tail < k.pem",
        ] {
            assert!(rules.may_concern(line), "{line}");
        }
        for line in ["git status", "rmdir x", "push git", "cat a.txt"] {
            assert!(!rules.may_concern(line), "{line}");
        }

        let mut broken = UserRules::default();
        add(&mut broken, "{");
        assert!(broken.may_concern("ls"), "its rules are not known");
        let mut empty = UserRules::default();
        add(&mut empty, "");
        assert!(!empty.may_concern("ls"));
    }

    #[test]
    fn rule_without_a_text_is_about_every_line() {
        let mut rules = UserRules::default();
        add(&mut rules, r#"{"permissions": {"deny": ["Bash"]}}"#);
        assert!(rules.deny("ls"));
    }

    #[test]
    fn options_of_the_command_line_have_rules() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("s.json"), r#"{"permissions": {"deny": ["Bash(wc:*)"]}}"#).unwrap();
        let of = |words: &[&str]| {
            let mut rules = UserRules::default();
            add_options(&mut rules, words, directory.path());
            rules
        };
        let rules = of(&[
            "claude",
            "-p",
            "go",
            "--disallowedTools",
            "Bash(git push *),Edit",
            "Bash(rm:*) Read",
            "--verbose",
            "Bash(ls)",
        ]);
        assert_eq!(rules.deny, ["git push *", "rm:*"]);
        assert_eq!(of(&["claude", "--disallowed-tools=Bash(rm:*)"]).deny, ["rm:*"]);
        assert_eq!(of(&["claude", "--settings", "s.json"]).deny, ["wc:*"]);
        assert_eq!(of(&["claude", r#"--settings={"permissions": {"ask": ["Bash(nl:*)"]}}"#]).ask, ["nl:*"]);
        assert!(of(&["claude", "--settings", "gone.json"]).asks_always, "what it asks about is not known");
    }
}
