//! `climax import`: a first config from a program's own help.

use crate::command::output::{FAILURE, print};
use crate::command::runtime::runtime;
use crate::command::value;
use std::cell::Cell;
use std::fs::File;
use std::future::pending;
use std::io::{self, Write as _};
use std::path::Path;
use std::path::PathBuf;
use std::process::ExitCode;

use climax_catalog::policy::Executor;
use climax_catalog::{Diagnostics, Source, compile};
use futures_util::{StreamExt as _, stream};

use crate::command::terminal;
use crate::exec::Invocation;
use crate::exec::Limits;
use crate::exec::default_concurrency;
use crate::exec::{End, Runner};
use climax_import::{self as import, Command, Draft, HelpPage, MAX_HELP_BYTES, Subcommand};
use std::time::Duration;

#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub(crate) struct Args {
    /// Run this program with --help, then its subcommands, and read what they print; words behind PROGRAM name the
    /// subcommand to start from
    #[arg(long, value_name = "PROGRAM", num_args = 1.., required = true)]
    pub(crate) help_of: Vec<String>,
    /// Levels of subcommands to go down; with 0 only PROGRAM itself is run
    #[arg(long, value_name = "N", default_value_t = crate::command::import::DEFAULT_IMPORT_DEPTH, value_parser = value::whole::<usize>)]
    pub(crate) depth: usize,
    /// Commands to ask for their help at most
    #[arg(long, value_name = "N", default_value_t = crate::command::import::DEFAULT_IMPORTED_COMMANDS, value_parser = value::whole::<usize>)]
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

/// How long a program may take to print its help.
const HELP_LIMIT: Duration = Duration::from_secs(10);

/// Default of `import --max-commands`.
pub(crate) const DEFAULT_IMPORTED_COMMANDS: usize = 400;

/// Default of `import --depth`: levels of subcommands.
pub(crate) const DEFAULT_IMPORT_DEPTH: usize = 3;

/// Variables that keep pagers, colours, prompts and translations away, and lines whole.
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

/// Writes the draft; what there is to know about it goes to standard error.
pub(crate) fn run(arguments: &Args) -> ExitCode {
    #[cfg(feature = "import-usage")]
    if let Some(ImportFormat::Usage { file, output }) = &arguments.format {
        return finish(from_usage(file), output.as_deref());
    }
    let drafted = runtime().map_err(|error| error.to_string()).and_then(|runtime| {
        let (program, words) = arguments.help_of.split_first().ok_or("name a program")?;
        runtime.block_on(from_help(program, words, arguments))
    });
    finish(drafted, arguments.output.as_deref())
}

fn finish(drafted: Result<Draft, String>, output: Option<&Path>) -> ExitCode {
    let draft = match drafted {
        Ok(draft) => draft,
        Err(message) => {
            terminal::error(&format!("climax: {message}"));
            return ExitCode::from(FAILURE);
        }
    };
    if let Err(diagnostics) = checked(&draft) {
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

/// Reads the draft as every config is read.
fn checked(draft: &Draft) -> Result<(), Diagnostics> {
    let source = Source::new("draft.yaml", draft.text.clone().into_bytes()).map_err(|problem| {
        let mut diagnostics = Diagnostics::default();
        diagnostics.push(problem);
        diagnostics
    })?;
    compile(&[source]).map(drop)
}

/// How a program is asked for its help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Long,
    Short,
    /// `PROGRAM help SUBCOMMAND`, tried only where the program has such a command.
    Command,
}

/// A command that is to be asked.
struct Open {
    words: Vec<String>,
    about: String,
    /// Its usage lines, if those of its parent show it.
    usages: Vec<String>,
    /// The pages above it: one that comes again says nothing of this command.
    above: Vec<String>,
}

struct Answer {
    text: String,
    page: HelpPage,
}

struct Asker<'a> {
    program: &'a str,
    runner: Runner,
    /// The way that worked last.
    way: Cell<Way>,
    has_help_command: Cell<bool>,
    /// Whether what only manual pages say is wanted.
    manual: bool,
}

async fn from_help(program: &str, words: &[String], arguments: &Args) -> Result<Draft, String> {
    let limits = Limits { stream_bytes: 2 * MAX_HELP_BYTES, ..Limits::default() };
    let runner = Runner::new(Executor::Local, limits, default_concurrency()).with_helper_processes();
    let asker = Asker {
        program,
        runner,
        way: Cell::new(Way::Long),
        has_help_command: Cell::new(false),
        manual: arguments.manual,
    };
    let top = asker.first(words).await?;
    let about = top.page.command.about.clone();
    let common = if top.page.has_common_options { asker.common_options().await } else { Vec::new() };
    let more = match top.page.all_commands.filter(|_| arguments.all && words.is_empty()) {
        Some(listing) => import::read_listing(&asker.output(listing.iter().copied()).await.unwrap_or_default()),
        None => Vec::new(),
    };
    let root = Open { words: words.to_vec(), about: about.clone(), usages: Vec::new(), above: Vec::new() };
    let mut commands = Vec::new();
    let below = take(&mut commands, root, Some(top), more);
    walk(&asker, below, &mut commands, arguments).await;
    for command in &mut commands {
        let known: Vec<String> = command.options.iter().flat_map(|flag| flag.spellings.clone()).collect();
        let new = common.iter().filter(|flag| !flag.spellings.iter().any(|spelling| known.contains(spelling)));
        command.options.extend(new.cloned());
    }
    let origin = format!("the help of `{}`", arguments.help_of.join(" "));
    Ok(import::draft(program, &about, &commands, &origin))
}

/// Asks a level of subcommands, then what is below it, and keeps those that do something.
async fn walk(asker: &Asker<'_>, mut level: Vec<Open>, commands: &mut Vec<Command>, arguments: &Args) {
    // The program itself was asked.
    let mut room = arguments.max_commands.saturating_sub(1);
    let mut left_out = 0;
    for _ in 0..arguments.depth {
        left_out += level.len().saturating_sub(room);
        level.truncate(room);
        room -= level.len();
        // The first teaches how the others are best asked.
        let mut rest = level.into_iter();
        let mut answers = Vec::new();
        if let Some(first) = rest.next() {
            answers.push(asker.ask(first).await);
        }
        let others: Vec<_> = rest.map(|open| asker.ask(open)).collect();
        answers.extend(stream::iter(others).buffered(default_concurrency()).collect::<Vec<_>>().await);
        level = answers.into_iter().flat_map(|(open, answer)| take(commands, open, answer, Vec::new())).collect();
        if level.is_empty() {
            break;
        }
    }
    left_out += level.len();
    if left_out > 0 {
        terminal::error(&format!("climax: {left_out} more commands were not asked: see --depth and --max-commands"));
    }
}

/// Keeps the command of an answer, and returns what is to be asked next.
fn take(commands: &mut Vec<Command>, open: Open, answer: Option<Answer>, more: Vec<Subcommand>) -> Vec<Open> {
    let Some(Answer { text, page }) = answer else {
        let mut command = Command { words: open.words, about: open.about, ..Command::default() };
        command.guesses.push("it has no help of its own");
        if !open.usages.is_empty() {
            let page = import::read(&format!("usage: {}\n", open.usages.join("\n   or: ")), &command.words);
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
            command.about = open.about;
        }
        commands.push(command);
    }
    let mut above = open.above;
    above.push(text);
    let below = subcommands.into_iter().map(|subcommand| Open {
        words: open.words.iter().cloned().chain([subcommand.name]).collect(),
        about: subcommand.about,
        usages: subcommand.usages,
        above: above.clone(),
    });
    below.collect()
}

impl Asker<'_> {
    /// Asks for the help that everything starts from.
    async fn first(&self, words: &[String]) -> Result<Answer, String> {
        let mut printed = Vec::new();
        for way in [Way::Long, Way::Short] {
            let text = match self.help(words, way).await {
                Ok(text) => text,
                Err(message) if printed.is_empty() => return Err(message),
                Err(_) => break,
            };
            let page = import::read(&text, words);
            if page.says_something() && !(page.is_manual && way == Way::Long) {
                self.way.set(way);
                let mentions_help = |line: &str| line.trim_start().starts_with("help ");
                self.has_help_command.set(text.lines().any(mentions_help));
                return Ok(Answer { text, page });
            }
            printed.push((text, page));
        }
        // A manual is better than nothing.
        if let Some((text, page)) = printed.into_iter().find(|(_, page)| page.says_something()) {
            return Ok(Answer { text, page });
        }
        let command =
            std::iter::once(self.program).chain(words.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
        Err(format!(
            "neither `{command} --help` nor `{command} -h` printed options, subcommands or a usage line with operands; see \
             what they print, and write the config by hand"
        ))
    }

    /// Asks a subcommand; `None` if it has no help of its own.
    async fn ask(&self, open: Open) -> (Open, Option<Answer>) {
        let best = if self.manual { Way::Long } else { self.way.get() };
        let mut ways = vec![best];
        ways.extend([Way::Long, Way::Short].into_iter().filter(|way| *way != best));
        ways.extend(Some(Way::Command).filter(|_| self.has_help_command.get()));
        let mut manual = None;
        for way in ways {
            let text = match self.help(&open.words, way).await {
                Ok(text) => text,
                Err(message) => {
                    terminal::error(&format!("climax: {message}"));
                    break;
                }
            };
            let page = import::read(&text, &open.words);
            // The same page again: the program did not look at its subcommand, and may do anything with the next way.
            if open.above.contains(&text) {
                break;
            }
            if !page.says_something() {
                continue;
            }
            if page.is_manual {
                manual.get_or_insert(Answer { text, page });
                continue;
            }
            let page = match manual {
                Some(Answer { page: manual, .. }) if self.manual => page.with_options_of(manual),
                _ => page,
            };
            if way != Way::Command {
                self.way.set(way);
            }
            return (open, Some(Answer { text, page }));
        }
        (open, manual)
    }

    async fn common_options(&self) -> Vec<import::Flag> {
        let text = self.output(["options"]).await.unwrap_or_default();
        import::read(&text, &[]).command.options
    }

    async fn help(&self, words: &[String], way: Way) -> Result<String, String> {
        let words = words.iter().map(String::as_str);
        match way {
            Way::Long => self.output(words.chain(["--help"])).await,
            Way::Short => self.output(words.chain(["-h"])).await,
            Way::Command => self.output(["help"].into_iter().chain(words)).await,
        }
    }

    /// What the program prints: on standard output, or if there is nothing, on standard error.
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

#[cfg(feature = "import-usage")]
fn from_usage(file: &Path) -> Result<Draft, String> {
    let spec = usage::Spec::parse_file(file).map_err(|error| {
        let detail = match &error {
            usage::error::UsageErr::InvalidInput(message, span, source) => {
                let before = source.inner().get(..span.offset()).unwrap_or_default();
                format!("line {}: {message}", before.lines().count().max(1))
            }
            other => other.to_string(),
        };
        format!("cannot read {}: {detail}", file.display())
    })?;
    let commands = import::spec::commands(&spec);
    if commands.is_empty() {
        return Err(format!(
            "{} describes no command that could be called: it has neither flags nor args",
            file.display()
        ));
    }
    let program = if spec.bin.is_empty() { &spec.name } else { &spec.bin };
    let about = spec.about.as_deref().unwrap_or_default();
    Ok(import::draft(program, about, &commands, &format!("the usage specification {}", file.display())))
}
