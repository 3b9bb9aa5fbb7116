//! The rules of Qwen Code that ask about lines, or deny them.
//!
//! Source: the documentation of Qwen Code, "Settings", and what 0.24 does: it denies what its rules deny before it starts the
//! hook, and starts the hook in place of the question of a rule that asks. In loops it finds no commands that a rule could deny.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use serde_json::Value;

use super::places::own_directory;
use super::user_rules::UserRules;
use crate::exec;

/// The settings of whoever manages this machine.
const MANAGED: [&str; 2] = ["/etc/qwen-code", "/Library/Application Support/QwenCode"];

/// Names of tools in rules that are about lines, in lower case, without underscores and without `tool` at their end.
const SHELL: [&str; 4] = ["bash", "shell", "runshellcommand", "monitor"];

/// Names of the tools whose rules Qwen Code applies to what lines read, too.
const READ: [&str; 12] = [
    "read",
    "readfile",
    "grep",
    "grepsearch",
    "searchfiles",
    "searchfilecontent",
    "glob",
    "findfiles",
    "listdirectory",
    "listfiles",
    "readfolder",
    "webfetch",
];

/// Reads the rules of the user, of the project of a directory, and of whoever manages this machine.
pub(super) fn rules(directory: &Path) -> UserRules {
    let own = own_directory("QWEN_HOME", ".qwen").map(|own| own.join("settings.json"));
    let projects = directory.ancestors().map(|path| path.join(".qwen/settings.json"));
    let managed = MANAGED
        .into_iter()
        .flat_map(|place| ["settings.json", "system-defaults.json"].map(|name| Path::new(place).join(name)));
    let named = ["QWEN_CODE_SYSTEM_SETTINGS_PATH", "QWEN_CODE_SYSTEM_DEFAULTS_PATH"];
    let named = named.into_iter().filter_map(exec::variable).map(PathBuf::from);

    let mut rules = UserRules::default();
    for file in own.into_iter().chain(projects).chain(managed).chain(named) {
        match fs::read_to_string(file) {
            Ok(text) => add(&mut rules, &text),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(_) => rules.asks_always = true,
        }
    }
    rules
}

/// Adds the rules of a settings file that ask or deny. Where one is not understood, it may be about any line.
fn add(rules: &mut UserRules, text: &str) {
    let Ok(settings) = CstRootNode::parse(text, &ParseOptions::default()) else {
        rules.asks_always = true;
        return;
    };
    let settings = settings.to_serde_value().unwrap_or_default();
    let lists = ["ask", "deny"].map(|name| settings["permissions"][name].as_array());
    for rule in lists.into_iter().flatten().flatten().filter_map(Value::as_str) {
        let (tool, text) = rule.split_once('(').map_or((rule, None), |(tool, text)| (tool, Some(text)));
        let tool = tool.trim().to_lowercase().replace('_', "");
        let tool = tool.strip_suffix("tool").unwrap_or(&tool);
        match text.and_then(|text| text.trim_end().strip_suffix(')')) {
            Some(text) if SHELL.contains(&tool) => rules.ask.push(widened(text)),
            _ => rules.asks_always |= SHELL.contains(&tool) || READ.contains(&tool),
        }
    }
}

/// A pattern that is found in each line of which the rule of Qwen Code may hold, whose patterns are the start of a command, and
/// which leaves out assignments in front of it.
fn widened(text: &str) -> String {
    format!("*{}*", text.replace(":*", "*").replace(" *", "*"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_ask_are_about_lines_with_the_words() {
        let of = |text: &str| {
            let mut rules = UserRules::default();
            add(&mut rules, text);
            rules
        };
        let rules = of(r#"{"permissions": { // mine
            "ask": ["Bash(git push *)", "ShellTool(jq)", "Bash(wc:*)", "Edit", "mcp__x__y"],
            "deny": ["run_shell_command(nl)"]}}"#);
        for (line, asks) in [
            ("git push", true),
            ("ls && X=1 git push origin", true),
            ("jq . a.json", true),
            ("echo $(wc a)", true),
            ("for f in *; do nl $f; done", true),
            ("git log", false),
        ] {
            assert_eq!(rules.ask(line), asks, "{line}");
        }
        for text in [r#"{"permissions": {"ask": ["Bash"]}}"#, r#"{"permissions": {"ask": ["Read(./x)"]}}"#, "{"] {
            assert!(of(text).ask("ls"), "{text}");
        }
        assert!(!of("").ask("ls") && !of("{}").ask("ls"));
    }
}
