//! `climax init`: writes a first config for a program, and says what to do next.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use climax_catalog::{Catalog, Risk, ToolIndex};

use crate::command::output::{FAILURE, counted, print, usage};
use crate::command::selection::report_load_error;
use crate::command::shell_word::quoted;
use crate::command::{import, show, terminal};
use crate::identity;
use crate::mcp;
use crate::serving::load::{self, Wanted};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The program; if it is left out, you are asked for it on a terminal
    program: Option<String>,
    /// Write the config to this new file [default: PROGRAM.yaml]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Drafts, checks and loads the config. Exit status 1 if the program has no help that can be read, or the file exists.
pub(crate) fn run(catalog: &'static Catalog, arguments: &Args) -> ExitCode {
    let Some(program) = arguments.program.clone().or_else(ask_for_program) else {
        return usage(&format!("which program? Name it: `{} init PROGRAM`", identity::name()));
    };
    let file = arguments.output.clone().unwrap_or_else(|| file_of(&program));
    if import::write_draft(&program, &file).is_err() {
        return ExitCode::from(FAILURE);
    }

    let wanted = Wanted { configs: vec![file.clone()], configs_only: true, ..Wanted::default() };
    match load::load_tools(catalog, &wanted, None) {
        Ok(loaded) => print(&next_steps(&loaded.served.index, &file), ExitCode::SUCCESS),
        Err(error) => report_load_error(error),
    }
}

/// Asks for the program, if there is a terminal to ask on.
fn ask_for_program() -> Option<String> {
    let can_ask = io::stdin().is_terminal() && io::stderr().is_terminal();
    can_ask.then(|| terminal::prompt("Program, such as git or /usr/bin/jq")).flatten()
}

/// Returns the file in this directory that has the name of the program.
fn file_of(program: &str) -> PathBuf {
    let name = Path::new(program).file_name().unwrap_or_default();
    let mut name = name.to_owned();
    name.push(".yaml");
    name.into()
}

/// Says what was written, and the commands that come next.
fn next_steps(index: &ToolIndex, file: &Path) -> String {
    let name = identity::name();
    let path = quoted(&file.display().to_string());
    let tools = counted(index.tools().count(), "tool");
    // A tool that reads is safe to try first.
    let first = index.tools().min_by_key(|tool| tool.written_risk().unwrap_or(Risk::Destructive));
    let example = first.and_then(|tool| mcp::permitted_examples(tool).next().map(|args| show::example(tool, &args)));
    let mut lines = vec![format!("{}: {tools}, valid", file.display()), String::new(), "Next:".to_owned()];
    lines.push(format!("  1. Correct the lines that are marked `guess` in {path}."));
    lines.push(format!("  2. Check them:      {name} validate --lint {path}"));
    lines.extend(example.map(|call| format!("  3. Plan a call:     {call} --config {path} --dry-run")));
    lines.push(format!("  4. Tell a client:   {name} install CLIENT --config {path}"));

    lines.join("\n")
}
