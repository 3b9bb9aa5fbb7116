//! The command line: which words there are, and which command they start.

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use climax_catalog::Catalog;

#[cfg(feature = "budget")]
use crate::command::budget;
#[cfg(feature = "import")]
use crate::command::import;
use crate::command::output::{FAILURE, USAGE};
use crate::command::run::RunArguments;
use crate::command::{
    call, completions, diff, doctor, eval, export, list, run, schema, search, terminal, validate, version,
};
use crate::exec::shim;
use crate::serving::Program;

const AFTER_HELP: &str = "\
Exit status: 0 fine, 1 the thing asked for failed, 2 usage.

Without a command the server runs: it speaks MCP on standard input and output and serves every compiled-in CLI, or those \
that are named. `climax list` shows them.";

/// Command-line programs as tools for AI agents, over MCP.
#[derive(Debug, Parser)]
#[command(name = "climax", version, after_help = AFTER_HELP, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: Box<RunArguments>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve tools over MCP (the default)
    Run(Box<RunArguments>),
    /// Check configs and report every mistake in them
    Validate(validate::Args),
    /// List CLIs, or the tools of those that are named
    List(list::Args),
    /// Search tools as an agent does
    Search(search::Args),
    /// Call a tool as an agent does, and print the result
    Call(call::Args),
    /// Tell which programs are there, what the policy permits, and which limits hold
    Doctor(doctor::Args),
    /// Count the tokens that tool lists and answers take
    #[cfg(feature = "budget")]
    Budget(budget::Args),
    /// Measure how well search finds what queries want
    #[command(hide = true)]
    Eval(eval::Args),
    /// Print the JSON Schema of a file format
    Schema {
        /// The format
        #[arg(value_enum, default_value = "config")]
        format: schema::FileFormat,
    },
    /// Print everything that is served, as JSON
    Export(export::Args),
    /// Say in words what differs between two exports or configs
    Diff(diff::Args),
    /// Write a first config from what a program says of itself
    #[cfg(feature = "import")]
    Import(import::Args),
    /// Tell which program this is, and what is compiled into it
    Version(version::Args),
    /// Print a completion script
    Completions {
        /// The shell to complete in
        shell: clap_complete::Shell,
    },
    /// End what a killed server has left behind; the server starts it
    #[command(name = shim::JANITOR, hide = true)]
    Janitor,
    /// Become a program that is confined; the server starts it
    #[command(name = shim::CONFINE, hide = true)]
    Confine(shim::ShimArguments),
}

/// Reads the command line, with what must hold between options of which one has a default.
fn parsed() -> Result<Arguments, clap::Error> {
    let mut command = Arguments::command();
    let matches = command.try_get_matches_from_mut(std::env::args_os())?;
    let arguments = Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    let (run, given) = match (&arguments.command, matches.subcommand()) {
        (Some(Command::Run(run)), Some((_, given))) => (run, given),
        (None, None) => (&arguments.run, &matches),
        _ => return Ok(arguments),
    };
    match run.problem(given) {
        Some(problem) => Err(command.error(ErrorKind::ArgumentConflict, problem)),
        None => Ok(arguments),
    }
}

impl Program {
    /// Runs the command line.
    ///
    /// Exit status: 0 fine, 1 the command failed, 2 usage. If native tools and catalog do not match, every mismatch is
    /// written to standard error, and nothing is served.
    #[must_use]
    pub fn main(self) -> ExitCode {
        if let Err(found) = self.natives.check(self.catalog) {
            for mismatch in found {
                terminal::error(&format!("climax: {mismatch}"));
            }
            return ExitCode::from(FAILURE);
        }
        dispatch(&self)
    }
}

/// Runs the command line of a program that serves `catalog` and has no native tools; see [`Program::main`].
#[must_use]
pub fn main(catalog: &'static Catalog) -> ExitCode {
    Program::new(catalog).main()
}

fn dispatch(program: &Program) -> ExitCode {
    let catalog = program.catalog;
    let arguments = match parsed() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(USAGE) } else { ExitCode::SUCCESS };
        }
    };
    match arguments.command.unwrap_or(Command::Run(arguments.run)) {
        Command::Run(arguments) => run::run(program, &arguments),
        Command::Validate(arguments) => validate::run(catalog, &arguments),
        Command::List(arguments) => list::run(catalog, &arguments),
        Command::Search(arguments) => search::run(catalog, &arguments),
        Command::Call(arguments) => call::run(program, &arguments),
        Command::Doctor(arguments) => doctor::run(catalog, &arguments),
        #[cfg(feature = "budget")]
        Command::Budget(arguments) => budget::run(catalog, &arguments),
        Command::Eval(arguments) => eval::run(catalog, &arguments),
        Command::Janitor => {
            shim::janitor();
            ExitCode::SUCCESS
        }
        Command::Confine(arguments) => {
            shim::confine(&arguments);
            ExitCode::from(FAILURE)
        }
        Command::Schema { format } => schema::run(format),
        Command::Export(arguments) => export::run(catalog, &arguments),
        Command::Diff(arguments) => diff::run(catalog, &arguments),
        #[cfg(feature = "import")]
        Command::Import(arguments) => import::run(&arguments),
        Command::Version(arguments) => version::run(catalog, &arguments),
        Command::Completions { shell } => completions::run(shell, &mut Arguments::command()),
    }
}
