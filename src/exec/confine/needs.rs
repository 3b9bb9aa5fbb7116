//! Starts programs that are confined to the needs of their tools.
//!
//! Landlock and seccomp restrict the thread that asks for it, and what that thread starts. So each program is started by
//! a thread that is confined first. That needs no other program, and no code in the child.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, SendError, Sender};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::io::Errno;
use rustix::thread::CapabilitySet;

use super::capabilities::drop_capabilities;
use super::landlock::{Refused, kernel_abi, restrict_to_needs};
use super::rights::Rights;
use super::seccomp::{Filter, forbid_system_calls};
use crate::lock::Unpoisoned as _;

/// Size of the stack of a thread that starts programs.
const STACK_BYTES: usize = 256 << 10;

/// A start of a program. The argument says whether the thread that runs it has the filter, or why there is none.
type Job = Box<dyn FnOnce(io::Result<Result<(), String>>) + Send>;

/// Starts a process by `start`, confined if the kernel can. The process and its children stay confined.
///
/// # Errors
/// The reason why the program cannot be confined, or the error of `start`.
pub(crate) fn start<T: Send + 'static>(
    rights: &Rights,
    start: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<io::Result<T>, String> {
    if kernel_abi().is_none() {
        return Ok(start());
    }

    let Rights { read: _, write, network, local_sockets, metadata, cage: _ } = rights.clone();
    let (answer, answered) = mpsc::sync_channel(1);
    let job: Job = Box::new(move |thread| {
        let started = match thread {
            Ok(filtered) => match filtered.map_err(Refused::from).and_then(|()| restrict_to_needs(&write, network)) {
                Ok(()) => Ok(start()),
                Err(refused) => refused.exhaustion().map(Err),
            },
            // As if the process could not be started: the start waits until the system has room.
            Err(no_thread) => Ok(Err(no_thread)),
        };
        // The receiver waits for it.
        let _ = answer.send(started);
    });

    hand_over(Filter::Needs { network, local_sockets, metadata }, job);
    answered.recv().map_err(|_| "the thread that starts it has panicked".to_owned())?
}

/// Starts a process by `start` that changes files in these directories alone, if the kernel can hold it there. It keeps its
/// other rights, such as those of root over files of others.
///
/// # Errors
/// The reason why the program cannot be held, or the error of `start`.
pub(crate) fn start_in_places<T: Send>(
    places: &[PathBuf],
    start: impl FnOnce() -> io::Result<T> + Send,
) -> Result<io::Result<T>, String> {
    if kernel_abi().is_none() {
        return Ok(start());
    }

    let restrict_and_start = || match restrict_to_needs(places, true) {
        Ok(()) => Ok(start()),
        Err(refused) => refused.exhaustion().map(Err),
    };
    std::thread::scope(|scope| match thread().spawn_scoped(scope, restrict_and_start) {
        Ok(running) => running.join().map_err(|_| "the thread that starts it has panicked".to_owned())?,
        Err(no_thread) => Ok(Err(no_thread)),
    })
}

/// Gives a job to the thread with a filter.
///
/// The thread stays, because the kernel takes longer to install a filter than to start a program. Paths differ from call
/// to call, and a rule for paths cannot be taken back. So each job runs on a thread of its own, which inherits the
/// filter.
fn hand_over(filter: Filter, job: Job) {
    static STARTERS: [Mutex<Option<Sender<Job>>>; Filter::COUNT] = [const { Mutex::new(None) }; Filter::COUNT];

    let mut starter = STARTERS[filter.place()].lock().unpoisoned();
    let sender = match starter.take().map_or_else(|| start_starter(filter), Ok) {
        Ok(sender) => sender,
        Err(error) => return job(Err(error)),
    };

    match sender.send(job) {
        Ok(()) => *starter = Some(sender),
        Err(SendError(job)) => job(Err(io::Error::other("the thread that starts programs has ended"))),
    }
}

/// Starts the thread with a filter, which keeps one more thread with it ready for the next start.
fn start_starter(filter: Filter) -> io::Result<Sender<Job>> {
    let (jobs, received) = mpsc::channel::<Job>();
    start_thread(move || {
        // Else root could not read what it can read without confinement.
        let dropped = drop_capabilities(CapabilitySet::DAC_READ_SEARCH);
        let filtered = dropped.and_then(|()| forbid_system_calls(filter));

        serve(&Arc::new(Mutex::new(received)), &filtered);
    })?;
    Ok(jobs)
}

/// Lets each job be run by a thread that was made before it came, so that making threads delays no start.
fn serve(received: &Arc<Mutex<Receiver<Job>>>, filtered: &Result<(), String>) {
    let (taken, next) = mpsc::sync_channel(1);
    loop {
        let (jobs, taken, filtered_thread) = (received.clone(), taken.clone(), filtered.clone());
        let waiting = start_thread(move || {
            let job = jobs.lock().unpoisoned().recv();
            // The receiver lives as long as `serve`, which waits for it.
            let _ = taken.send(());
            if let Ok(job) = job {
                job(Ok(filtered_thread));
            }
        });

        match waiting {
            Ok(_) => {
                let _ = next.recv();
            }
            // The system may have room by the time of the next job.
            Err(_) => match received.lock().unpoisoned().recv() {
                Ok(job) => run(job, filtered),
                Err(_) => return,
            },
        }
    }
}

/// Runs a job on a thread of its own.
fn run(job: Job, filtered: &Result<(), String>) {
    let job = Arc::new(Mutex::new(Some(job)));
    let (job_of_thread, filtered) = (job.clone(), filtered.clone());
    let started = start_thread(move || {
        if let Some(job) = take(&job_of_thread) {
            job(Ok(filtered));
        }
    });

    if let Err(error) = started
        && let Some(job) = take(&job)
    {
        let errno = error.raw_os_error().unwrap_or(Errno::AGAIN.raw_os_error());
        job(Err(io::Error::from_raw_os_error(errno)));
    }
}

fn take(job: &Mutex<Option<Job>>) -> Option<Job> {
    job.lock().unpoisoned().take()
}

fn start_thread(run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    thread().spawn(run)
}

/// Returns what makes a thread that starts programs.
fn thread() -> std::thread::Builder {
    std::thread::Builder::new().name("start".to_owned()).stack_size(STACK_BYTES)
}
