//! `climax sh`: runs a command line with the served tools, for people and for agents that start `$SHELL -c LINE`.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::JoinHandle;

use climax_catalog::OutputForm;
use tokio::signal::unix::{SignalKind, signal};

use crate::call::approval::{Approver, Denial, FormAnswer, PendingCall, Verdict};
use crate::call::digest::RequestDigest;
use crate::call::form::Form;
use crate::call::line::UnreadLine;
use crate::call::visible::TextForm;
use crate::call::{CallError, LineOutcome, LineRequest, LineResult, Purpose, RawStreams, Toolbox};
use crate::command::output::{FAILURE, USAGE};
use crate::command::runtime::{audit, runtime};
use crate::command::selection::Sources;
use crate::command::terminal;
use crate::exec::{Limits, Runner, SpawnError, Stop};
use crate::mcp::reply::reply;
use crate::serving::Program;
use crate::serving::load::LoadedTools;

/// The name under which this program is a shell: `SHELL=…/climax-sh`.
pub(crate) const SHELL_NAME: &str = "climax-sh";

/// Exit status: the policy does not permit a command. Source: POSIX.1-2024, "Exit Status for Commands".
const DENIED: u8 = 126;

/// Exit status: no tool runs the program. Source: the same.
const NOT_FOUND: u8 = 127;

/// The shell that programs find in `SHELL`, so that they do not start this one.
const CHILD_SHELL: (&str, &str) = ("SHELL", "/bin/sh");

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The command line
    #[arg(short = 'c', value_name = "LINE")]
    pub(crate) line: String,
    #[command(flatten)]
    pub(crate) sources: Sources,
    /// Append a JSON line for each command to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,
}

/// Returns the command line if this program was started as a shell: `climax-sh -c LINE`, also with `-l` or `-lc`.
pub(crate) fn as_shell(words: impl Iterator<Item = OsString>) -> Option<Result<Args, String>> {
    let words: Vec<OsString> = words.collect();
    let name = Path::new(words.first()?).file_name()?;
    if name != SHELL_NAME {
        return None;
    }
    let text = |word: &OsString| word.to_str().map(str::to_owned);
    let rest: Option<Vec<String>> = words[1..].iter().map(text).collect();
    let Some(rest) = rest else { return Some(Err("the command line is not UTF-8".to_owned())) };
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    Some(match rest.as_slice() {
        ["-c" | "-lc" | "-cl", line] | ["-l" | "--login", "-c", line] => Ok(shell_arguments(line)),
        _ => Err(format!("{SHELL_NAME} takes `-c LINE`, with `-l` or not: it has no prompt")),
    })
}

/// Returns the arguments of a shell, with the policy and the configs of the user's directory.
fn shell_arguments(line: &str) -> Args {
    let directory = shell_directory();
    let present = |name: &str| directory.as_ref().map(|directory| directory.join(name)).filter(|path| path.exists());
    let sources = Sources {
        configs: present("configs").into_iter().collect(),
        only: false,
        policy: present("policy.yaml"),
        confine: None,
    };
    Args { line: line.to_owned(), sources, audit: None }
}

/// The directory with `policy.yaml` and `configs/` for a shell.
fn shell_directory() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let config = || set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")));
    set("CLIMAX_SH_CONFIG").or_else(|| Some(config()?.join("climax")))
}

/// Runs the line. The exit status is that of its last pipeline, 126 if it is denied, 127 if no tool runs a program.
pub(crate) fn run(program: &Program, arguments: &Args) -> ExitCode {
    let LoadedTools { index, policy } = match arguments.sources.load(program.catalog) {
        Ok(served) => served,
        Err(code) => return code,
    };
    let audit = match audit(arguments.audit.as_deref()) {
        Ok(audit) => audit,
        Err(code) => return code,
    };
    let runner = Runner::new(policy.executor().clone(), Limits::default(), 1).with_helper_processes();
    let toolbox = Toolbox::new(index, policy, runner, audit);
    match execute(&toolbox, &arguments.line) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            terminal::error(&format!("climax: {error}"));
            ExitCode::from(FAILURE)
        }
    }
}

fn execute(toolbox: &Toolbox, line: &str) -> io::Result<u8> {
    let (output, copied_output) = stream(io::stdout().is_terminal(), &io::stdout(), io::stdout)?;
    let (errors, copied_errors) = stream(io::stderr().is_terminal(), &io::stderr(), io::stderr)?;
    // A terminal is not handed to programs: they could type into it.
    let input = if io::stdin().is_terminal() { None } else { Some(io::stdin().as_fd().try_clone_to_owned()?) };
    let raw = RawStreams { input, output, errors };
    let env = [(CHILD_SHELL.0.to_owned(), CHILD_SHELL.1.to_owned())];
    let request = LineRequest {
        line,
        directory: None,
        stdin: None,
        watch: None,
        env: &env,
        caller: None,
        purpose: Purpose::Call,
        space: None,
    };
    let runtime = runtime()?;
    let result = runtime.block_on(async {
        let [mut terminate, mut interrupt, mut hangup] =
            [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?, signal(SignalKind::hangup())?];
        let stop = async {
            tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {}, _ = hangup.recv() => {} }
            Stop::Cancelled
        };
        io::Result::Ok(toolbox.run_line(request, Some(raw), &Headless, stop).await)
    });
    let done = match result? {
        LineResult::Done(done) => done,
        LineResult::InputRequired(never) => match never {},
    };
    for copied in [copied_output, copied_errors].into_iter().flatten() {
        // It ends with the programs; a failure to write has no one to report to.
        let _ = copied.join();
    }
    Ok(status(done))
}

/// Returns a descriptor for programs: the stream itself, or a pipe that is copied to it if it is a terminal.
fn stream<W: io::Write + Send + 'static>(
    is_terminal: bool,
    own: &impl std::os::fd::AsFd,
    writer: fn() -> W,
) -> io::Result<(OwnedFd, Option<JoinHandle<()>>)> {
    if !is_terminal {
        return Ok((own.as_fd().try_clone_to_owned()?, None));
    }
    let (mut read, write) = io::pipe()?;
    let copy = std::thread::spawn(move || {
        let mut writer = writer();
        let _ = io::copy(&mut read, &mut writer).and_then(|_| writer.flush());
    });
    Ok((write.into(), Some(copy)))
}

/// Reports what failed, and returns the exit status of a line.
fn status(done: LineOutcome) -> u8 {
    if let Some(failure) = done.failure {
        let status = failure_status(&failure.error);
        let tool = failure.tool.unwrap_or_default();
        let about = if tool.is_empty() { String::new() } else { format!("`{}` ({tool}): ", failure.text) };
        let text = reply(&tool, OutputForm::Text, Err(failure.error), TextForm::Visible).text;
        terminal::error(&format!("climax: {about}{text}"));
        return status;
    }
    let status = done.steps.last().map_or(0, crate::call::StepOutcome::status);
    u8::try_from(status & 0xff).unwrap_or(FAILURE)
}

fn failure_status(error: &CallError) -> u8 {
    match error {
        CallError::Unread(unread) => match unread.as_ref() {
            UnreadLine::Command { unread, .. } if unread.tool.is_none() => NOT_FOUND,
            UnreadLine::Command { .. } | UnreadLine::Syntax(_) => USAGE,
        },
        CallError::UnknownTool { .. } | CallError::Spawn(SpawnError::NotFound(_)) => NOT_FOUND,
        CallError::PolicyDenied { .. }
        | CallError::ApprovalDenied(_)
        | CallError::UnusableAnswer { .. }
        | CallError::Spawn(_) => DENIED,
        CallError::InvalidArguments { .. } => USAGE,
        CallError::Unaudited(_) => FAILURE,
    }
}

/// An approver that asks nobody: the policy decides.
struct Headless;

impl Approver for Headless {
    type Question = Infallible;

    async fn fill_in(&self, _: &Form<'_>, _: &RequestDigest) -> FormAnswer<Infallible> {
        FormAnswer::Denied(Denial::Unanswerable)
    }

    async fn approve(&self, pending: &PendingCall<'_>) -> Verdict<Infallible> {
        pending.headless()
    }
}
