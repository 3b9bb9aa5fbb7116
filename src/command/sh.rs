//! `climax sh`: runs command lines with the served tools, for people and for agents that start `$SHELL -c LINE`.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use climax_catalog::policy::AskedCage;
use strum::VariantNames as _;

use crate::call::approval::{Approver, Denial, FormAnswer, Verdict};
use crate::call::digest::RequestDigest;
use crate::call::form::Form;
use crate::call::{Plan, Purpose, Toolbox};
use crate::command::output::FAILURE;
use crate::command::runtime::{audit, for_one_person, runtime, set, user_directory};
use crate::command::selection::Sources;
use crate::command::shell::Shell;
use crate::command::terminal;
use crate::exec::{Limits, Runner};
use crate::identity::SHELL_NAME;
use crate::serving::Program;
use crate::serving::load::LoadedTools;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The command line to run. Without it, a prompt opens on a terminal, and elsewhere standard input is run, read to its
    /// end
    #[arg(short = 'c', value_name = "LINE")]
    pub(crate) line: Option<String>,
    #[command(flatten)]
    pub(crate) sources: Sources,
    /// Run programs that have a cage in this one, read or workspace, if it is wider than theirs; or in none, if the policy
    /// says `lines.widest: none`, and only after a question
    #[arg(long, value_name = "CAGE", value_parser = cages())]
    pub(crate) cage: Option<AskedCage>,
    /// Append a JSON line for each command to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,
    /// Refuse whatever does more than read, or prints secrets: for lines that `check` has rewritten
    #[arg(long)]
    pub(crate) judged: bool,
}

/// Parses a cage.
fn cages() -> impl TypedValueParser<Value = AskedCage> {
    PossibleValuesParser::new(AskedCage::VARIANTS)
        .try_map(|name| name.parse::<AskedCage>().map_err(|error| error.to_string()))
}

/// Returns the arguments if this program was started as a shell: `climax-sh`, also with `-c LINE` and `-l`.
pub(crate) fn as_shell(words: impl Iterator<Item = OsString>) -> Option<Result<Args, String>> {
    let words: Vec<OsString> = words.collect();
    let name = Path::new(words.first()?).file_name()?;
    if name != SHELL_NAME {
        return None;
    }

    let text = |word: &OsString| word.to_str().map(str::to_owned);
    let rest: Option<Vec<String>> = words[1..].iter().map(text).collect();
    let Some(rest) = rest else { return Some(Err("the command line is not UTF-8".to_owned())) };
    let is_flags = |word: &&String| {
        *word == "--login"
            || word.strip_prefix('-').is_some_and(|flags| !flags.is_empty() && flags.chars().all(is_flag))
    };
    let flags = rest.iter().take_while(is_flags).count();
    let takes_line = rest[..flags].iter().any(|word| !word.starts_with("--") && word.contains('c'));

    Some(match (takes_line, &rest[flags..]) {
        (true, [line]) => Ok(shell_arguments(Some(line))),
        (false, []) => Ok(shell_arguments(None)),
        _ => Err(format!(
            "{SHELL_NAME} takes `-c LINE` or no line, each with `-l` and `-i` or not; it runs no script file"
        )),
    })
}

/// Whether a letter is an option of shells that is read: a line follows, login, interactive.
fn is_flag(letter: char) -> bool {
    matches!(letter, 'c' | 'l' | 'i')
}

/// Returns the arguments of a shell, with the policy and the configs of the user's directory.
fn shell_arguments(line: Option<&str>) -> Args {
    let directory = shell_directory();
    let present = |name: &str| directory.as_ref().map(|directory| directory.join(name)).filter(|path| path.exists());
    let sources = Sources {
        configs: present("configs").into_iter().collect(),
        only: false,
        policy: present("policy.yaml"),
        confine: None,
        unknown: None,
    };
    Args { line: line.map(str::to_owned), sources, cage: None, audit: None, judged: false }
}

/// The directory with `policy.yaml` and `configs/` for a shell.
fn shell_directory() -> Option<PathBuf> {
    set("CLIMAX_SH_CONFIG").or_else(|| user_directory("XDG_CONFIG_HOME", ".config"))
}

/// Runs the line, the prompt or standard input.
///
/// The exit status is that of the last pipeline, 126 if it is denied, 127 if no tool runs a program.
pub(crate) fn run(program: &Program, arguments: &Args) -> ExitCode {
    let LoadedTools { index, policy } =
        match arguments.sources.load_for_line(program.catalog, arguments.line.as_deref()) {
            Ok(served) => served,
            Err(code) => return code,
        };
    let audit = match audit(arguments.audit.as_deref()) {
        Ok(audit) => audit,
        Err(code) => return code,
    };
    let runner = Runner::new(policy.executor().clone(), Limits::default(), 1).with_helper_processes();
    let runner = for_one_person(runner);
    let toolbox = Toolbox::new(index, policy, runner, audit);
    let done = runtime().and_then(|runtime| {
        let purpose = if arguments.judged { Purpose::Judged } else { Purpose::Call };
        let mut shell = Shell::new(&toolbox, runtime, (arguments.cage, purpose));
        match arguments.line.as_deref() {
            Some(line) => Ok(shell.run(line, input()?, &Headless)),
            None if io::stdin().is_terminal() => prompt(&mut shell),
            None => script(&shell),
        }
    });

    match done {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            terminal::complain(&error);
            ExitCode::from(FAILURE)
        }
    }
}

/// The standard input for programs. A terminal is not handed to them: they could type into it.
fn input() -> io::Result<Option<OwnedFd>> {
    let stdin = io::stdin();
    if stdin.is_terminal() { Ok(None) } else { stdin.as_fd().try_clone_to_owned().map(Some) }
}

/// Runs standard input as one line: a command may go on over lines, and a line of a here-document is no command. Programs
/// get no standard input.
fn script(shell: &Shell<'_>) -> io::Result<u8> {
    let mut text = String::new();
    // The reader refuses what is longer.
    io::stdin().take(climax_shell::MAX_BYTES as u64 + 1).read_to_string(&mut text)?;
    Ok(shell.run(&text, None, &Headless))
}

#[cfg(feature = "prompt")]
fn prompt(shell: &mut Shell<'_>) -> io::Result<u8> {
    crate::command::prompt::run(shell)
}

#[cfg(not(feature = "prompt"))]
fn prompt(_: &mut Shell<'_>) -> io::Result<u8> {
    let name = crate::identity::name();
    let message = format!("this build has no prompt: pass a line by `{name} sh -c LINE`, or lines on standard input");
    Err(io::Error::other(message))
}

/// An approver that asks nobody: the policy decides.
struct Headless;

impl Approver for Headless {
    type Question = Infallible;

    async fn fill_in(&self, _: &Form<'_>, _: &RequestDigest) -> FormAnswer<Infallible> {
        FormAnswer::Denied(Denial::Unanswerable)
    }

    async fn approve(&self, plan: &Plan<'_>) -> Verdict<Infallible> {
        plan.headless()
    }
}
