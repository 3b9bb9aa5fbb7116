//! Parses the command line and runs the command.

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use climax_catalog::Catalog;

#[cfg(has_code)]
use crate::code::guest;
#[cfg(feature = "budget")]
use crate::command::budget;
use crate::command::output::{FAILURE, USAGE, usage};
use crate::command::retired::{ProbableCommand, RetiredCommand, explained, with_near_miss, with_pair};
use crate::command::run::RunArguments;
use crate::command::{
    call, catalog, check, completions, diff, doctor, eval, export, help, hook, install, list, man, policy, run, schema,
    search, sh, show, terminal, translate, validate, version,
};
#[cfg(feature = "import")]
use crate::command::{import, init};
use crate::exec;
use crate::exec::helper::{self, Helped};
use crate::identity;
use crate::serving::Program;

/// Command-line programs as tools for AI agents, over MCP.
#[derive(Debug, Parser)]
#[command(name = "climax", version, args_conflicts_with_subcommands = true)]
struct CommandLine {
    #[command(subcommand)]
    command: Option<ClimaxCommand>,
    #[command(flatten)]
    run: Box<RunArguments>,
}

#[derive(Debug, Subcommand)]
enum ClimaxCommand {
    /// Serve tools over MCP (the default)
    Run(Box<RunArguments>),
    /// Check configs and report all errors in them
    Validate(validate::Args),
    /// List CLIs, or the tools of the named ones
    List(list::Args),
    /// Search tools as an agent does
    Search(search::Args),
    /// Show a tool: its args, its command line, what the policy says, and an example
    Show(show::Args),
    /// Call a tool as an agent does, and print the result
    Call(call::Args),
    /// Run a command line with the served tools, as `sh -c` does
    Sh(sh::Args),
    /// Print the calls that a command line stands for
    Translate(translate::Args),
    /// Judge a line of another shell: may it run, as it is or rewritten?
    Check(check::Args),
    /// Judge the lines that an agent runs in its own shell, as a hook of it
    Hook(hook::Args),
    /// Write a first policy, or explain one
    Policy(policy::Args),
    /// Check which programs can run, and print what the policy permits and the limits
    Doctor(doctor::Args),
    /// Count the tokens of tool lists and search results
    #[cfg(feature = "budget")]
    Budget(budget::Args),
    /// Measure the quality of search with queries whose results are known
    #[command(hide = true)]
    Eval(eval::Args),
    /// Print the JSON Schema of a file format
    Schema {
        /// The format
        #[arg(value_enum, default_value = "config")]
        format: schema::FileFormat,
    },
    /// Print the served catalog as JSON
    Export(export::Args),
    /// Write all served tools as a page for a browser
    Catalog(catalog::Args),
    /// List the differences between two exports or configs
    Diff(diff::Args),
    /// Write the server into the settings of a client, or take it out
    Install(install::Args),
    /// Write a first config for a program, and say what to do next
    #[cfg(feature = "import")]
    Init(init::Args),
    /// Draft a config from the help of a program
    #[cfg(feature = "import")]
    Import(import::Args),
    /// Print the version, the build and the compiled-in catalog
    Version(version::Args),
    #[command(flatten)]
    Retired(RetiredCommand),
    /// Print a completion script
    Completions {
        /// The shell to complete in
        shell: clap_complete::Shell,
    },
    /// Print manual pages
    Man(man::Args),
}

/// Parses the command line, and checks conflicts between options that clap cannot express.
fn parse() -> Result<CommandLine, clap::Error> {
    let mut command = help::arranged(CommandLine::command());
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let parsed = command.try_get_matches_from_mut(std::env::args_os());
    let matches =
        parsed.map_err(|error| with_pair(with_near_miss(explained(error), &command, &words), &command, &words))?;
    let mut arguments = CommandLine::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    let (run, given) = match (&arguments.command, matches.subcommand()) {
        (Some(ClimaxCommand::Run(run)), Some((_, given))) => (run, given),
        (None, None) => {
            let first = arguments.run.selection.names().into_iter().next();
            arguments.run.probable_command = first.and_then(|word| ProbableCommand::of(&word, &command));
            (&arguments.run, &matches)
        }
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
    /// Exit status: 0 success, 1 the command failed, 2 usage. If native tools and the catalog do not match, all
    /// mismatches are written to standard error, and the exit status is 1.
    #[must_use]
    pub fn main(self) -> ExitCode {
        // Each confined call starts with it, so nothing comes before.
        match helper::run_as_helper() {
            Some(Helped::Done) => return ExitCode::SUCCESS,
            Some(Helped::Held(status)) => return ExitCode::from(status),
            Some(Helped::Failed) => return ExitCode::from(FAILURE),
            None => {}
        }

        #[cfg(has_code)]
        if guest::run_as_guest() {
            return ExitCode::SUCCESS;
        }

        // Programs of all commands get the streams that they are given, and nothing else that this process inherited.
        exec::keep_descriptors_private();
        identity::set_from(std::env::current_exe().ok().as_deref());
        if let Err(found) = self.natives.check(self.catalog) {
            for mismatch in found {
                terminal::complain(&mismatch);
            }
            return ExitCode::from(FAILURE);
        }

        dispatch(&self)
    }
}

/// Runs the command line of a program that serves `catalog` and has no native tools; see [`Program::main`].
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     climax::main(&climax::CATALOG)
/// }
/// ```
#[must_use]
pub fn main(catalog: &'static Catalog) -> ExitCode {
    Program::new(catalog).main()
}

/// Runs the command that the command line names.
fn dispatch(program: &Program) -> ExitCode {
    let catalog = program.catalog;
    match sh::as_shell(std::env::args_os()) {
        Some(Ok(arguments)) => return sh::run(program, &arguments),
        Some(Err(message)) => return usage(&message),
        None => {}
    }

    let arguments = match parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(USAGE) } else { ExitCode::SUCCESS };
        }
    };
    match arguments.command.unwrap_or(ClimaxCommand::Run(arguments.run)) {
        ClimaxCommand::Run(arguments) => run::run(program, arguments),
        ClimaxCommand::Validate(arguments) => validate::run(catalog, &arguments),
        ClimaxCommand::List(arguments) => list::run(catalog, &arguments),
        ClimaxCommand::Search(arguments) => search::run(catalog, &arguments),
        ClimaxCommand::Show(arguments) => show::run(program, &arguments),
        ClimaxCommand::Call(arguments) => call::run(program, &arguments),
        ClimaxCommand::Sh(arguments) => sh::run(program, &arguments),
        ClimaxCommand::Translate(arguments) => translate::run(catalog, &arguments),
        ClimaxCommand::Check(arguments) => check::run(catalog, &arguments),
        ClimaxCommand::Hook(arguments) => hook::run(catalog, &arguments),
        ClimaxCommand::Policy(arguments) => policy::run(program, &arguments),
        ClimaxCommand::Doctor(arguments) => doctor::run(catalog, &arguments),
        #[cfg(feature = "budget")]
        ClimaxCommand::Budget(arguments) => budget::run(catalog, &arguments),
        ClimaxCommand::Eval(arguments) => eval::run(catalog, &arguments),
        ClimaxCommand::Schema { format } => schema::run(format),
        ClimaxCommand::Export(arguments) => export::run(catalog, &arguments),
        ClimaxCommand::Catalog(arguments) => catalog::run(program, &arguments),
        ClimaxCommand::Man(arguments) => man::run(&arguments, help::arranged(CommandLine::command())),
        #[cfg(feature = "import")]
        ClimaxCommand::Init(arguments) => init::run(catalog, &arguments),
        ClimaxCommand::Install(arguments) => install::run(catalog, &arguments),
        ClimaxCommand::Diff(arguments) => diff::run(catalog, &arguments),
        #[cfg(feature = "import")]
        ClimaxCommand::Import(arguments) => import::run(&arguments),
        ClimaxCommand::Retired(retired) => usage(&retired.instead()),
        ClimaxCommand::Version(arguments) => version::run(catalog, &arguments),
        ClimaxCommand::Completions { shell } => completions::run(shell, &mut help::arranged(CommandLine::command())),
    }
}
