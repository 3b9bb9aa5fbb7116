//! `climax import`: drafts a config from a program's help.

use std::cell::Cell;
use std::fs::File;
use std::future::pending;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use climax_catalog::policy::Executor;
use climax_catalog::{Diagnostics, Source, compile};
use climax_import::{self as import, Command, Draft, HelpPage, MAX_HELP_BYTES, Subcommand};
use futures_util::{StreamExt as _, stream};

use crate::command::output::{FAILURE, print};
use crate::command::runtime::runtime;
use crate::command::{terminal, value};
use crate::exec::{End, Invocation, Limits, Runner, default_concurrency};

#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub(crate) struct Args {
    /// Run this program and its subcommands with --help, and read the output; words after PROGRAM name the subcommand
    /// to start from
    #[arg(long, value_name = "PROGRAM", num_args = 1.., required = true)]
    pub(crate) help_of: Vec<String>,
    /// Levels of subcommands; with 0 only PROGRAM itself is run
    #[arg(long, value_name = "N", default_value_t = crate::command::import::DEFAULT_IMPORT_DEPTH, value_parser = value::integer::<usize>)]
    pub(crate) depth: usize,
    /// Maximum commands to run for their help
    #[arg(long, value_name = "N", default_value_t = crate::command::import::DEFAULT_IMPORTED_COMMANDS, value_parser = value::integer::<usize>)]
    pub(crate) max_commands: usize,
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

/// Timeout for a program to print its help.
const HELP_LIMIT: Duration = Duration::from_secs(10);

/// Default of `import --max-commands`.
pub(crate) const DEFAULT_IMPORTED_COMMANDS: usize = 400;

/// Default of `import --depth`.
pub(crate) const DEFAULT_IMPORT_DEPTH: usize = 3;

/// Environment variables that disable pagers, colours, prompts, translations and line wrapping.
const ENVIRONMENT: [(&str, &str); 13] = [
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("AWS_PAGER", "cat"),
    ("NO_COLOR", "1"),
    ("TERM", "dumb"),
    ("COLUMNS", "500"),
    ("MANWIDTH", "200"),
    ("LC_ALL", "C.UTF-8"),
    ("LANGUAGE", "en"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// Writes the draft. Its size and number of guesses go to standard error.
pub(crate) fn run(arguments: &Args) -> ExitCode {
    #[cfg(feature = "import-usage")]
    if let Some(ImportFormat::Usage { file, output }) = &arguments.format {
        return finish(import::spec::draft_of(file), output.as_deref());
    }
    let drafted = runtime().map_err(|error| error.to_string()).and_then(|runtime| {
        let (program, words) = arguments.help_of.split_first().ok_or("name a program")?;
        runtime.block_on(from_help(program, words, arguments))
    });
    finish(drafted, arguments.output.as_deref())
}

/// Checks and writes a draft.
fn finish(drafted: Result<Draft, String>, output: Option<&Path>) -> ExitCode {
    let draft = match drafted {
        Ok(draft) => draft,
        Err(message) => {
            terminal::error(&format!("climax: {message}"));
            return ExitCode::from(FAILURE);
        }
    };
    if let Err(diagnostics) = check(&draft) {
        terminal::report(&diagnostics);
        terminal::error(
            "climax: the draft is no valid config, which is a mistake of climax: please report the help page",
        );
        return ExitCode::from(FAILURE);
    }
    terminal::error(&format!(
        "climax: {} tools with {} args; {} lines are marked `guess`: check them",
        draft.tools, draft.args, draft.guesses
    ));
    let Some(path) = output else { return print(&draft.text, ExitCode::SUCCESS) };
    match File::create_new(path).and_then(|mut file| file.write_all(draft.text.as_bytes())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let path = path.display();
            terminal::error(&format!(
                "climax: {path} exists and may have been edited: remove it, or name another file"
            ));
            ExitCode::from(FAILURE)
        }
        Err(error) => {
            terminal::error(&format!("climax: cannot write {}: {error}", path.display()));
            ExitCode::from(FAILURE)
        }
    }
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

/// The command line that prints the help of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HelpForm {
    /// `PROGRAM SUBCOMMAND --help`.
    Long,
    /// `PROGRAM SUBCOMMAND -h`.
    Short,
    /// `PROGRAM help SUBCOMMAND`, for programs with a command `help`.
    Command,
}

/// A command whose help has not been read yet.
struct PendingCommand {
    words: Vec<String>,
    about: String,
    /// Its usage lines in the help of its parent.
    usages: Vec<String>,
    /// The help of its ancestors, to recognize a program that prints the same help for a subcommand.
    ancestors: Vec<String>,
}

/// The help of a command, as text and parsed.
struct Help {
    text: String,
    page: HelpPage,
}

/// Runs a program and its subcommands for their help.
struct HelpReader<'a> {
    program: &'a str,
    runner: Runner,
    /// The form that worked last.
    form: Cell<HelpForm>,
    has_help_command: Cell<bool>,
    /// Whether to add options of manual pages.
    manual: bool,
}

/// Drafts a config from the help of a program.
async fn from_help(program: &str, words: &[String], arguments: &Args) -> Result<Draft, String> {
    let limits = Limits { stream_bytes: 2 * MAX_HELP_BYTES, ..Limits::default() };
    let runner = Runner::new(Executor::Local, limits, default_concurrency()).with_helper_processes();
    let reader = HelpReader {
        program,
        runner,
        form: Cell::new(HelpForm::Long),
        has_help_command: Cell::new(false),
        manual: arguments.manual,
    };
    let top = reader.first(words).await?;
    let about = top.page.command.about.clone();
    let common = if top.page.has_common_options { reader.common_options().await } else { Vec::new() };
    let more = match top.page.all_commands.filter(|_| arguments.all && words.is_empty()) {
        Some(listing) => import::read_listing(&reader.output(listing.iter().copied()).await.unwrap_or_default()),
        None => Vec::new(),
    };
    let root =
        PendingCommand { words: words.to_vec(), about: about.clone(), usages: Vec::new(), ancestors: Vec::new() };
    let mut commands = Vec::new();
    let below = add_command(&mut commands, root, Some(top), more);
    walk(&reader, below, &mut commands, arguments).await;
    for command in &mut commands {
        let known: Vec<String> = command.options.iter().flat_map(|flag| flag.spellings.clone()).collect();
        let new = common.iter().filter(|flag| !flag.spellings.iter().any(|spelling| known.contains(spelling)));
        command.options.extend(new.cloned());
    }
    let origin = format!("the help of `{}`", arguments.help_of.join(" "));
    Ok(import::draft(program, &about, &commands, &origin))
}

/// Reads the help of all subcommands, level by level, and adds those that can be called.
async fn walk(reader: &HelpReader<'_>, mut level: Vec<PendingCommand>, commands: &mut Vec<Command>, arguments: &Args) {
    // The help of the program itself has been read.
    let mut room = arguments.max_commands.saturating_sub(1);
    let mut left_out = 0;
    for _ in 0..arguments.depth {
        left_out += level.len().saturating_sub(room);
        level.truncate(room);
        room -= level.len();
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
    left_out += level.len();
    if left_out > 0 {
        terminal::error(&format!("climax: {left_out} more commands were not read: see --depth and --max-commands"));
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
        let mut command = Command { words: pending.words, about: pending.about, ..Command::default() };
        command.guesses.push("it has no help of its own");
        if !pending.usages.is_empty() {
            let page = import::read(&format!("usage: {}\n", pending.usages.join("\n   or: ")), &command.words);
            (command.options, command.operands) = (page.command.options, page.command.operands);
        }
        commands.push(command);
        return Vec::new();
    };
    let HelpPage { mut command, mut subcommands, runs, .. } = page;
    let known: Vec<String> = subcommands.iter().map(|subcommand| subcommand.name.clone()).collect();
    subcommands.extend(more.into_iter().filter(|subcommand| !known.contains(&subcommand.name)));
    if runs {
        if command.about.is_empty() {
            command.about = pending.about;
        }
        commands.push(command);
    }
    let mut ancestors = pending.ancestors;
    ancestors.push(text);
    let below = subcommands.into_iter().map(|subcommand| PendingCommand {
        words: pending.words.iter().cloned().chain([subcommand.name]).collect(),
        about: subcommand.about,
        usages: subcommand.usages,
        ancestors: ancestors.clone(),
    });
    below.collect()
}

impl HelpReader<'_> {
    /// Reads the help of the command that the import starts from.
    async fn first(&self, words: &[String]) -> Result<Help, String> {
        let mut printed = Vec::new();
        for form in [HelpForm::Long, HelpForm::Short] {
            let text = match self.help(words, form).await {
                Ok(text) => text,
                Err(message) if printed.is_empty() => return Err(message),
                Err(_) => break,
            };
            let page = import::read(&text, words);
            if page.says_something() && !(page.is_manual && form == HelpForm::Long) {
                self.form.set(form);
                let mentions_help = |line: &str| line.trim_start().starts_with("help ");
                self.has_help_command.set(text.lines().any(mentions_help));
                return Ok(Help { text, page });
            }
            printed.push((text, page));
        }
        // Without other help the manual page is used.
        if let Some((text, page)) = printed.into_iter().find(|(_, page)| page.says_something()) {
            return Ok(Help { text, page });
        }
        let command =
            std::iter::once(self.program).chain(words.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
        Err(format!(
            "neither `{command} --help` nor `{command} -h` printed options, subcommands or a usage line with operands; see \
             what they print, and write the config by hand"
        ))
    }

    /// Reads the help of a subcommand; `None` if it has no help of its own.
    async fn subcommand(&self, pending: PendingCommand) -> (PendingCommand, Option<Help>) {
        let best = if self.manual { HelpForm::Long } else { self.form.get() };
        let mut forms = vec![best];
        forms.extend([HelpForm::Long, HelpForm::Short].into_iter().filter(|form| *form != best));
        forms.extend(Some(HelpForm::Command).filter(|_| self.has_help_command.get()));
        let mut manual = None;
        for form in forms {
            let text = match self.help(&pending.words, form).await {
                Ok(text) => text,
                Err(message) => {
                    terminal::error(&format!("climax: {message}"));
                    break;
                }
            };
            let page = import::read(&text, &pending.words);
            // The help of an ancestor: the program ignores the subcommand, and the next form could have side effects.
            if pending.ancestors.contains(&text) {
                break;
            }
            if !page.says_something() {
                continue;
            }
            if page.is_manual {
                manual.get_or_insert(Help { text, page });
                continue;
            }
            let page = match manual {
                Some(Help { page: manual, .. }) if self.manual => page.with_options_of(manual),
                _ => page,
            };
            if form != HelpForm::Command {
                self.form.set(form);
            }
            return (pending, Some(Help { text, page }));
        }
        (pending, manual)
    }

    /// Reads the options that all commands share, from `PROGRAM options`.
    async fn common_options(&self) -> Vec<import::Flag> {
        let text = self.output(["options"]).await.unwrap_or_default();
        import::read(&text, &[]).command.options
    }

    /// Runs a command for its help.
    async fn help(&self, words: &[String], form: HelpForm) -> Result<String, String> {
        let words = words.iter().map(String::as_str);
        match form {
            HelpForm::Long => self.output(words.chain(["--help"])).await,
            HelpForm::Short => self.output(words.chain(["-h"])).await,
            HelpForm::Command => self.output(["help"].into_iter().chain(words)).await,
        }
    }

    /// Runs the program. Returns its standard output, or its standard error if that is empty.
    async fn output(&self, words: impl IntoIterator<Item = &str>) -> Result<String, String> {
        let invocation = Invocation {
            argv: std::iter::once(self.program.to_owned()).chain(words.into_iter().map(str::to_owned)).collect(),
            env: ENVIRONMENT.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
            program_dir: None,
            cwd: None,
            stdin: None,
            files_dir: None,
            timeout: HELP_LIMIT,
        };
        let command = invocation.argv.join(" ");
        let outcome = self
            .runner
            .run(&invocation, None, pending())
            .await
            .map_err(|error| format!("{error}; name a program that is on the PATH, or give its path"))?;
        if let End::TimedOut(_) = outcome.end {
            let seconds = HELP_LIMIT.as_secs();
            return Err(format!(
                "`{command}` was still running after {seconds} s and was ended: it printed no help, or waits"
            ));
        }
        let [stdout, stderr] = [outcome.stdout, outcome.stderr].map(|stream| import::clean(&stream.text()));
        Ok(if stdout.trim().is_empty() { stderr } else { stdout })
    }
}
