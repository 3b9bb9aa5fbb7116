//! Runs lines for `climax sh` with the streams of this process.

use std::convert::Infallible;
use std::io::{self, IsTerminal as _};
#[cfg(feature = "prompt")]
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use climax_catalog::policy::AskedCage;
use climax_catalog::{Cage, OutputForm};
use tokio::runtime::Runtime;

use crate::call::approval::Approver;
use crate::call::line::UnreadLine;
#[cfg(feature = "prompt")]
use crate::call::line::directory_change;
use crate::call::visible::TextForm;
use crate::call::{
    CallError, LineBounds, LineInput, PlanOutcome, PlanResult, Purpose, RawStreams, Request, Session, StageOutcome,
    StepOutcome, Tested, Toolbox,
};
use crate::command::output::{FAILURE, USAGE};
use crate::command::signals::EndSignal;
use crate::command::terminal;
use crate::exec::{self, End};
use crate::mcp::reply::{notes, reply};

/// Exit status: the policy does not permit a command. Source: POSIX.1-2024, "Exit Status for Commands".
const DENIED: u8 = 126;

/// Exit status: no tool runs the program. Source: the same.
const NOT_FOUND: u8 = 127;

/// The shell that programs find in `SHELL`, so that they do not start this one.
const CHILD_SHELL: (&str, &str) = ("SHELL", "/bin/sh");

/// Runs lines one after the other.
pub(super) struct Shell<'t> {
    pub(super) toolbox: &'t Toolbox,
    runtime: Runtime,
    /// Where lines start; `None` is the directory of this process.
    directory: Option<PathBuf>,
    /// The cage of the programs that have one, if it is wider than theirs; or none.
    cage: Option<AskedCage>,
    /// What lines are for.
    purpose: Purpose,
}

impl<'t> Shell<'t> {
    pub(super) fn new(toolbox: &'t Toolbox, runtime: Runtime, (cage, purpose): (Option<AskedCage>, Purpose)) -> Self {
        Self { toolbox, runtime, directory: None, cage, purpose }
    }

    #[cfg(feature = "prompt")]
    pub(super) fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// Runs a line of a prompt, and returns its exit status; the last one again for a line without commands.
    ///
    /// `cd DIR` alone changes the directory of the lines behind it, and `exit` breaks.
    #[cfg(feature = "prompt")]
    pub(super) fn take<A>(&mut self, line: &str, last: u8, approver: &A) -> ControlFlow<u8, u8>
    where
        A: Approver<Question = Infallible>,
    {
        match line.trim() {
            "exit" => return ControlFlow::Break(last),
            text if text.is_empty() || text.starts_with('#') => return ControlFlow::Continue(last),
            _ => {}
        }

        let Some(directories) = directory_change(line, &crate::exec::variable) else {
            return ControlFlow::Continue(self.run(line, None, approver));
        };
        ControlFlow::Continue(self.change_directory(&directories))
    }

    /// Changes the directory of further lines, not that of this process: relative paths of a policy keep their meaning.
    #[cfg(feature = "prompt")]
    fn change_directory(&mut self, directories: &[String]) -> u8 {
        let start = self.directory.clone().unwrap_or_default();
        let path = directories.iter().fold(start, |path, directory| path.join(directory));
        let found = path.canonicalize().and_then(|path| path.read_dir().map(|_| path));

        match found {
            Ok(path) => {
                self.directory = Some(path);
                0
            }
            Err(error) => {
                terminal::complain(&format!("cannot change to the directory `{}`: {error}", path.display()));
                FAILURE
            }
        }
    }

    /// Runs a line, and returns its exit status. A signal ends its programs.
    pub(super) fn run<A>(&self, line: &str, input: Option<OwnedFd>, approver: &A) -> u8
    where
        A: Approver<Question = Infallible>,
    {
        self.execute(line, input, approver).unwrap_or_else(|error| {
            terminal::complain(&error);
            FAILURE
        })
    }

    fn execute<A>(&self, line: &str, input: Option<OwnedFd>, approver: &A) -> io::Result<u8>
    where
        A: Approver<Question = Infallible>,
    {
        let (output, copied_output) = stream(io::stdout().is_terminal(), &io::stdout(), io::stdout)?;
        let (errors, copied_errors) = stream(io::stderr().is_terminal(), &io::stderr(), io::stderr)?;
        let raw = RawStreams { input, output, errors };
        let env = [(CHILD_SHELL.0.to_owned(), CHILD_SHELL.1.to_owned())];
        let directory = self.directory.as_ref().map(|path| path.display().to_string());
        let input = if raw.input.is_some() { LineInput::Stream } else { LineInput::Nothing };
        let bounds = LineBounds { cage: self.cage, timeout: None };
        let request = Request::Line { text: line, directory: directory.as_deref(), input, bounds };
        let session = Session { env: &env, ..Session::anonymous(self.purpose) };
        let signal = EndSignal::default();
        let result = self.runtime.block_on(async {
            let stop = signal.stop()?;
            io::Result::Ok(self.toolbox.run(request, session, Some(raw), approver, stop).await)
        });
        let done = match result? {
            PlanResult::Done(done) => done,
            PlanResult::InputRequired(never) => match never {},
        };

        for note in done.steps.iter().flat_map(|step| &step.stages).flat_map(|stage| notes(&stage.outcome)) {
            terminal::complain(&note);
        }
        for copied in [copied_output, copied_errors].into_iter().flatten() {
            // It ends with the programs; a failure to write has no one to report to.
            let _ = copied.join();
        }

        let stages = || done.steps.iter().flat_map(|step| &step.stages);
        let limits = self.cage_of_failure(stages());
        // Lines such as `make 2>&1 | tail` and `python3 x.py; git diff` succeed whatever becomes of the program.
        let hidden_limits = self
            .cage_of_failure(stages().filter(|stage| stage.tested < Tested::Answers && self.runs_code(&stage.tool)));
        let status = status(done);
        let status = signal.status().unwrap_or(status);
        if let Some(limits) = if status == 0 { hidden_limits } else { limits } {
            terminal::complain(&limits);
        }
        Ok(status)
    }

    /// Whether a tool runs code of the directory or of its caller. No list has the tools of programs without a config.
    fn runs_code(&self, tool: &str) -> bool {
        self.toolbox.index.get(tool).is_none_or(|tool| tool.needs().is_some_and(|needs| needs.holds_any_code()))
    }

    /// Says in which cage the last of some programs failed that had one, since what it wrote has gone by unseen.
    fn cage_of_failure<'s>(&self, stages: impl Iterator<Item = &'s StageOutcome>) -> Option<String> {
        let failed = |stage: &&StageOutcome| matches!(stage.outcome.end, End::Exited(status) if status != 0);
        let (stage, cage) = stages.filter(failed).filter_map(|stage| Some((stage, stage.cage?))).last()?;

        // Variables may stand before it.
        let program = stage.text.split_whitespace().find(|word| !word.contains('=')).unwrap_or(&stage.tool);
        let writes = match cage {
            Cage::Read => {
                "files in $TMPDIR and in directories that `mkdir /tmp/…` has made alone (`--cage workspace`: also the project)"
            }
            Cage::Workspace => "the project, $TMPDIR, and in /tmp what it names and what the line has made alone",
        };
        let network = if stage.has_network { "" } else { ", and had no network" };
        let prefetch = stage.prefetch.as_ref().filter(|_| !stage.has_network);
        let prefetch = prefetch.map(|command| format!(" (`{command}` downloads what it lacks)")).unwrap_or_default();
        let closed = self.closed_file(&stage.text);
        let closed = closed.map(|path| format!("; `{path}` is of another session: `< {path}` gives it the file"));
        let closed = closed.unwrap_or_default();
        Some(format!(
            "`{program}` ran in the cage `{}`: it could write {writes}{network}{prefetch}{closed}",
            cage.as_str()
        ))
    }

    /// Returns the first word of a command that names a temporary file which the session has not made.
    fn closed_file<'w>(&self, text: &'w str) -> Option<&'w str> {
        let (project, made) = (self.toolbox.own_project(), self.toolbox.runner.made());
        let is_temporary = |path: &Path| path.is_file() && exec::area_of(path, project) == exec::Area::Temporary;
        let is_closed = |path: &Path| is_temporary(path) && !made.iter().any(|made| path.starts_with(made));
        text.split_whitespace().find(|word| is_closed(Path::new(word)))
    }
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
fn status(done: PlanOutcome) -> u8 {
    if let Some(failure) = done.failure {
        let status = failure_status(&failure.error);
        let tool = failure.tool.unwrap_or_default();
        let about = if tool.is_empty() { String::new() } else { format!("`{}` ({tool}): ", failure.text) };
        let began = done.status.is_some().then(|| failure.error.in_the_middle()).flatten();
        let text = began.unwrap_or_else(|| reply(&tool, OutputForm::Text, Err(failure.error), TextForm::Visible).text);
        terminal::complain(&format!("{about}{text}"));
        return status;
    }

    let status = done.status.or_else(|| done.steps.last().map(StepOutcome::status)).unwrap_or_default();
    u8::try_from(status & 0xff).unwrap_or(FAILURE)
}

fn failure_status(error: &CallError) -> u8 {
    match error {
        CallError::Unread(unread) => match unread.as_ref() {
            UnreadLine::Command { unread, .. } if unread.is_withheld => DENIED,
            UnreadLine::Command { unread, .. } if unread.tool.is_none() => NOT_FOUND,
            UnreadLine::Command { .. } | UnreadLine::Lacking { .. } | UnreadLine::Syntax(_) => USAGE,
        },
        CallError::UnknownTool { .. } => NOT_FOUND,
        CallError::PolicyDenied { .. }
        | CallError::Sensitive { .. }
        | CallError::ApprovalDenied(_)
        | CallError::UnusableAnswer { .. }
        | CallError::LateQuestion => DENIED,
        CallError::Spawn(error) => error.status_of_command().unwrap_or(DENIED),
        CallError::InvalidArguments { .. } => USAGE,
        CallError::Unaudited(_) => FAILURE,
    }
}
