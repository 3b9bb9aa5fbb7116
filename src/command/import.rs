//! `climax import`: drafts a config from a program's help.

mod completions;
mod manual;
mod progress;
mod reader;
mod scratch;
mod subset;

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use climax_catalog::{Diagnostics, Source, compile};
use climax_import::{self as import, Command, Draft, Flag, HelpPage, Selection, Subcommand};
use futures_util::{StreamExt as _, stream};

use crate::call::unknown;
use crate::command::output::{FAILURE, counted, print};
use crate::command::runtime::runtime;
use crate::command::{terminal, value};
use crate::exec::default_concurrency;

use reader::{Help, HelpReader, PendingCommand};
pub(super) use scratch::ScratchRunner;
use subset::Subset;

#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub(crate) struct Args {
    /// Run this program and its subcommands with --help, and read the output; words after PROGRAM name the subcommand
    /// to start from
    #[arg(long, value_name = "PROGRAM", num_args = 1.., required = true)]
    pub(crate) help_of: Vec<String>,
    /// How many levels of subcommands are read; with 0 only PROGRAM itself is run
    #[arg(long, value_name = "N", default_value_t = crate::command::import::DEFAULT_IMPORT_DEPTH, value_parser = value::integer::<usize>)]
    pub(crate) depth: usize,
    /// How many commands are run at most to read their help
    #[arg(long, value_name = "N", default_value_t = crate::command::import::DEFAULT_IMPORTED_COMMANDS, value_parser = value::integer::<usize>)]
    pub(crate) max_commands: usize,
    /// Read only these subcommands; a name may have several words, such as 'remote add'
    #[arg(long, value_name = "SUB", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Publish these options in any case, also those that the draft would leave out
    #[arg(long, value_name = "FLAG", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) keep: Vec<String>,
    /// How many options of each tool the schema publishes, the most useful first; the others have `shown: false`
    #[arg(long, value_name = "N", default_value_t = import::DEFAULT_MAIN, value_parser = value::integer::<usize>)]
    pub(crate) main: usize,
    /// Add commands that the help leaves out, if it names a command that lists them
    #[arg(long)]
    pub(crate) all: bool,
    /// Add options that only manual pages describe, for programs whose --help prints one
    #[arg(long)]
    pub(crate) manual: bool,
    /// Write the config to this new file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[cfg(feature = "import-usage")]
    #[command(subcommand)]
    pub(crate) format: Option<ImportFormat>,
}

/// Formats that describe a program and are read instead of its help.
#[cfg(feature = "import-usage")]
#[derive(Debug, clap::Subcommand)]
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

/// Default of `import --max-commands`.
pub(crate) const DEFAULT_IMPORTED_COMMANDS: usize = 400;

/// Default of `import --depth`.
pub(crate) const DEFAULT_IMPORT_DEPTH: usize = 3;

/// Writes the draft. Its size and number of guesses go to standard error.
pub(crate) fn run(arguments: &Args) -> ExitCode {
    #[cfg(feature = "import-usage")]
    if let Some(ImportFormat::Usage { file, output }) = &arguments.format {
        return finish(import::spec::draft_of(file), output.as_deref());
    }

    let drafted = runtime().map_err(|error| error.to_string()).and_then(|runtime| {
        let runner = ScratchRunner::new();
        runtime.block_on(drafted(&runner, arguments, false))
    });
    finish(drafted.map(|drafted| drafted.draft), arguments.output.as_deref())
}

impl Args {
    /// The arguments that import a program with the default options.
    pub(super) fn of(program: &str) -> Self {
        Self {
            help_of: vec![program.to_owned()],
            depth: DEFAULT_IMPORT_DEPTH,
            max_commands: DEFAULT_IMPORTED_COMMANDS,
            only: Vec::new(),
            keep: Vec::new(),
            main: import::DEFAULT_MAIN,
            all: false,
            manual: false,
            output: None,
            #[cfg(feature = "import-usage")]
            format: None,
        }
    }
}

/// A draft, and what it was made from.
pub(super) struct Drafted {
    pub(super) draft: Draft,
    pub(super) sources: Vec<&'static str>,
}

/// Checks and writes a draft.
pub(super) fn finish(drafted: Result<Draft, String>, output: Option<&Path>) -> ExitCode {
    let draft = match drafted.and_then(|draft| checked(&draft).map(|()| draft)) {
        Ok(draft) => draft,
        Err(message) => {
            terminal::complain(&message);
            return ExitCode::from(FAILURE);
        }
    };

    terminal::complain(&format!(
        "{} with {}; {} marked `guess`: check them",
        counted(draft.tools, "tool"),
        counted(draft.args, "arg"),
        counted(draft.guesses, "line")
    ));
    let Some(path) = output else { return print(&draft.text, ExitCode::SUCCESS) };
    match write_new(path, &draft) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            terminal::complain(&message);
            ExitCode::from(FAILURE)
        }
    }
}

/// Writes a draft to a new file.
///
/// # Errors
/// The file exists, or cannot be written.
pub(super) fn write_new(path: &Path, draft: &Draft) -> Result<(), String> {
    let written = File::create_new(path).and_then(|mut file| file.write_all(draft.text.as_bytes()));
    written.map_err(|error| {
        let path = path.display();
        match error.kind() {
            io::ErrorKind::AlreadyExists => {
                format!("{path} exists and may have been edited: remove it, or name another file")
            }
            _ => format!("cannot write {path}: {error}"),
        }
    })
}

/// Checks that a draft is a valid config.
///
/// # Errors
/// It is not, which is a mistake of the importer. The diagnostics have been reported.
pub(super) fn checked(draft: &Draft) -> Result<(), String> {
    check(draft).map_err(|diagnostics| {
        terminal::report(&diagnostics);
        "the draft is no valid config, which is a mistake of the importer: please report the help page".to_owned()
    })
}

/// Checks that the draft is a valid config.
fn check(draft: &Draft) -> Result<(), Diagnostics> {
    let source = Source::new("draft.yaml", draft.text.clone().into_bytes()).map_err(|problem| {
        let mut diagnostics = Diagnostics::default();
        diagnostics.push(problem);
        diagnostics
    })?;
    compile(&[source]).map(drop)
}

/// Drafts a config from the help of a program, and from what else this machine has about it.
///
/// `is_quiet` leaves out on standard error how far it is and which pages cannot be read.
pub(super) async fn drafted(runner: &ScratchRunner, arguments: &Args, is_quiet: bool) -> Result<Drafted, String> {
    let (program, words) = arguments.help_of.split_first().ok_or("name a program")?;
    let reader = HelpReader::new(program, runner, (arguments.manual, is_quiet));
    let work = Box::pin(commands_of(&reader, program, words, arguments));
    if is_quiet { work.await } else { reader.progress.during(work).await }
}

/// Reads the help of a program and of its subcommands, and completes it from its manual and its completions.
///
/// # Errors
/// The program has neither help nor a manual that can be read, or lacks a subcommand that was asked for.
async fn commands_of(
    reader: &HelpReader<'_>,
    program: &str,
    words: &[String],
    arguments: &Args,
) -> Result<Drafted, String> {
    let manual = manual::page(reader, program, words).await;
    let (top, mut sources) = match (reader.first(words).await, &manual) {
        (Ok(top), _) => (top, vec!["help"]),
        (Err(_), Some(page)) => (Help { text: String::new(), page: page.clone() }, Vec::new()),
        (Err(message), None) => return Err(message),
    };
    let mut about = top.page.command.about.clone();
    let selection = selection(program, words, &top, arguments);
    let mut commands = described_commands(reader, program, words, (top, &about), arguments).await?;

    if let Some(manual) = manual {
        sources.push("man");
        // The line that names a program in its manual is what others list it by.
        if words.is_empty() && !manual.command.about.is_empty() {
            about.clone_from(&manual.command.about);
        }
        if let Some(command) = commands.iter_mut().find(|command| command.words == words) {
            import::complete_from_manual(command, manual.command);
        }
    }
    for completions in completions::of(program) {
        if completions.complete(&mut commands) {
            sources.push(completions.source());
        }
    }

    let origin = format!("the help of `{}`", arguments.help_of.join(" "));
    Ok(Drafted { draft: import::draft(program, &about, &commands, &origin, &selection), sources })
}

/// Returns what a draft is to have, by the arguments and by what the help of the program itself says.
fn selection(program: &str, words: &[String], top: &Help, arguments: &Args) -> Selection {
    let prints = |name: &str| {
        let mut options = top.page.command.options.iter();
        words.is_empty() && options.any(|flag| flag.value.is_none() && flag.spellings.iter().any(|own| own == name))
    };
    Selection {
        keep: arguments.keep.clone(),
        main: arguments.main,
        uncaged: unknown::objection(program),
        program: program.to_owned(),
        has_help: prints("--help"),
        has_version: prints("--version") && !top.page.runs,
        has_boolean_values: import::is_cobra(&top.text),
    }
}

/// Returns the commands that the help describes, from that of the program itself on. Each has the common options too.
///
/// # Errors
/// A subcommand that was asked for is not among them.
async fn described_commands(
    reader: &HelpReader<'_>,
    program: &str,
    words: &[String],
    (top, about): (Help, &str),
    arguments: &Args,
) -> Result<Vec<Command>, String> {
    let common = match top.page.common_options {
        Some(words) => reader.common_options(words).await,
        None => Vec::new(),
    };
    let more = match top.page.all_commands.filter(|_| arguments.all && words.is_empty()) {
        Some(listing) => import::read_listing(&reader.output(listing.iter().copied()).await.unwrap_or_default()),
        None => Vec::new(),
    };

    let subset = Subset::new(words.len(), &arguments.only);
    let root = PendingCommand { words: words.to_vec(), about: about.to_owned(), ..PendingCommand::default() };
    let mut commands = Vec::new();
    let below = add_command(&mut commands, root, Some(top), more);
    walk(reader, below, &mut commands, (arguments, &subset)).await;
    import::add_defaults(&mut commands);
    subset.check(program)?;
    commands.retain(|command| subset.includes(&command.words));

    for command in &mut commands {
        let known: Vec<String> = command.options.iter().flat_map(|flag| flag.spellings.clone()).collect();
        let new = common.iter().filter(|flag| !flag.spellings.iter().any(|spelling| known.contains(spelling)));
        command.options.extend(new.cloned());
    }
    Ok(commands)
}

/// Reads the help of all subcommands, level by level, and adds those that can be called.
async fn walk(
    reader: &HelpReader<'_>,
    mut level: Vec<PendingCommand>,
    commands: &mut Vec<Command>,
    (arguments, subset): (&Args, &Subset),
) {
    // The help of the program itself has been read.
    let mut room = arguments.max_commands.saturating_sub(1);
    let mut left_out = 0;
    for _ in 0..arguments.depth {
        level.retain(|pending| subset.leads_to(&pending.words));
        left_out += level.len().saturating_sub(room);
        level.truncate(room);
        room -= level.len();
        reader.progress.add(level.len());
        // The first one determines the form of help for the others.
        let mut rest = level.into_iter();
        let mut helps = Vec::new();
        if let Some(first) = rest.next() {
            helps.push(reader.subcommand(first).await);
        }
        let others: Vec<_> = rest.map(|pending| reader.subcommand(pending)).collect();
        helps.extend(stream::iter(others).buffered(default_concurrency()).collect::<Vec<_>>().await);
        level =
            helps.into_iter().flat_map(|(pending, help)| add_command(commands, pending, help, Vec::new())).collect();
        if level.is_empty() {
            break;
        }
    }

    left_out += level.iter().filter(|pending| subset.leads_to(&pending.words)).count();
    if left_out > 0 {
        terminal::complain(&format!("{left_out} more commands were not read: see --depth and --max-commands"));
    }
}

/// Adds a command, if it can be called. Returns its subcommands.
fn add_command(
    commands: &mut Vec<Command>,
    pending: PendingCommand,
    help: Option<Help>,
    more: Vec<Subcommand>,
) -> Vec<PendingCommand> {
    let Some(Help { text, page }) = help else {
        let mut command = Command::default();
        if !pending.usages.is_empty() {
            let usage = format!("usage: {}\n", pending.usages.join("\n   or: "));
            command = import::read(&usage, &pending.words).command;
        }
        // What it takes is unknown, but for the options that all commands have.
        if let Some(page) = pending.ancestors.last().filter(|_| pending.usages.is_empty()) {
            command.options = import::read(page, &[]).command.options;
            command.forms = Some(String::new());
        }
        command.words = pending.words;
        command.aliases = pending.aliases;
        command.about = pending.about;
        command.inherit(&pending.leading);
        command.guesses.push("it has no help of its own");
        commands.push(command);
        return Vec::new();
    };
    let HelpPage { mut command, mut subcommands, runs, .. } = page;
    let known: Vec<String> = subcommands.iter().map(|subcommand| subcommand.name.clone()).collect();
    subcommands.extend(more.into_iter().filter(|subcommand| !known.contains(&subcommand.name)));
    let own = command.options.iter().map(|flag| (pending.words.len(), flag.clone()));
    let leading: Vec<(usize, Flag)> = pending.leading.iter().cloned().chain(own).collect();
    if runs {
        command.inherit(&pending.leading);
        command.is_default = pending.is_default;
        if command.about.is_empty() {
            command.about = pending.about;
        }
        let new = pending.aliases.iter().filter(|alias| !command.aliases.contains(alias)).cloned().collect::<Vec<_>>();
        command.aliases.extend(new);
        commands.push(command);
    }

    let mut ancestors = pending.ancestors;
    ancestors.push(text);
    let names: Vec<String> = subcommands.iter().map(|subcommand| subcommand.name.clone()).collect();
    let joined = |word: &str| pending.words.iter().map(String::as_str).chain([word]).collect::<Vec<_>>().join(" ");
    let below = subcommands.into_iter().map(|subcommand| PendingCommand {
        aliases: {
            let own = subcommand.aliases.iter().filter(|word| !names.contains(word)).map(|word| joined(word));
            let of_parents = pending.aliases.iter().map(|parent| format!("{parent} {}", subcommand.name));
            own.chain(of_parents).collect()
        },
        // `cache clear`, where a page lists it so.
        words: pending.words.iter().cloned().chain(subcommand.name.split(' ').map(str::to_owned)).collect(),
        about: subcommand.about,
        usages: subcommand.usages,
        is_default: subcommand.is_default,
        leading: leading.clone(),
        ancestors: ancestors.clone(),
    });

    below.collect()
}
