//! Runs calls: a limited number at once, locally, in a sandbox or in a container.

use std::future::{Future, pending};
use std::io;
use std::mem::ManuallyDrop;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use climax_catalog::policy::{Container, Executor, Sandbox};
use futures_util::FutureExt as _;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::time::sleep;

use super::caller_slots::CallerSlots;
use super::confinement::{self, Confinement};
use super::invocation::Invocation;
use super::janitor::{CleanupGuard, Janitor};
use super::joint::Joint;
use super::limits::Limits;
use super::masks::Masks;
use super::process::{self, RunContext};
use super::secrets;
use super::start_queue::StartQueue;
use super::{Captured, End, Outcome, SpawnError, Stop, Watch, container, random, sandbox, variable};

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
/// let invocation = Invocation {
///     argv: vec!["echo".into(), "two words".into()],
///     env: Vec::new(),
///     secrets: Vec::new(),
///     inherited: None,
///     confinement: None,
///     program_dir: None,
///     cwd: None,
///     stdin: None,
///     files_dir: None,
///     timeout: Duration::from_secs(10),
/// };
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
    slots: Arc<Semaphore>,
    concurrency: usize,
    waiting: Arc<AtomicUsize>,
    caller_slots: Arc<CallerSlots>,
    queue: Arc<StartQueue>,
    /// `None` if this program cannot be started again as a janitor or a sandbox shim.
    janitor: Option<Arc<Janitor>>,
}

impl Runner {
    /// Makes a runner that runs at most `concurrency` programs at once. Further calls wait in order of arrival.
    #[must_use]
    pub fn new(executor: Executor, limits: Limits, concurrency: usize) -> Self {
        Self {
            executor,
            limits,
            slots: Arc::new(Semaphore::new(concurrency)),
            concurrency,
            waiting: Arc::default(),
            caller_slots: Arc::default(),
            queue: Arc::default(),
            janitor: None,
        }
    }

    /// Permits starting this program again, as the janitor and as the sandbox shim.
    ///
    /// The program's `main` must call [`crate::main`] or [`crate::Program::main`], which handle these subcommands.
    #[must_use]
    pub fn with_helper_processes(self) -> Self {
        Self { janitor: Some(Arc::default()), ..self }
    }

    /// Returns a runner with another executor that shares the limits and the slots of this one.
    #[must_use]
    pub fn with_executor(&self, executor: Executor) -> Self {
        Self { executor, ..self.clone() }
    }

    /// Returns the executor: where programs run.
    #[must_use]
    pub fn executor(&self) -> &Executor {
        &self.executor
    }

    /// Returns the maximum number of calls that run at once.
    #[must_use]
    pub fn concurrency(&self) -> usize {
        self.concurrency
    }

    /// Returns the number of calls that run now.
    #[must_use]
    pub fn running(&self) -> usize {
        self.concurrency.saturating_sub(self.slots.available_permits())
    }

    /// Returns the number of calls that wait for a slot now.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Returns the limits of one call.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The queue of starts, and the janitor if this program can be started again.
    #[cfg(has_code)]
    pub(super) fn helpers(&self) -> (&StartQueue, Option<&Janitor>) {
        (&self.queue, self.janitor.as_deref())
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
        let _slot = match self.slot(stop.as_mut()).await {
            Ok(slot) => slot,
            Err(why) => return Ok(Outcome::not_started(why)),
        };
        let (invocation, masks) = secrets::take(invocation)?;
        self.run_joined(&invocation, Joint::default(), (watch, &masks), stop).await
    }

    /// Runs a program with the streams of `joint`, in the executor, without a slot of its own. Its secrets are among its
    /// variables.
    pub(super) async fn run_joined(
        &self,
        invocation: &Invocation,
        joint: Joint,
        (watch, masks): (Option<&Watch>, &Masks),
        stop: impl Future<Output = Stop>,
    ) -> Result<Outcome, SpawnError> {
        let (limits, queue, janitor) = (&self.limits, &*self.queue, self.janitor.as_deref());
        let context = RunContext { limits, queue, janitor, watch, masks };
        match &self.executor {
            Executor::Local => run_here(invocation, joint, context, stop).await,
            Executor::Sandbox(sandbox) => self.run_in_sandbox(sandbox, invocation, joint, context, stop).await,
            Executor::Container(container) => self.run_in_container(container, invocation, joint, context, stop).await,
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
        let waited = if takes_slot { self.slot(stop.as_mut()).await } else { Ok(None) };
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
        let captured = |text: String| Captured::of(text.as_bytes(), self.limits.stream_bytes);
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
        let Some(caller) = caller else { return Ok(None) };
        let slots = self.caller_slots.of(caller, self.concurrency.saturating_sub(1).max(1));
        let _waiting = WaitingGuard::new(&self.waiting);
        tokio::select! {
            biased;
            why = stop => Err(why),
            // Acquiring fails only for a closed semaphore, and this one is never closed.
            slot = slots.acquire_owned() => Ok(slot.ok()),
        }
    }

    /// Waits for a slot, until `stop` completes.
    pub(super) async fn slot(&self, stop: impl Future<Output = Stop>) -> Result<Option<SemaphorePermit<'_>>, Stop> {
        let _waiting = WaitingGuard::new(&self.waiting);
        let slot = tokio::select! {
            biased;
            why = stop => return Err(why),
            slot = self.slots.acquire() => slot,
        };
        // Acquiring fails only for a closed semaphore, and this one is never closed.
        Ok(slot.ok())
    }

    /// Runs a program in the sandbox shim.
    async fn run_in_sandbox(
        &self,
        sandbox: &Sandbox,
        invocation: &Invocation,
        joint: Joint,
        context: RunContext<'_>,
        stop: impl Future<Output = Stop>,
    ) -> Result<Outcome, SpawnError> {
        let program = &invocation.argv[0];
        if self.janitor.is_none() {
            return Err(SpawnError::Sandbox(program.clone(), "this server is not able to".to_owned()));
        }
        let system_error = |error: io::Error| SpawnError::System(program.clone(), error);
        let password = random::random_word().map_err(system_error)?;
        if let Some(watch) = context.watch {
            watch.hide_prefix(&password);
        }
        let path = process::find(invocation)?;
        let invocation = &Invocation { confinement: None, ..invocation.clone() };
        let shim = sandbox::shim_command(sandbox, &password, &path, invocation, &variable);
        let outcome = process::run(&shim, joint, context, stop).await.map_err(|error| match error {
            SpawnError::System(_, error) => system_error(error),
            other => other,
        })?;
        match sandbox::shim_error(&outcome, &password) {
            Some(problem) => Err(SpawnError::Sandbox(program.clone(), problem)),
            None => Ok(Outcome { sandbox: Some(sandbox::description(sandbox, &variable)), ..outcome }),
        }
    }

    /// Runs a program in a new container.
    async fn run_in_container(
        &self,
        container: &Container,
        invocation: &Invocation,
        joint: Joint,
        context: RunContext<'_>,
        stop: impl Future<Output = Stop>,
    ) -> Result<Outcome, SpawnError> {
        let system_error = |error| SpawnError::System(container.runtime.as_str().to_owned(), error);
        let name = format!("climax-{}", random::random_word().map_err(system_error)?);
        // If this future is dropped, the container stays registered, and the janitor removes it.
        let cleanup = context
            .janitor
            .map(|janitor| ManuallyDrop::new(janitor.register_container(container.runtime.as_str(), &name)));
        let client = container::run_command(container, &name, invocation, &variable);
        let outcome = process::run(&client, joint, context, stop).await;
        match outcome.as_ref().map(|outcome| outcome.end) {
            // The runtime itself failed, and may have made the container before.
            Ok(End::Exited(125)) => self.remove_container(container, &name, context).await,
            Err(_) | Ok(End::Exited(_)) => {}
            // A shutdown has no time for it: the janitor removes the container.
            Ok(End::Stopped(Stop::ShuttingDown)) if cleanup.is_some() => return outcome,
            // The client of the runtime has ended. The container may still run.
            Ok(End::Signaled(_) | End::TimedOut(_) | End::Stopped(_)) => {
                self.remove_container(container, &name, context).await;
            }
        }
        cleanup.map(ManuallyDrop::into_inner);
        outcome
    }

    async fn remove_container(&self, container: &Container, name: &str, context: RunContext<'_>) {
        let context = RunContext { watch: None, ..context };
        for invocation in container::removal_commands(container, name, self.limits.removal) {
            if let Err(error) = process::run(&invocation, Joint::default(), context, pending()).await {
                tracing::warn!(%error, name, "a container may be left behind");
            }
        }
    }
}

/// Runs a program on this machine. A confined one gets a temporary directory of its own.
async fn run_here(
    invocation: &Invocation,
    joint: Joint,
    context: RunContext<'_>,
    stop: impl Future<Output = Stop>,
) -> Result<Outcome, SpawnError> {
    let Some(confinement) = &invocation.confinement else {
        return process::run(invocation, joint, context, stop).await;
    };
    confinement::make_missing(&confinement.write);
    // Where no directory for temporary files can be written, the program has none either.
    let scratch = tempfile::Builder::new().prefix("climax-").tempdir().ok();
    let path = scratch.as_ref().map(|scratch| scratch.path().to_owned());
    let mut confined = invocation.clone();
    confined.env.extend(path.iter().map(|path| ("TMPDIR".to_owned(), path.display().to_string())));
    let write = confinement.write.iter().cloned().chain(path).chain(invocation.files_dir.clone());
    confined.confinement = Some(Confinement { write: write.collect(), ..confinement.clone() });
    let outcome = process::run(&confined, joint, context, stop).await;
    // Most programs leave it empty. The files of others take time.
    if let Some(scratch) = scratch.filter(|scratch| std::fs::remove_dir(scratch.path()).is_err()) {
        let _ = tokio::task::spawn_blocking(|| drop(scratch)).await;
    }
    outcome
}

/// Counts a waiting call until it is dropped.
struct WaitingGuard<'a>(&'a AtomicUsize);

impl<'a> WaitingGuard<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for WaitingGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
