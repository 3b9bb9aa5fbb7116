//! Commands in the background: `COMMAND &`, and `wait`, `kill` and `jobs`, which are about them.
//!
//! They belong to the line, whatever list of it starts them, and run beside its other commands. No process outlives its
//! line: what still runs when the other commands have ended is ended too, unless the call goes on as a job.
//!
//! Source: POSIX.1-2024, "Asynchronous AND-OR Lists"; bash(1), "JOB CONTROL".

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use climax_shell::{Chain, Descriptor, Field, List, Target as Redirected, Value, background_number};
use futures_util::StreamExt as _;
use futures_util::future::{BoxFuture, Future, FutureExt as _, select_all};
use futures_util::stream::FuturesUnordered;
use tokio::sync::watch;

use super::done::Done;
use super::job::{Job, NO_JOB};
use super::record::Record;
use super::shell::Shell;
use super::starts::{Start, Starts};
use super::streams::{Output, Source, Streams};
use super::{Halt, Interpreter, Interruption, Ran, Text, failure};
use crate::call::approval::Approver;
use crate::call::line::{Signal, Target, ended_by};
use crate::call::plan_outcome::Tested;
use crate::exec::Stop;
use crate::lock::Unpoisoned as _;

/// Maximum commands of a line that run in the background at once.
pub(crate) const MAX_BACKGROUND: usize = 64;

/// How long commands in the background may run on when the others of their line have ended. Then they are ended, or the
/// call goes on as a job.
const GRACE: Duration = Duration::from_secs(1);

/// The signal that ends commands in the background with their line. Source: POSIX.1-2024, `signal.h`.
const SIGTERM: i32 = 15;

/// The commands in the background while they run.
struct Running<'f> {
    starts: Starts,
    runs: FuturesUnordered<BoxFuture<'f, (Record, Ran<()>)>>,
    jobs: Vec<Job>,
    record: Record,
}

impl<A, S> Interpreter<'_, '_, A, S>
where
    A: Approver,
    S: Future<Output = Stop> + Send,
{
    /// Lets the pipelines of a chain run in the background, in a subshell without input.
    pub(super) fn start(&self, shell: &mut Shell, text: Text<'_>, chain: &Chain, streams: &Streams) -> Ran<()> {
        if self.background.running.fetch_add(1, Ordering::Relaxed) >= MAX_BACKGROUND {
            let problem = format!("more than {MAX_BACKGROUND} commands would run in the background");
            return Err(failure(text, chain.first.range.clone(), problem, "write `wait` before some of them"));
        }
        let count = self.background.started.fetch_add(1, Ordering::Relaxed) + 1;
        // It may be a server, which the other commands of the line are to reach.
        self.toolbox.runner.share_loopback();
        let end = chain.background.as_ref().map_or(chain.first.range.end, |place| place.start);
        let own = text.0.get(chain.first.range.start..end).unwrap_or_default().trim();
        let (sender, status) = watch::channel(None);
        let ending = self.background.ending.child_token();
        let open = shell.jobs.iter().filter(|job| !job.is_reported);
        let place = open.map(|job| job.place).max().unwrap_or_default() + 1;
        let job = Job {
            count,
            place,
            text: own.into(),
            ending: ending.clone(),
            signal: Arc::default(),
            status,
            is_reported: false,
        };

        let inner = Shell { loops: 0, tested: Tested::No, is_fed: false, ending: Some(ending), ..shell.clone() };
        // What reads the output that the command has replaced sees its end at once.
        let output = if replaces_output(chain) { Output::Nothing } else { streams.output.clone() };
        let start = Start {
            job: job.clone(),
            status: sender,
            shell: inner,
            text: text.0.to_owned(),
            list: List { items: vec![Chain { background: None, ..chain.clone() }] },
            streams: Streams { input: Source::Nothing, output, ..streams.clone() },
        };
        // The receiver lives as long as the line.
        let _ = self.background.sender.send(start);

        self.background.jobs.lock().unpoisoned().push(job.clone());
        shell.jobs.push(job);
        shell.state.background = Value::Known(background_number(count).to_string());
        shell.set_status(0);
        Ok(())
    }

    /// Runs a line and its commands in the background, and returns what these did. What is said of those that end with the
    /// line goes to `errors`.
    pub(super) async fn with_background<T>(
        &self,
        (starts, errors): (Starts, &Output),
        line: impl Future<Output = Ran<T>>,
    ) -> (Ran<T>, Record) {
        let mut running =
            Running { starts, runs: FuturesUnordered::new(), jobs: Vec::new(), record: Record::default() };
        let refused = async {
            loop {
                if let Err(halt) = self.step(&mut running).await {
                    return halt;
                }
            }
        };
        let ran = tokio::select! {
            biased;
            halt = refused => Err(halt),
            ran = line => ran,
        };

        let rest = match &ran {
            Ok(_) => self.end(&mut running, errors).await,
            Err(Halt::Ended(_)) => {
                self.background.ending.cancel();
                self.rest(&mut running).await
            }
            // All are killed, as if they had not been started.
            Err(Halt::Failed(_)) => Ok(()),
        };
        (rest.and(ran), running.record)
    }

    /// Lets the call go on as a job until the commands in the background have ended, or ends them.
    async fn end<'f>(&'f self, running: &mut Running<'f>, errors: &Output) -> Ran<()> {
        if let Ok(ended) = tokio::time::timeout(GRACE, self.rest(running)).await {
            return ended;
        }
        if let Some(goes_on) = self.session.goes_on {
            goes_on.cancel();
            return self.rest(running).await;
        }
        for job in running.jobs.iter().filter(|job| job.status().is_none()) {
            job.end(SIGTERM);
            let message = format!("climax: `{}` still ran in the background and was ended with the line\n", job.text);
            self.print(errors, message.into_bytes(), ("climax", &job.text, 0), &mut running.record).await;
        }
        // What they start now ends as well.
        self.background.ending.cancel();
        self.rest(running).await
    }

    /// Waits for the end of all commands in the background.
    async fn rest<'f>(&'f self, running: &mut Running<'f>) -> Ran<()> {
        while !(running.runs.is_empty() && running.starts.0.is_empty()) {
            self.step(running).await?;
        }
        Ok(())
    }

    /// Waits until a command starts or ends in the background.
    async fn step<'f>(&'f self, running: &mut Running<'f>) -> Ran<()> {
        tokio::select! {
            biased;
            Some(start) = running.starts.0.recv() => {
                running.jobs.push(start.job.clone());
                running.runs.push(self.run_start(start).boxed());
                Ok(())
            }
            Some((record, ran)) = running.runs.next() => {
                running.record.extend(record, self.most_bytes);
                match ran {
                    Err(Halt::Failed(failure)) => Err(Halt::Failed(failure)),
                    Ok(()) | Err(Halt::Ended(_)) => Ok(()),
                }
            }
        }
    }

    async fn run_start(&self, start: Start) -> (Record, Ran<()>) {
        let Start { job, status: ended, mut shell, text, list, streams } = start;
        let mut record = Record::default();
        let ran = self.list(&mut shell, Text(&text), &list, &streams, &mut record).await.map(drop);
        // Its readers see the end.
        drop((streams, shell.around.take()));

        let status = match (&ran, job.signal.get()) {
            (Err(Halt::Ended(_)), Some(signal)) => {
                record.end_by_signal(*signal);
                128 + signal
            }
            (Err(Halt::Ended(interruption)), None) => interruption.status(),
            _ => shell.status(),
        };
        self.background.running.fetch_sub(1, Ordering::Relaxed);
        ended.send_replace(Some(status));
        (record, ran)
    }

    /// Waits for commands in the background.
    pub(super) async fn wait(&self, shell: &mut Shell, words: &[&str]) -> Ran<Done> {
        let stop = self.stop_of(shell);
        tokio::select! {
            why = stop => Err(Halt::Ended(Interruption::Stopped(why))),
            done = waited(&mut shell.jobs, words) => Ok(done),
        }
    }
}

/// Whether all that a chain prints goes to files, before anything else is done with its output.
fn replaces_output(chain: &Chain) -> bool {
    let last = chain.first.commands.last().and_then(|command| command.redirections.first());
    chain.rest.is_empty()
        && last.is_some_and(|redirection| {
            matches!(redirection.descriptor, Descriptor::Output | Descriptor::Both)
                && matches!(redirection.target, Redirected::Write(_) | Redirected::Append(_))
        })
}

/// Waits for the commands that words name, for the first to end, or for all.
async fn waited(jobs: &mut [Job], words: &[&str]) -> Done {
    match words {
        [] => {
            for job in jobs {
                job.reported().await;
            }
            Done::default()
        }
        ["-n", ..] => {
            let open = jobs.iter_mut().filter(|job| !job.is_reported).map(|job| job.reported().boxed());
            let open: Vec<_> = open.collect();
            if open.is_empty() {
                return Done::status(NO_JOB);
            }
            let (status, ..) = select_all(open).await;
            Done::status(status)
        }
        words => {
            let mut done = Done::default();
            for word in words {
                let named = Target::of(word).and_then(|target| found(jobs, target));
                done.status = if let Some(at) = named {
                    jobs[at].reported().await
                } else {
                    // Writing into a text does not fail.
                    let _ = writeln!(done.errors, "climax: wait: {word}: no command of this line in the background");
                    NO_JOB
                };
            }
            done
        }
    }
}

/// Ends commands in the background, or asks whether they run. `jobs` are those of the shell, which places name, and `all`
/// those of the line, each of which `$!` may have named in another subshell.
pub(super) fn kill(jobs: &[Job], all: &[Job], words: &[Field]) -> Done {
    let mut done = Done::default();
    let (signal, targets) = ended_by(words).unwrap_or((Signal::Ask, Vec::new()));
    for (word, target) in targets {
        let jobs = if matches!(target, Target::Number(_)) { all } else { jobs };
        let running = found(jobs, target).map(|at| &jobs[at]).filter(|job| job.status().is_none());
        match (running, signal) {
            (Some(job), Signal::End(signal)) => job.end(signal),
            (Some(_), Signal::Ask) => {}
            (None, _) => {
                // Writing into a text does not fail.
                let _ = writeln!(done.errors, "climax: kill: {word}: no such process");
                done.status = 1;
            }
        }
    }
    done
}

/// Lists the commands that run in the background. With `-p`, it prints the numbers that `$!` had.
pub(super) fn listed(jobs: &[Job], words: &[&str]) -> Done {
    let is_short = words.contains(&"-p");
    let running: Vec<&Job> = jobs.iter().filter(|job| job.status().is_none()).collect();
    let mut text = String::new();
    for (at, job) in running.iter().enumerate() {
        let mark = match running.len() - at {
            1 => '+',
            2 => '-',
            _ => ' ',
        };
        let number = background_number(job.count);
        // Writing into a text does not fail.
        let _ = if is_short {
            writeln!(text, "{number}")
        } else {
            writeln!(text, "[{}]{mark}  {:24}{} &", job.place, "Running", job.text)
        };
    }
    Done::printed(text)
}

/// Finds the place in a list of the command that a word names.
fn found(jobs: &[Job], target: Target<'_>) -> Option<usize> {
    match target {
        Target::Number(count) => jobs.iter().position(|job| job.count == count),
        Target::Last => jobs.iter().rposition(|job| !job.is_reported),
        Target::Place(place) => jobs.iter().rposition(|job| !job.is_reported && job.place == place),
        Target::Text(text) => jobs.iter().rposition(|job| !job.is_reported && job.text.starts_with(text)),
    }
}
