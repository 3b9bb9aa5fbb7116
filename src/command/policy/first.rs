//! `climax policy new`: writes a first policy for programs.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use climax_catalog::{Catalog, ResolvedTool, Risk, ToolIndex};
use serde_json::Value;

use crate::command::output::{counted, print};
use crate::command::selection::Selection;
use crate::identity;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    selection: Selection,
    /// Permit reading tools only
    #[arg(long)]
    read_only: bool,
    /// Permit this directory only, as the directory that programs run in
    #[arg(long, value_name = "DIR")]
    within: Option<PathBuf>,
}

/// Prints the policy.
pub(crate) fn run(catalog: &'static Catalog, arguments: &Args) -> ExitCode {
    match arguments.selection.load(catalog) {
        Ok(served) => print(&text(&served.index, arguments), ExitCode::SUCCESS),
        Err(code) => code,
    }
}

/// Writes the policy as YAML.
fn text(index: &ToolIndex, arguments: &Args) -> String {
    let program = identity::name();
    let mut yaml = format!("# Check it with `{program} validate --policy FILE`.\ndefault: disabled\nallow:\n");
    for (cli, tools) in index.groups() {
        let risks: Vec<_> = tools.map(ResolvedTool::written_risk).collect();
        let all = risks.len();
        let reading = risks.iter().filter(|risk| **risk == Some(Risk::Read)).count();
        let name = Value::from(cli.name());
        let all = counted(all, "tool");
        let _ = if arguments.read_only {
            writeln!(yaml, "  - {{cli: {name}, risk: read}} # {reading} of {all}")
        } else {
            writeln!(yaml, "  - cli: {name} # {all}, of which {reading} only read")
        };
    }

    if !arguments.read_only {
        yaml.push_str("# Tools that delete, overwrite, or cannot be undone. Remove the line to have them too.\n");
        yaml.push_str("deny:\n  - risk: destructive\n");
    }

    if let Some(directory) = &arguments.within {
        confine(&mut yaml, index, &absolute(directory));
    }

    let _ = writeln!(
        yaml,
        "# {program} asks before a tool changes anything. Where the client cannot ask, such a call is denied."
    );
    yaml.push_str("approval: {global: write, headless: deny}\n");

    yaml
}

/// Adds the rules for the directory that programs run in.
fn confine(yaml: &mut String, index: &ToolIndex, directory: &Path) {
    let quoted = |path: &Path| Value::from(path.display().to_string());
    let _ = write!(yaml, "tools:\n  '*': {{args: {{cwd: {{within: [{}]}}}}}}\n", quoted(directory));
    let has_git = index.groups().any(|(cli, _)| cli.words().next() == Some("git"));
    if let Some(above) = directory.parent().filter(|_| has_git) {
        yaml.push_str("# Git looks for no repository above the directory.\n");
        let _ = writeln!(yaml, "env: {{GIT_CEILING_DIRECTORIES: {}}}", quoted(above));
    }
}

/// Returns the directory as an absolute path, without links if it exists.
fn absolute(directory: &Path) -> PathBuf {
    let real = directory.canonicalize().or_else(|_| std::path::absolute(directory));
    real.unwrap_or_else(|_| directory.to_owned())
}
