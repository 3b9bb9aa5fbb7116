//! The command line: which words there are, and which command they start.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use climax_catalog::{Code, Severity, Strategy, did_you_mean};

use crate::command;
use crate::exec::shim;
use crate::program::Program;

mod run;
mod value;

#[cfg(feature = "http")]
pub(crate) use run::HttpArguments;
pub(crate) use run::{LogLevel, RunArguments, Transport};

#[cfg(feature = "http")]
pub(crate) mod oauth;

/// The thing asked for failed.
pub(crate) const FAILURE: u8 = 1;
/// The command line cannot be understood.
pub(crate) const USAGE: u8 = 2;

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
    Validate(ValidateArguments),
    /// List CLIs, or the tools of those that are named
    List(ListArguments),
    /// Search tools as an agent does
    Search(SearchArguments),
    /// Call a tool as an agent does, and print the result
    Call(CallArguments),
    /// Tell which programs are there, what the policy permits, and which limits hold
    Doctor(DoctorArguments),
    /// Count the tokens that tool lists and answers take
    #[cfg(feature = "budget")]
    Budget(BudgetArguments),
    /// Measure how well search finds what queries want
    #[command(hide = true)]
    Eval(EvalArguments),
    /// Print the JSON Schema of a file format
    Schema {
        /// The format
        #[arg(value_enum, default_value = "config")]
        format: FileFormat,
    },
    /// Print everything that is served, as JSON
    Export(ExportArguments),
    /// Say in words what differs between two exports or configs
    Diff(DiffArguments),
    /// Write a first config from what a program says of itself
    #[cfg(feature = "import")]
    Import(ImportArguments),
    /// Tell which program this is, and what is compiled into it
    Version(VersionArguments),
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
    Confine(shim::Arguments),
}

/// Which tools are served.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Selection {
    /// Compiled-in CLIs to serve, by name; default: all. With --config also names of its CLIs, which are served in any case
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) sources: Sources,
}

/// Files that add to what is compiled in, and take from it.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Sources {
    /// Add a config file or a directory of them; its tools replace compiled-in ones of the same name
    #[arg(long = "config", value_name = "FILE")]
    pub(crate) configs: Vec<PathBuf>,
    /// Serve only what this policy permits, where and with whose approval it says
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct ValidateArguments {
    /// Config files, directories of them, patterns such as 'configs/**/*.yaml', or names of compiled-in CLIs; default: the
    /// directory `configs`, if no policy is to be checked
    #[arg(value_name = "FILE|NAME")]
    pub(crate) targets: Vec<String>,
    /// Check this policy too, against the targets and what is compiled in
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Give advice too: warnings about configs that are valid and could be better
    #[arg(long)]
    pub(crate) lint: bool,
    /// Fail on warnings too
    #[arg(long)]
    pub(crate) strict: bool,
    /// Leave out warnings of this code; in a config, `x-allow: [CODE]` does so for a part of it
    #[arg(long, value_name = "CODE", value_parser = warning)]
    pub(crate) allow: Vec<Code>,
    /// Fail if the list of tools that `--classic` offers takes more tokens, by an estimate from its bytes
    #[arg(long, value_name = "N", value_parser = value::whole::<usize>)]
    pub(crate) max_tokens: Option<usize>,
    /// Explain a code: what it means, why, an example, and how to silence it
    #[arg(long, value_name = "CODE", value_parser = code)]
    pub(crate) explain: Option<Code>,
    /// How to print what is found
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
    /// Print JSON: short for --format json
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
}

/// File formats.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum FileFormat {
    /// Configs
    Config,
    /// Policies
    Policy,
}

/// Forms of diagnostics.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Human,
    /// For programs
    Json,
    /// For code scanners (SARIF 2.1.0)
    Sarif,
    /// For pull requests (annotations of GitHub Actions)
    Github,
}

#[derive(Args, Debug)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Print JSON: every tool with its command line and args
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct SearchArguments {
    /// What to do, in words; several need no quotes
    #[arg(num_args = 0..)]
    pub(crate) query: Vec<String>,
    /// How tools are found: as a substring, ranked by words, or ranked only where no substring is found (auto, the default)
    #[arg(long = "search", value_name = "STRATEGY", value_parser = strategies())]
    pub(crate) strategy: Option<Strategy>,
    /// Only CLIs of this category
    #[arg(long)]
    pub(crate) category: Option<String>,
    /// Only the CLI of this name
    #[arg(long)]
    pub(crate) cli: Option<String>,
    /// Results at most
    #[arg(long, default_value_t = 10, value_parser = value::whole::<usize>)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) sources: Sources,
    /// Print the JSON that an agent gets
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct CallArguments {
    /// The tool's name
    pub(crate) tool: String,
    /// Arguments as `key=value`
    #[arg(value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) pairs: Vec<(String, String)>,
    /// Arguments as a JSON object; `key=value` pairs are added to it
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,
    #[command(flatten)]
    pub(crate) sources: Sources,
    /// Bytes of standard output and of standard error that the result holds at most
    #[arg(long, value_name = "BYTES", default_value_t = crate::limits::DEFAULT_OUTPUT_BYTES, value_parser = value::whole::<usize>)]
    pub(crate) max_output: usize,
    /// Append a JSON line for the call to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ExportArguments {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Accepted for scripts that ask every command for JSON; there is no other form
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct DiffArguments {
    /// An export (`.json`), a config file or directory, or `-` for what is compiled in
    pub(crate) old: PathBuf,
    /// The same for what it is compared with
    pub(crate) new: PathBuf,
    /// Exit with status 1 if there is a difference; 2 says that there was nothing to compare
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(feature = "import")]
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub(crate) struct ImportArguments {
    /// Run this program with --help, then its subcommands, and read what they print; words behind PROGRAM name the
    /// subcommand to start from
    #[arg(long, value_name = "PROGRAM", num_args = 1.., required = true)]
    pub(crate) help_of: Vec<String>,
    /// Levels of subcommands to go down; with 0 only PROGRAM itself is run
    #[arg(long, value_name = "N", default_value_t = crate::limits::DEFAULT_IMPORT_DEPTH, value_parser = value::whole::<usize>)]
    pub(crate) depth: usize,
    /// Commands to ask for their help at most
    #[arg(long, value_name = "N", default_value_t = crate::limits::DEFAULT_IMPORTED_COMMANDS, value_parser = value::whole::<usize>)]
    pub(crate) max_commands: usize,
    /// Take the commands too that the help leaves out but tells how to list
    #[arg(long)]
    pub(crate) all: bool,
    /// Add the options that only manual pages describe, where --help prints such
    #[arg(long)]
    pub(crate) manual: bool,
    /// Write the config to this new file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[cfg(feature = "import-usage")]
    #[command(subcommand)]
    pub(crate) format: Option<ImportFormat>,
}

/// Descriptions of programs that are read instead of their help.
#[cfg(feature = "import-usage")]
#[derive(Debug, Subcommand)]
pub(crate) enum ImportFormat {
    /// Read a specification in the format of `usage` (KDL)
    Usage {
        /// The specification
        file: PathBuf,
        /// Write the config to this new file instead of standard output
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

#[derive(Args, Debug)]
pub(crate) struct VersionArguments {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct DoctorArguments {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(feature = "budget")]
#[derive(Args, Debug)]
pub(crate) struct BudgetArguments {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Fail if the tool list of the default mode takes more tokens
    #[arg(long, value_name = "TOKENS", value_parser = value::whole::<usize>)]
    pub(crate) max: Option<usize>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct EvalArguments {
    /// JSON lines `{"query", "gold": [tool names]}`, `{"word"}` of a name, or `{"frame": "… {query} …", "kind"}`
    #[arg(long, value_name = "FILE")]
    pub(crate) queries: PathBuf,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn strategies() -> impl TypedValueParser<Value = Strategy> {
    let by_name = |name: String| Strategy::ALL.into_iter().find(|strategy| strategy.as_str() == name);
    PossibleValuesParser::new(Strategy::ALL.map(Strategy::as_str))
        .try_map(move |name| by_name(name).ok_or("no strategy"))
}

fn code(name: &str) -> Result<Code, String> {
    Code::named(name).ok_or_else(|| match did_you_mean(name, Code::ALL.iter().map(|code| code.as_str())) {
        Some(near) => format!("there is no such code; did you mean `{near}`?"),
        None => format!("there is no such code; the codes are {}", listed(Code::ALL.iter().copied())),
    })
}

fn warning(name: &str) -> Result<Code, String> {
    match code(name)? {
        code if code.severity() == Severity::Warning => Ok(code),
        _ => Err(format!("errors cannot be left out; the codes of warnings are {}", listed(Code::silenceable()))),
    }
}

fn listed(codes: impl Iterator<Item = Code>) -> String {
    codes.map(Code::as_str).collect::<Vec<_>>().join(", ")
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE, such as max_count=3".to_owned()),
    }
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

/// Runs the command line of `program`.
pub(crate) fn main(program: &Program) -> ExitCode {
    let catalog = program.catalog;
    let arguments = match parsed() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(USAGE) } else { ExitCode::SUCCESS };
        }
    };
    match arguments.command.unwrap_or(Command::Run(arguments.run)) {
        Command::Run(arguments) => command::run::run(program, &arguments),
        Command::Validate(arguments) => command::validate::run(catalog, &arguments),
        Command::List(arguments) => command::list::run(catalog, &arguments),
        Command::Search(arguments) => command::search::run(catalog, &arguments),
        Command::Call(arguments) => command::call::run(program, &arguments),
        Command::Doctor(arguments) => command::doctor::run(catalog, &arguments),
        #[cfg(feature = "budget")]
        Command::Budget(arguments) => command::budget::run(catalog, &arguments),
        Command::Eval(arguments) => command::eval::run(catalog, &arguments),
        Command::Janitor => {
            shim::janitor();
            ExitCode::SUCCESS
        }
        Command::Confine(arguments) => {
            shim::confine(&arguments);
            ExitCode::from(FAILURE)
        }
        Command::Schema { format } => command::schema::run(format),
        Command::Export(arguments) => command::export::run(catalog, &arguments),
        Command::Diff(arguments) => command::diff::run(catalog, &arguments),
        #[cfg(feature = "import")]
        Command::Import(arguments) => command::import::run(&arguments),
        Command::Version(arguments) => command::version::run(catalog, &arguments),
        Command::Completions { shell } => command::completions::run(shell, &mut Arguments::command()),
    }
}
