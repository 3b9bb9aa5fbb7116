//! `climax export --skill`: a skill for agents that take skills and no MCP.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use climax_catalog::policy::{ConfineLevel, UnknownProgram};
use climax_catalog::{SKILL_FILE, ToolIndex, is_skill_name};
use serde_json::json;

use crate::command::output::counted;
use crate::command::selection::Sources;
use crate::command::shell_word::quoted;
use crate::identity;

/// The skill of the plugin, whose last sections hold for the command line too.
const PLUGIN_SKILL: &str = include_str!("../../../packages/plugins/climax/skills/climax/SKILL.md");
/// The first of the sections that both skills have.
const SHARED_HEADING: &str = "## When a call fails";

/// The line by which a skill is known that this command wrote.
const GENERATOR: &str = "  generator: climax";

/// The most CLIs that the list of a skill has.
const MAX_LISTED_CLIS: usize = 100;
/// The most CLIs that the description of a skill names.
const MAX_NAMED_CLIS: usize = 12;
/// The longest description of a CLI in a skill, in characters.
const MAX_CLI_CHARS: usize = 100;

/// Writes `SKILL.md` to `directory`, whose name is that of the skill.
///
/// # Errors
/// The name is not allowed, the file is there and was written by hand, or it cannot be written.
pub(super) fn write(directory: &Path, index: &ToolIndex, sources: &Sources) -> Result<PathBuf, String> {
    let file = directory.join(SKILL_FILE);
    let name = directory.file_name().and_then(|name| name.to_str()).filter(|name| is_skill_name(name));
    let name = name.ok_or_else(|| {
        format!(
            "{} cannot be the directory of a skill: its name has small letters, digits and single hyphens, such as \
             .agents/skills/{}",
            directory.display(),
            identity::name()
        )
    })?;
    let failed = |error: io::Error| format!("{} cannot be written: {error}", file.display());
    match fs::read_to_string(&file) {
        Ok(text) if !text.lines().any(|line| line == GENERATOR) => {
            return Err(format!("{} was not written by this command; name another directory", file.display()));
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    let options = options(sources).map_err(failed)?;
    fs::create_dir_all(directory).and_then(|()| fs::write(&file, text(name, index, &options))).map_err(failed)?;
    Ok(file)
}

/// Returns the options by which the commands of the skill serve the same tools, each after a space.
fn options(sources: &Sources) -> io::Result<String> {
    let Sources { configs, only, policy, confine, unknown } = sources;
    let mut text = String::new();
    let files = configs.iter().map(|path| ("--config", path)).chain(policy.iter().map(|path| ("--policy", path)));
    for (option, path) in files {
        let _ = write!(text, " {option} {}", quoted(&std::path::absolute(path)?.display().to_string()));
    }
    if *only {
        text.push_str(" --only");
    }
    if let Some(level) = confine {
        let _ = write!(text, " --confine {}", ConfineLevel::as_str(*level));
    }
    if let Some(unknown) = unknown {
        let _ = write!(text, " --unknown {}", UnknownProgram::as_str(*unknown));
    }

    Ok(text)
}

/// Returns the text of the skill.
fn text(name: &str, index: &ToolIndex, options: &str) -> String {
    let program = identity::name();
    let clis: Vec<&str> = index.summary().map(|summary| summary.cli.name()).collect();
    let more = if clis.len() > MAX_NAMED_CLIS { " and others" } else { "" };
    let named = clis.iter().take(MAX_NAMED_CLIS).copied().collect::<Vec<_>>().join(", ");
    let description = json!(format!(
        "Runs command-line programs ({named}{more}) from the shell, through {program}, which checks each call. Use when a \
         task needs such a program and no {program} tools are offered."
    ));
    let shared = PLUGIN_SKILL.find(SHARED_HEADING).map_or("", |at| &PLUGIN_SKILL[at..]);
    format!(
        "---\nname: {name}\ndescription: {description}\nmetadata:\n{GENERATOR}\n---\n\n\
         # Use {program} from the shell\n\n\
         1. Find a tool, with the task in a few words: `{program} search{options} commit history`.\n\
         2. See its args: `{program} show{options} TOOL`.\n\
         3. Run it: `{program} call{options} TOOL KEY=VALUE`.\n\n\
         If you know the command line, run that: `{program} sh{options} -c 'LINE'`. It has pipes, `&&` and globs. Each\n\
         command of it is checked as a tool.\n\n\
         Use these commands instead of the programs themselves. Do not change their options.\n\n\
         ## Programs\n\n{}\n{shared}",
        programs(index)
    )
}

/// Returns a line for each CLI.
fn programs(index: &ToolIndex) -> String {
    let mut lines = String::new();
    for summary in index.summary().take(MAX_LISTED_CLIS) {
        let tools = counted(summary.tool_count, "tool");
        let _ = writeln!(lines, "- {} ({tools}){}", summary.cli.name(), about(summary.cli.description()));
    }

    let rest = index.summary().count().saturating_sub(MAX_LISTED_CLIS);
    if rest > 0 {
        let _ = writeln!(lines, "- and {rest} more, which a search finds");
    }

    lines
}

/// Returns the first line of a description, shortened.
fn about(description: &str) -> String {
    let line = description.lines().next().unwrap_or_default();
    match line.char_indices().nth(MAX_CLI_CHARS) {
        _ if line.is_empty() => String::new(),
        None => format!(": {line}"),
        Some((end, _)) => format!(": {}…", &line[..end]),
    }
}
