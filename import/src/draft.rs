//! Commands → the text of a config.

mod args;
mod config;
mod selection;
mod shared;
mod tool;

use std::collections::HashSet;
use std::fmt::Write as _;

use climax_catalog::Risk;

pub(super) use self::args::SEVERAL_LINES;
pub use self::config::Draft;
use self::config::directory;
pub use self::selection::{DEFAULT_MAIN, Selection};
use self::tool::Tool;
use super::rank::Ranking;
use super::refine::OPTIONAL_PROGRAM;
use super::text::{identifier, one_line, sentence, unique};
use super::yaml;
use crate::command::{Command, Operand};

/// The args that every tool has: the directory it runs in, and what a pipeline passes to it.
const COMMON_ARGS: &str = "common_args:
  - {name: cwd, cwd: true, description: Directory to run in}
  - {name: stdin, stdin: true, shown: false, description: Text for standard input}
";

/// Writes the config of `program` with a tool for each of `commands`.
///
/// `program` is the command that starts the program, `about` its description, and `origin` the source of the draft.
#[must_use]
pub fn draft(program: &str, about: &str, commands: &[Command], origin: &str, selection: &Selection) -> Draft {
    let name = name_of(program);
    let mut out = Draft { text: String::new(), tools: 0, args: 0, guesses: 0, risks: [0; 4] };
    let _ = writeln!(
        out.text,
        "# A first draft, made from {}. Lines with `guess` say what that leaves open: check",
        one_line(origin)
    );
    let _ = writeln!(
        out.text,
        "# them, leave out what agents need not do, and say in each description when to use the tool."
    );
    let _ = writeln!(out.text, "name: {}", yaml::text(&name));
    if !about.trim().is_empty() {
        let _ = writeln!(out.text, "description: {}", yaml::text(&sentence(about)));
    }
    let _ = writeln!(out.text, "command: {}", yaml::text(program));
    if selection.has_boolean_values {
        out.text.push_str("boolean_values: true\n");
    }
    let _ = writeln!(out.text, "env: {{NO_COLOR: \"1\", PAGER: cat}}");
    out.text.push_str(COMMON_ARGS);
    let ranking = Ranking::new(commands);
    let each = commands.iter().flat_map(|command| std::iter::once(command.clone()).chain(without_program(command)));
    let mut tools: Vec<Tool> = each.map(|command| Tool::new(command, about, selection, &ranking)).collect();
    let shared = shared::parted(&mut tools);
    for arg in &shared {
        out.arg(arg, "  ");
    }
    out.text.push_str(if commands.is_empty() { "tools: []\n" } else { "tools:\n" });
    let mut names = HashSet::new();
    for tool in &tools {
        tool.write(&mut out, &name, selection, &mut names);
    }
    let shared: Vec<String> = shared.into_iter().map(|arg| arg.name).collect();
    if selection.uncaged.is_none() && !commands.is_empty() {
        if selection.has_help {
            help_tool(&mut out, &name, (selection, &shared), &mut names);
        }
        if selection.has_version {
            version_tool(&mut out, &name, (selection, &shared), &mut names);
        }
    }

    out
}

/// The command without the words of another one that it starts, if calls may leave these out: `strace -p PID`.
///
/// Of a program as a whole, options such as `--configure` do without.
fn without_program(command: &Command) -> Option<Command> {
    let is_optional = |operand: &Operand| operand.guesses.contains(&OPTIONAL_PROGRAM);
    let has_rest = command.operands.iter().any(|operand| operand.rest && !operand.behind_dashes);
    let is_whole = command.words.is_empty() && has_rest && !command.options.is_empty();
    let at = command.operands.iter().position(|operand| is_optional(operand) || is_whole && operand.required)?;
    let operands = command.operands[..at].to_vec();
    Some(Command { operands, forms: None, guesses: vec!["a call may do without a program"], ..command.clone() })
}

/// Writes a tool that shows the help of a program or of one of its commands.
fn help_tool(out: &mut Draft, program: &str, given: (&Selection, &[String]), names: &mut HashSet<String>) {
    let about = format!("Show the help of {program}, or of one of its commands");
    caged_tool(out, (program, "help"), &about, given, names);
    out.text.push_str("    command: \"{words} --help\"\n    args:\n");
    out.text.push_str("      - {name: words, positional: true, list: true, description: Words of the command}\n");
    out.args += 1;
}

/// Writes a tool that shows the version of a program.
fn version_tool(out: &mut Draft, program: &str, given: (&Selection, &[String]), names: &mut HashSet<String>) {
    caged_tool(out, (program, "version"), &format!("Show the version of {program}"), given, names);
    out.text.push_str("    command: \"--version\"\n");
}

/// Writes the start of a tool that only prints, and takes none of the options that other tools share.
fn caged_tool(
    out: &mut Draft,
    (program, word): (&str, &str),
    about: &str,
    (selection, shared): (&Selection, &[String]),
    names: &mut HashSet<String>,
) {
    let name = unique(&identifier(&format!("{program}_{word}")), names);
    let _ = writeln!(out.text, "  - name: {}", yaml::text(&name));
    let _ = writeln!(out.text, "    description: {}", yaml::text(about));
    out.text.push_str("    risk: read\n");
    let own = directory(&selection.program).map(|own| format!(", read: [{}]", yaml::text(own)));
    let _ = writeln!(out.text, "    needs: {{cage: read{}}}", own.unwrap_or_default());
    out.without(shared);
    out.tools += 1;
    out.count(Risk::Read, true);
}

fn name_of(program: &str) -> String {
    let word = program.split_whitespace().next().unwrap_or_default();
    let file = word.rsplit('/').next().unwrap_or_default();
    if file.is_empty() { "program".to_owned() } else { file.to_owned() }
}

#[cfg(test)]
mod tests;
