//! Runs lines: walks the syntax tree, and asks for each command what a call would be asked.
//!
//! Words are expanded when their command is due, and then the command is read, planned, checked and, where its words were
//! not known before, asked about. What was planned before the line ran is used again if words, variables, directory and
//! input are the same.

mod background;
mod builtins;
mod clock;
mod compound;
mod conditions;
mod directories;
mod done;
mod expansion;
mod job;
mod lists;
mod lookups;
mod printf;
mod processes;
mod programs;
mod record;
mod redirections;
mod shell;
mod simple;
mod starts;
mod streams;
mod test_command;
mod times;
mod values;

use std::collections::HashMap;
use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use climax_shell::{Script, State, Value};
use futures_util::future::{BoxFuture, Shared};
use tokio_util::sync::CancellationToken;

pub(super) use self::clock::Clock;
use self::record::Record;
use self::shell::Shell;
pub(super) use self::starts::{Background, Starts};
use self::streams::{Output, Source, Stream, Streams};
use crate::call::approval::Approver;
use crate::call::line::{self, CommandKey, LineError, is_one_pipeline};
use crate::call::outcome::CallError;
use crate::call::plan::Stage;
use crate::call::plan_outcome::{PlanFailure, PlanOutcome, RawStreams};
use crate::call::refusal::Refusal;
use crate::call::request::{LineBounds, LineInput, Session};
use crate::call::sight::Sight;
use crate::call::toolbox::{Journal, Toolbox};
use crate::exec::{self, End, Masks, Runner, Stop};

/// The exit status of a line that was stopped: as if by SIGINT.
const STOPPED: i32 = 130;

/// The exit status of a line that has taken too long, or whose program has: that of timeout(1).
const TIMED_OUT: i32 = 124;

/// Maximum programs that a line starts.
const MAX_PROGRAMS: usize = 10_000;

/// Maximum commands of a line, builtins included.
const MAX_COMMANDS: usize = 2_000_000;

/// Builtins between two looks at whether the line is to end.
const BUILTINS_AT_ONCE: usize = 256;

/// Maximum bytes of the output of a command in a word.
const MAX_SUBSTITUTION_BYTES: usize = 8 << 20;

/// Maximum bytes of the values that a command reads before it runs.
const MAX_INPUT_BYTES: usize = 64 << 20;

/// Why a line ends before its end.
#[derive(Debug)]
pub(super) enum Halt {
    /// A command is refused.
    Failed(Box<PlanFailure>),
    /// It is interrupted.
    Ended(Interruption),
}

/// Why a line ends early, though none of its commands is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interruption {
    /// It was stopped.
    Stopped(Stop),
    /// It has taken too long, or a program of it has.
    TimedOut,
}

impl Interruption {
    /// Returns the exit status of what ends so.
    fn status(self) -> i32 {
        match self {
            Self::Stopped(_) => STOPPED,
            Self::TimedOut => TIMED_OUT,
        }
    }
}

/// The result of a part of a line: how it goes on, or why the line ends.
type Ran<T> = Result<T, Halt>;

/// Runs one line.
pub(super) struct Interpreter<'i, 'a, A, S: Future<Output = Stop>> {
    pub(super) toolbox: &'a Toolbox,
    pub(super) session: Session<'i>,
    pub(super) bounds: LineBounds,
    pub(super) clock: Clock,
    pub(super) approver: &'i A,
    pub(super) journal: &'i Journal<'i>,
    pub(super) stop: Shared<S>,
    /// Runs what decisions about commands need, in the slot of the line.
    pub(super) runner: Runner,
    /// The commands that were planned before.
    pub(super) planned: HashMap<CommandKey, Stage<'a>>,
    /// How long each program of a pipeline may take at least.
    pub(super) longest: Duration,
    /// The secrets that no output shows.
    pub(super) masks: Masks,
    /// Bytes of output that the result keeps.
    pub(super) most_bytes: u64,
    pub(super) programs: AtomicUsize,
    pub(super) commands: AtomicUsize,
    pub(super) background: Background,
}

/// A line to run.
pub(super) struct LineStart<'l> {
    pub(super) text: &'l str,
    pub(super) script: &'l Script,
    pub(super) directory: Option<&'l str>,
    pub(super) input: LineInput<'l>,
    pub(super) raw: Option<RawStreams>,
}

/// The text that the ranges of a tree are about.
#[derive(Clone, Copy)]
struct Text<'t>(&'t str);

impl<A, S> Interpreter<'_, '_, A, S>
where
    A: Approver,
    S: Future<Output = Stop> + Send,
{
    /// Runs a line.
    pub(super) async fn run(&self, line: LineStart<'_>, starts: Starts) -> PlanOutcome {
        let LineStart { text, script, directory, input, raw } = line;
        let state = State { status: Some(0), ..line::first_state(script, &exec::variable) };
        let sight = Sight::under(&self.toolbox.policy, || self.toolbox.own_project().map(Path::to_owned));
        let mut shell = Shell { state, directory: directory.map(str::to_owned), sight, ..Shell::default() };
        if text.contains("TMPDIR") {
            shell.state.set("TMPDIR", Value::Known(self.toolbox.runner.temporary_directory()));
        }
        let mut record = Record::default();

        let mut streams = streams_of(input, raw);
        if !is_one_pipeline(script) {
            streams.input = streams.input.into_file().await.unwrap_or_default();
        }
        let main = self.list(&mut shell, Text(text), &script.list, &streams, &mut record);
        let (ran, background) = self.with_background((starts, &streams.errors), main).await;
        record.extend(background, self.most_bytes);
        let failure = match ran {
            Ok(_) => None,
            Err(Halt::Failed(failure)) => Some(*failure),
            Err(Halt::Ended(interruption)) => {
                let end = match interruption {
                    Interruption::Stopped(why) => End::Stopped(why),
                    Interruption::TimedOut => End::TimedOut(self.clock.limit()),
                };
                record.end(end, text);
                shell.set_status(interruption.status());
                None
            }
        };
        PlanOutcome { steps: record.steps, failure, status: Some(shell.status()) }
    }

    /// Counts a command, and lets others run now and then.
    async fn count_command(&self, shell: &Shell, text: Text<'_>) -> Ran<()> {
        let count = self.commands.fetch_add(1, Ordering::Relaxed);
        if count >= MAX_COMMANDS {
            let problem = format!("the line has run too many commands, {MAX_COMMANDS}");
            // All of it may have run.
            let end = text.0.len();
            return Err(failure(text, end..end, problem, "give a loop an end"));
        }
        if count % BUILTINS_AT_ONCE == BUILTINS_AT_ONCE - 1 {
            tokio::task::yield_now().await;
            if let Some(why) = self.stop.peek() {
                return Err(Halt::Ended(Interruption::Stopped(*why)));
            }
            if shell.ending.as_ref().is_some_and(CancellationToken::is_cancelled) {
                return Err(Halt::Ended(Interruption::Stopped(Stop::Cancelled)));
            }
            self.time_left(shell)?;
        }
        Ok(())
    }

    /// Completes when a shell is to end: with the line, or alone if it runs in the background.
    fn stop_of(&self, shell: &Shell) -> impl Future<Output = Stop> + Send + use<A, S> {
        let (line, own) = (self.stop.clone(), shell.ending.clone());
        async move {
            match own {
                None => line.await,
                Some(own) => tokio::select! {
                    why = line => why,
                    () = own.cancelled() => Stop::Cancelled,
                },
            }
        }
    }

    /// Returns how long the line may still take.
    ///
    /// # Errors
    /// It has taken too long.
    fn time_left(&self, shell: &Shell) -> Ran<Duration> {
        if self.is_of_job(shell) {
            return Ok(Duration::MAX);
        }
        Some(self.clock.left()).filter(|left| !left.is_zero()).ok_or(Halt::Ended(Interruption::TimedOut))
    }

    /// Whether a shell runs in the background of a line that goes on as a job.
    fn is_of_job(&self, shell: &Shell) -> bool {
        shell.ending.is_some() && self.session.goes_on.is_some()
    }

    /// Counts a program that is about to start.
    ///
    /// # Errors
    /// The line has started as many as it may.
    fn count_program(&self, text: Text<'_>) -> Ran<()> {
        if self.programs.fetch_add(1, Ordering::Relaxed) >= MAX_PROGRAMS {
            let problem = format!("the line has started {MAX_PROGRAMS} programs");
            return Err(failure(text, 0..0, problem, "split it, or let one program do the work"));
        }
        Ok(())
    }
}

/// The streams in which a line starts.
fn streams_of(input: LineInput<'_>, raw: Option<RawStreams>) -> Streams {
    let text = match input {
        LineInput::Text(text) => Source::Text(text.to_owned()),
        LineInput::Nothing | LineInput::Stream => Source::Nothing,
    };
    match raw {
        None => Streams {
            input: text,
            output: Output::Result(Stream::Output),
            errors: Output::Result(Stream::Errors),
            processes: Vec::new(),
        },
        Some(RawStreams { input, output, errors }) => Streams {
            input: input.map_or(text, |input| Source::File(Arc::new(input))),
            output: Output::File(Arc::new(output)),
            errors: Output::File(Arc::new(errors)),
            processes: Vec::new(),
        },
    }
}

/// The failure of a line at a place.
fn failure(
    text: Text<'_>,
    range: std::ops::Range<usize>,
    problem: impl Into<String>,
    remedy: impl Into<String>,
) -> Halt {
    let error = CallError::Unread(Box::new(LineError::at(text.0, range, problem, remedy).into()));
    Halt::Failed(Box::new(PlanFailure { tool: None, text: text.0.to_owned(), error }))
}

/// A part of a line as it runs.
type Running<'f, T> = BoxFuture<'f, Ran<T>>;

/// The failure of a line at a place that is refused.
fn refused(text: Text<'_>, range: std::ops::Range<usize>, refusal: Refusal) -> Halt {
    failure(text, range, refusal.problem, refusal.remedy)
}
