//! `climax init`: writes first configs for programs, and says what to do next.

mod changes;
mod machine;
mod many;
mod program;
mod task;

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use climax_catalog::{Catalog, Layer, Risk, ToolIndex};

use self::program::{file_of, is_bundled};
use crate::command::output::{FAILURE, counted, print, usage};
use crate::command::runtime::runtime;
use crate::command::selection::report_load_error;
use crate::command::shell_word::quoted;
use crate::command::{import, show, terminal};
use crate::identity;
use crate::mcp;
use crate::serving::load::{self, Wanted};

#[allow(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The programs; if none is named, you are asked for one on a terminal
    #[arg(value_name = "PROGRAM")]
    programs: Vec<String>,
    /// Write the config of one program to this new file [default: PROGRAM.yaml]
    #[arg(long, value_name = "FILE", conflicts_with = "dir")]
    output: Option<PathBuf>,
    /// Write a config for each program into this directory, which is made if it does not exist
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Draft all programs on the PATH that are no part of the base system and not bundled
    #[arg(long, conflicts_with_all = ["programs", "used"])]
    all: bool,
    /// Draft the programs that the history of your shell starts; of it only the first word of each line is read
    #[arg(long, conflicts_with = "programs")]
    used: bool,
    /// Write nothing: say what the programs have and their configs lack, and the other way round
    #[arg(long, conflicts_with_all = ["all", "used", "output"])]
    check: bool,
    /// Write nothing: print a task for your agent, which adds requests in people's words to the configs
    #[arg(long, conflicts_with_all = ["all", "used", "check", "output"])]
    phrases: bool,
}

/// Drafts, checks and loads configs. Exit status 1 if a program has no help that can be read, or its file exists.
pub(crate) fn run(catalog: &'static Catalog, arguments: &Args) -> ExitCode {
    if arguments.check || arguments.phrases {
        return match files_of(arguments) {
            Ok(files) if arguments.check => changes::run(catalog, &files),
            Ok(files) => task::run(catalog, &files),
            Err(message) => usage(&message),
        };
    }

    let bundled = ToolIndex::from_configs(vec![Layer::compiled(catalog)]);
    let programs = match (arguments.all, arguments.used) {
        (true, _) => machine::installed(&bundled),
        (_, true) => machine::used(&bundled),
        _ => arguments.programs.clone(),
    };
    match programs.as_slice() {
        [] if arguments.all || arguments.used => print("no program to draft: all are bundled", ExitCode::SUCCESS),
        [program] if arguments.dir.is_none() => single(catalog, &bundled, program, arguments),
        [] => match ask_for_program() {
            Some(program) => single(catalog, &bundled, &program, arguments),
            None => usage(&format!("which program? Name it: `{} init PROGRAM`", identity::name())),
        },
        _ if arguments.output.is_some() => usage("`--output` names the file of one program; `--dir` takes several"),
        programs => {
            let directory = arguments.dir.clone().unwrap_or_else(|| ".".into());
            many::run(&bundled, programs, &directory, arguments.all || arguments.used)
        }
    }
}

/// Drafts one program, and says what comes next.
fn single(catalog: &'static Catalog, bundled: &ToolIndex, program: &str, arguments: &Args) -> ExitCode {
    if is_bundled(bundled, program) {
        terminal::complain(&bundled_note(program));
        return ExitCode::from(FAILURE);
    }

    let file = arguments.output.clone().unwrap_or_else(|| file_of(program));
    let drafted = runtime().map_err(|error| error.to_string()).and_then(|runtime| {
        let runner = import::ScratchRunner::new();
        runtime.block_on(import::drafted(&runner, &import::Args::of(program), false))
    });
    if import::finish(drafted.map(|drafted| drafted.draft), Some(&file)) != ExitCode::SUCCESS {
        return ExitCode::from(FAILURE);
    }

    let wanted = Wanted { configs: vec![file.clone()], configs_only: true, ..Wanted::default() };
    match load::load_tools(catalog, &wanted, None) {
        Ok(loaded) => print(&next_steps(&loaded.served.index, &file), ExitCode::SUCCESS),
        Err(error) => report_load_error(error),
    }
}

fn bundled_note(program: &str) -> String {
    let (name, program) = (identity::name(), quoted(program));
    format!(
        "{program} is bundled, so no draft was written: see `{name} list`. `{name} import --help-of {program}` drafts it all the same"
    )
}

/// Returns the configs to check: those of the named programs, else all of the directory.
///
/// # Errors
/// Neither programs nor a directory are named.
fn files_of(arguments: &Args) -> Result<Vec<PathBuf>, String> {
    let directory = arguments.dir.as_deref();
    match (arguments.programs.as_slice(), directory) {
        ([], None) => Err("which configs? Name programs, or their directory with `--dir`".to_owned()),
        ([], Some(directory)) => Ok(vec![directory.to_owned()]),
        (programs, directory) => {
            let directory = directory.unwrap_or(Path::new("."));
            Ok(programs.iter().map(|program| directory.join(file_of(program))).collect())
        }
    }
}

/// Asks for the program, if there is a terminal to ask on.
fn ask_for_program() -> Option<String> {
    let can_ask = io::stdin().is_terminal() && io::stderr().is_terminal();
    can_ask.then(|| terminal::prompt("Program, such as git or /usr/bin/jq")).flatten()
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
