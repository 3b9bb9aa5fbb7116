//! Starts programs that are confined to the needs of their tools, by Landlock and seccomp.
//!
//! Both restrict the thread that asks for it, and what that thread starts. So each program is started by a thread that
//! is confined first. That needs no other program, and no code in the child.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, SendError, Sender};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, Scope,
    make_bitflags,
};
use rustix::thread::CapabilitySet;

use super::confine::{self, Filter, drop_capabilities};
use super::confinement::Confinement;
use super::landlock_rules::{DEVICES, MAX_ABI, Refused, allow};
use crate::lock::Unpoisoned as _;

/// The oldest Landlock ABI by which calls are confined to their needs: it restricts truncation.
const MIN_NEEDS_ABI: ABI = ABI::V3;

/// Devices that keep nothing of what is written.
const DATA_DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];

/// Starts a process by `start`, confined if the kernel can. The process and its children stay confined.
///
/// # Errors
/// The reason why the program cannot be confined, or the error of `start`.
pub(super) fn start<T: Send + 'static>(
    confinement: &Confinement,
    start: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<io::Result<T>, String> {
    if kernel_abi().is_none() {
        return Ok(start());
    }
    let Confinement { write, network, local_sockets, metadata } = confinement.clone();
    let filter = Filter::Needs { network, local_sockets, metadata };
    let (answer, answered) = mpsc::sync_channel(1);
    let job: Job = Box::new(move |thread| {
        let started = match thread {
            Ok(filtered) => match filtered.map_err(Refused::from).and_then(|()| restrict_writing(&write, network)) {
                Ok(()) => Ok(start()),
                Err(refused) => refused.exhaustion().map(Err),
            },
            // As if the process could not be started: the start waits until the system has room.
            Err(no_thread) => Ok(Err(no_thread)),
        };
        // The receiver waits for it.
        let _ = answer.send(started);
    });
    hand_over(filter, job);
    answered.recv().map_err(|_| "the thread that starts it has panicked".to_owned())?
}

/// A start of a program. The argument says whether the thread that runs it has the filter, or why there is none.
type Job = Box<dyn FnOnce(io::Result<Result<(), String>>) + Send>;

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

/// Starts the thread with a filter.
fn start_starter(filter: Filter) -> io::Result<Sender<Job>> {
    let (jobs, received) = mpsc::channel::<Job>();
    start_thread(move || {
        // Else root could not read what it can read without confinement.
        let dropped = drop_capabilities(CapabilitySet::DAC_READ_SEARCH);
        let filtered = dropped.and_then(|()| confine::forbid_system_calls(filter));
        for job in received {
            run(job, &filtered);
        }
    })?;
    Ok(jobs)
}

/// Runs a job on a thread of its own.
fn run(job: Job, filtered: &Result<(), String>) {
    let job = Arc::new(Mutex::new(Some(job)));
    let (of_thread, filtered) = (job.clone(), filtered.clone());
    let take = |job: &Mutex<Option<Job>>| job.lock().unpoisoned().take();
    let started = start_thread(move || {
        if let Some(job) = take(&of_thread) {
            job(Ok(filtered));
        }
    });
    if let Err(error) = started {
        let errno = error.raw_os_error().unwrap_or(libc::EAGAIN);
        if let Some(job) = take(&job) {
            job(Err(io::Error::from_raw_os_error(errno)));
        }
    }
}

fn start_thread(run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name("start".to_owned()).stack_size(STACK_BYTES).spawn(run)
}

/// Size of the stack of a thread that starts programs.
const STACK_BYTES: usize = 256 << 10;

/// Restricts writing of this thread to `write`, and TCP if there is no network, as far as the kernel can (Landlock).
fn restrict_writing(write: &[PathBuf], network: bool) -> Result<(), Refused> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(writing(MIN_NEEDS_ABI))
        .map_err(|error| Refused::by(&error))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(writing(MAX_ABI))
        .and_then(|ruleset| ruleset.scope(Scope::from_all(MAX_ABI)))
        .map_err(|error| Refused::by(&error))?;
    let ruleset = if network {
        ruleset
    } else {
        ruleset.handle_access(AccessNet::from_all(MAX_ABI)).map_err(|error| Refused::by(&error))?
    };
    let created = ruleset.create().map_err(|error| Refused::by(&error))?;
    let there = |path: &&Path| path.exists();
    let paths: Vec<OsString> = write.iter().map(PathBuf::as_path).filter(there).map(OsString::from).collect();
    let created = allow(created, &paths, |abi| writing(abi) & !DEVICES)?;
    let devices: Vec<OsString> = DATA_DEVICES.iter().map(Path::new).filter(there).map(OsString::from).collect();
    let created = allow(created, &devices, |_| AccessFs::WriteFile.into())?;
    created.restrict_self().map(drop).map_err(|error| Refused::by(&error))
}

/// Returns the rights that change files. Sockets are left to [`confine`].
fn writing(abi: ABI) -> BitFlags<AccessFs> {
    AccessFs::from_write(abi) & !make_bitflags!(AccessFs::{IoctlDev | ResolveUnix})
}

/// Returns the newest Landlock ABI of use that the kernel has, as a number; `None` if it cannot confine.
#[must_use]
pub fn kernel_abi() -> Option<u8> {
    static FOUND: OnceLock<Option<u8>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let has = |abi: ABI| {
            let strict = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
            let files = strict.handle_access(AccessFs::from_all(abi));
            let files = if abi < ABI::V6 { files } else { files.and_then(|files| files.scope(Scope::from_all(abi))) };
            files.and_then(Ruleset::create).is_ok()
        };
        // ABI 7 and 8 restrict nothing more.
        let known = [ABI::V9, ABI::V6, ABI::V5, ABI::V4, MIN_NEEDS_ABI];
        known.into_iter().find(|abi| has(*abi)).map(|abi| abi as u8)
    })
}
