//! Runs calls: a limited number at once, locally, in a sandbox or in a container.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use climax_catalog::policy::Executor;
use futures_util::FutureExt as _;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, SemaphorePermit};
use tokio::time::sleep;

use super::confine::{FindIsolation, Isolation};
use super::error::SpawnError;
use super::files::{from_now_on, hooks_changed_since, is_changed_since};
use super::invocation::{Invocation, SecretSource};
use super::limits::Limits;
use super::outcome::{End, Outcome, Stop};
use super::output::{Captured, Masks, Watch};
#[cfg(has_code)]
use super::process::Guest;
use super::process::{CleanupGuard, Janitor, Joint, RunContext, Slots, Spare, StartQueue};
use super::shared_loopback::SharedLoopback;
use super::temporary::SessionFiles;
use super::{container, local, secrets};

/// Runs programs, a limited number at once. Clones share the limit.
///
/// ```
/// use std::future::pending;
/// use std::time::Duration;
///
/// use climax::catalog::policy::Executor;
/// use climax::exec::{End, Invocation, Limits, Runner};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), climax::exec::SpawnError> {
/// let runner = Runner::new(Executor::Local, Limits::default(), 4);
/// let invocation = Invocation::new(vec!["echo".into(), "two words".into()], Duration::from_secs(10));
/// let outcome = runner.run(&invocation, None, pending()).await?;
/// assert_eq!(outcome.end, End::Exited(0));
/// assert_eq!(outcome.stdout.text(), "two words\n");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Runner {
    executor: Executor,
    limits: Limits,
    slots: Arc<Slots>,
    queue: Arc<StartQueue>,
    /// `None` if this binary cannot be started again as a janitor or as the child of the sandbox.
    janitor: Option<Arc<Janitor>>,
    /// The temporary files that caged programs share; each has its own if `None`.
    session_files: Option<Arc<SessionFiles>>,
    /// The loopback that they share once the session wants it; each has its own if `None`.
    loopback: Option<Arc<SharedLoopback>>,
    /// The directory of the caches that caged programs keep; they go with the temporary files if `None`.
    caches: Option<Arc<Path>>,
    spare: Arc<Spare>,
    /// The time of files that are changed after this runner was made.
    began: Duration,
}

impl Runner {
    /// Makes a runner that runs at most `concurrency` programs at once. Further calls wait in order of arrival.
    #[must_use]
    pub fn new(executor: Executor, limits: Limits, concurrency: usize) -> Self {
        let slots = Arc::new(Slots::new(concurrency));
        Self {
            executor,
            limits,
            slots,
            queue: Arc::default(),
            janitor: None,
            session_files: None,
            loopback: None,
            caches: None,
            spare: Arc::default(),
            began: from_now_on(),
        }
    }

    /// Permits starting this binary again, as the janitor and as the child of the sandbox.
    ///
    /// The program's `main` must call [`crate::main`] or [`crate::Program::main`], which handle these subcommands.
    #[must_use]
    pub fn with_helper_processes(self) -> Self {
        Self { janitor: Some(Arc::default()), ..self }
    }

    /// Gives all caged programs one directory for temporary files, because they run for one session. It is removed with
    /// the last clone of this runner.
    #[must_use]
    pub fn for_one_session(self) -> Self {
        Self { session_files: Some(Arc::default()), loopback: Some(Arc::default()), ..self }
    }

    /// Lets the caged programs of a session that start from now on share a loopback, in which they reach one another.
    ///
    /// A program outside of cages enters it if it names no host but this machine, and a port at which a caged one waits for
    /// connections. To make a loopback takes about a millisecond, so that a session without programs in the background does
    /// without.
    pub(crate) fn share_loopback(&self) {
        if let Some(loopback) = &self.loopback {
            loopback.want();
        }
    }

    /// Gives caged programs a directory in which they keep their caches, apart for each project and cage, because they run
    /// for one person. Without it their caches go with their temporary files.
    #[must_use]
    pub fn with_caches(self, directory: Option<PathBuf>) -> Self {
        Self { caches: directory.map(Arc::from), ..self }
    }

    /// Returns a runner for the programs that decisions about a line need while the line holds a slot, one at a time.
    ///
    /// With the slots of this one they could wait for that of the line, which waits for them.
    #[must_use]
    pub(crate) fn within_slot(&self) -> Self {
        Self { slots: Arc::new(Slots::new(1)), ..self.clone() }
    }

    /// Keeps a child ready that will confine itself, once a call has needed one, so that the next call starts sooner.
    #[must_use]
    pub fn with_spare_child(self) -> Self {
        Self { spare: Arc::new(Spare::kept()), ..self }
    }

    /// Returns a runner with another executor that shares the limits and the slots of this one.
    #[must_use]
    pub fn with_executor(&self, executor: Executor) -> Self {
        Self { executor, ..self.clone() }
    }

    /// Returns what finds the means by which it holds programs in cages.
    #[must_use]
    pub fn find_isolation(&self) -> FindIsolation {
        let is_able = self.janitor.is_some() && self.executor == Executor::Local;
        if is_able { Isolation::here } else { || None }
    }

    /// Returns the executor: where programs run.
    #[must_use]
    pub fn executor(&self) -> &Executor {
        &self.executor
    }

    /// Returns the maximum number of calls that run at once.
    #[must_use]
    pub fn concurrency(&self) -> usize {
        self.slots.count()
    }

    /// Returns the number of calls that run now.
    #[must_use]
    pub fn running(&self) -> usize {
        self.slots.taken()
    }

    /// Returns the number of calls that wait for a slot now.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.slots.waiting()
    }

    /// Returns the limits of one call.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Starts this binary as the guest that `command` names.
    ///
    /// # Errors
    /// It cannot be started.
    #[cfg(has_code)]
    pub(crate) async fn start_guest(&self, command: &str) -> Result<Guest<'_>, SpawnError> {
        let Some(janitor) = &self.janitor else { return Err(SpawnError::no_helpers(command)) };
        Guest::start(command, &self.queue, janitor).await
    }

    /// Registers a line that the janitor appends to a file if this process is killed before the guard is dropped.
    pub(crate) fn register_audit_line(&self, file: &Path, line: &Value) -> Option<CleanupGuard<'_>> {
        self.janitor.as_deref().map(|janitor| janitor.register_line(file, line))
    }

    /// Runs `invocation` as soon as a slot is free. When `stop` completes, the call ends early, even while it waits.
    ///
    /// # Errors
    /// The program could not be started. A failure of a started program is an [`Outcome`].
    pub async fn run(
        &self,
        invocation: &Invocation,
        watch: Option<&Watch>,
        stop: impl Future<Output = Stop>,
    ) -> Result<Outcome, SpawnError> {
        let mut stop = std::pin::pin!(stop);
        let _slot = match self.slots.take(stop.as_mut()).await {
            Ok(slot) => slot,
            Err(why) => return Ok(Outcome::not_started(why)),
        };

        let (invocation, masks) = secrets::take(invocation.clone())?;
        self.run_joined(&invocation, Joint::default(), (watch, &masks), stop).await
    }

    /// Waits for a slot. Hold it while programs run by [`Runner::run_joined_to`].
    ///
    /// # Errors
    /// The reason of the stop, when `stop` completes first.
    pub(crate) async fn slot(&self, stop: impl Future<Output = Stop>) -> Result<Option<SemaphorePermit<'_>>, Stop> {
        self.slots.take(stop).await
    }

    /// Runs a program with the streams of `joint`, in a slot that the caller holds.
    ///
    /// Bytes between programs do not pass through this process. A program whose reader has ended gets SIGPIPE, as in a
    /// shell. `masks` are secrets of other programs that this one may print.
    ///
    /// # Errors
    /// The program could not be started. A failure of a started program is an [`Outcome`].
    pub(crate) async fn run_joined_to(
        &self,
        invocation: Invocation,
        joint: Joint,
        (watch, masks): (Option<&Watch>, &Masks),
        stop: impl Future<Output = Stop>,
    ) -> Result<Outcome, SpawnError> {
        let (invocation, own) = secrets::take(invocation)?;
        let masks = masks.with(&own);
        self.run_joined(&invocation, joint, (watch, &masks), stop).await
    }

    /// Returns the directory for temporary files, which `TMPDIR` names: that of the session, if it has one.
    pub(crate) fn temporary_directory(&self) -> String {
        let own = self.session_files.as_ref().and_then(|files| files.directory(self.janitor.as_deref()).ok());
        own.map_or_else(std::env::temp_dir, |directory| directory.path()).display().to_string()
    }

    /// Returns the masks of secrets, which no output of a line shows. A secret that cannot be read has none.
    pub(crate) fn masks_of(secrets: impl Iterator<Item = (String, SecretSource)>) -> Masks {
        let masks = secrets.filter_map(|secret| {
            let invocation = Invocation::new(vec![String::new()], Duration::ZERO);
            secrets::take(Invocation { secrets: vec![secret], ..invocation }).ok().map(|(_, masks)| masks)
        });
        masks.fold(Masks::default(), |all, one| all.with(&one))
    }

    /// Notes that the session has made a file or a directory, whose path has no links.
    pub(crate) fn note_made(&self, path: &Path) {
        if let Some(files) = &self.session_files {
            files.note_made(path);
        }
    }

    /// Returns where caged programs of the session write, outside of any project.
    pub(crate) fn open_to_cages(&self) -> Vec<PathBuf> {
        self.session_files.as_ref().map(|files| files.open_to_cages()).unwrap_or_default()
    }

    /// Returns whether git would run hooks in a directory of which one has been made or changed since this runner was made.
    pub(crate) fn has_changed_hooks(&self, directory: &Path) -> bool {
        hooks_changed_since(directory, self.began)
    }

    /// Returns whether a file has been made or changed since this runner was made.
    pub(crate) fn has_changed(&self, path: &Path) -> bool {
        is_changed_since(path, self.began)
    }

    /// Returns the files and directories that the session has made, and that nobody has replaced since.
    pub(crate) fn made(&self) -> Vec<PathBuf> {
        self.session_files.as_ref().map(|files| files.made()).unwrap_or_default()
    }

    /// Runs a program with the streams of `joint`, in the executor, without a slot of its own. Its secrets are among its
    /// variables.
    async fn run_joined(
        &self,
        invocation: &Invocation,
        joint: Joint,
        (watch, masks): (Option<&Watch>, &Masks),
        stop: impl Future<Output = Stop>,
    ) -> Result<Outcome, SpawnError> {
        let (limits, queue, janitor) = (&self.limits, &*self.queue, self.janitor.as_deref());
        let (session_files, loopback) = (self.session_files.as_deref(), self.loopback.as_ref());
        let caches = self.caches.as_deref();
        let context = RunContext {
            limits,
            queue,
            janitor,
            session_files,
            loopback,
            caches,
            watch,
            masks,
            spare: &self.spare,
            order: None,
        };

        match &self.executor {
            Executor::Local => local::run(invocation, joint, context, stop).await,
            Executor::Sandbox(sandbox) => local::run_in_sandbox(sandbox, invocation, joint, context, stop).await,
            Executor::Container(container) => container::run(container, invocation, joint, context, stop).await,
        }
    }

    /// Runs a native tool in this process, with the same timeout as a program, and with a slot if it takes one.
    ///
    /// When `stop` completes, the call ends early. A panic counts as a failure of the tool.
    pub async fn run_native(
        &self,
        invocation: &Invocation,
        (native, takes_slot): (impl Future<Output = Result<String, String>>, bool),
        watch: Option<&Watch>,
        stop: impl Future<Output = Stop>,
    ) -> Outcome {
        let mut stop = std::pin::pin!(stop);
        let waited = if takes_slot { self.slots.take(stop.as_mut()).await } else { Ok(None) };
        let _slot = match waited {
            Ok(slot) => slot,
            Err(why) => return Outcome::not_started(why),
        };
        if let Some(watch) = watch {
            watch.started();
        }

        let call = AssertUnwindSafe(native).catch_unwind();
        let result = tokio::select! {
            result = call => result,
            () = sleep(invocation.timeout) => return Outcome::ended(End::TimedOut(invocation.timeout)),
            why = stop => return Outcome::ended(End::Stopped(why)),
        };

        let captured = |text: String| Captured::from_bytes(text.as_bytes(), self.limits.stream_bytes);
        match result.unwrap_or_else(|_| Err(format!("{} panicked", invocation.argv[0]))) {
            Ok(text) => Outcome { stdout: captured(text), ..Outcome::ended(End::Exited(0)) },
            Err(text) => Outcome { stderr: captured(text), ..Outcome::ended(End::Exited(1)) },
        }
    }

    /// Waits for one of the slots of a caller. Hold the permit while the call runs.
    ///
    /// Each caller can have all slots but one, so that one caller cannot block all others. When `stop` completes, the
    /// wait ends.
    ///
    /// # Errors
    /// The reason of the stop.
    pub async fn caller_slot(
        &self,
        caller: Option<&str>,
        stop: impl Future<Output = Stop>,
    ) -> Result<Option<OwnedSemaphorePermit>, Stop> {
        match caller {
            Some(caller) => self.slots.take_of_caller(caller, stop).await,
            None => Ok(None),
        }
    }
}
