//! Runs calls: a bounded number at once, where the policy says.

use std::collections::HashMap;
use std::future::{Future, pending};
use std::io;
use std::mem::ManuallyDrop;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use climax_catalog::policy::{Container, Executor, Sandbox};
use futures_util::FutureExt as _;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::time::sleep;

use super::invocation::Invocation;
use super::janitor::{CleanupGuard, Janitor};
use super::limits::Limits;
use super::process::{self, RunContext};
use super::{Captured, End, Outcome, SpawnError, Stop, Watch, container, random, sandbox, variable};

/// Runs programs. Clones share their slots.
#[derive(Clone, Debug)]
pub struct Runner {
    executor: Executor,
    limits: Limits,
    slots: Arc<Semaphore>,
    concurrency: usize,
    waiting: Arc<AtomicUsize>,
    caller_slots: Arc<CallerSlots>,
    /// Only a program that knows the command lines of [`super::shim`] can be its own janitor and sandbox.
    own: Option<Arc<Janitor>>,
}

impl Runner {
    /// Runs at most `concurrency` programs at once; calls beyond wait in their order.
    #[must_use]
    pub fn new(executor: Executor, limits: Limits, concurrency: usize) -> Self {
        Self {
            executor,
            limits,
            slots: Arc::new(Semaphore::new(concurrency)),
            concurrency,
            waiting: Arc::default(),
            caller_slots: Arc::default(),
            own: None,
        }
    }

    /// Starts this program again for what a server cannot do itself: to outlive it, and to be confined.
    ///
    /// The program's `main` must be [`crate::main`], which knows what it is started for then.
    #[must_use]
    pub fn with_helper_processes(self) -> Self {
        Self { own: Some(Arc::default()), ..self }
    }

    /// Runs programs elsewhere, within the same limits and slots.
    #[must_use]
    pub fn with_executor(&self, executor: Executor) -> Self {
        Self { executor, ..self.clone() }
    }

    /// Where programs run.
    #[must_use]
    pub fn executor(&self) -> &Executor {
        &self.executor
    }

    /// How many calls can run at once.
    #[must_use]
    pub fn concurrency(&self) -> usize {
        self.concurrency
    }

    /// How many calls run now.
    #[must_use]
    pub fn running(&self) -> usize {
        self.concurrency.saturating_sub(self.slots.available_permits())
    }

    /// How many calls wait for their turn now.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// What one call may cost.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Has a line appended to a file if this process is killed before what is returned is dropped.
    pub(crate) fn register_audit_line(&self, file: &Path, line: &Value) -> Option<CleanupGuard<'_>> {
        self.own.as_deref().map(|janitor| janitor.register_line(file, line))
    }

    /// Runs `invocation` once its turn has come; `stop` completing ends it early, also while it waits.
    ///
    /// # Errors
    /// The program could not be started. Whatever a started one did is an [`Outcome`].
    pub async fn run(
        &self,
        invocation: &Invocation,
        watch: Option<&Watch>,
        stop: impl Future<Output = Stop>,
    ) -> Result<Outcome, SpawnError> {
        let mut stop = std::pin::pin!(stop);
        let _slot = match self.slot(watch, stop.as_mut()).await {
            Ok(slot) => slot,
            Err(why) => return Ok(Outcome::not_started(why)),
        };
        let context = RunContext { limits: &self.limits, janitor: self.own.as_deref(), watch };
        match &self.executor {
            Executor::Local => process::run(invocation, context, stop).await,
            Executor::Sandbox(sandbox) => self.confined(sandbox, invocation, context, stop).await,
            Executor::Container(container) => self.contained(container, invocation, context, stop).await,
        }
    }

    /// Awaits a native tool in this process, within a program's slots and time; `stop` completing ends it early.
    ///
    /// A panic is the tool's failure.
    pub async fn run_native(
        &self,
        invocation: &Invocation,
        native: impl Future<Output = Result<String, String>>,
        watch: Option<&Watch>,
        stop: impl Future<Output = Stop>,
    ) -> Outcome {
        let mut stop = std::pin::pin!(stop);
        let _slot = match self.slot(watch, stop.as_mut()).await {
            Ok(slot) => slot,
            Err(why) => return Outcome::not_started(why),
        };
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

    /// Waits until a caller has less than all but one of the slots, so that whoever calls a lot leaves room for others;
    /// `stop` completing gives it up. What is returned is held while the call runs.
    ///
    /// # Errors
    /// Why it was given up.
    pub async fn caller_slot(
        &self,
        caller: Option<&str>,
        stop: impl Future<Output = Stop>,
    ) -> Result<Option<OwnedSemaphorePermit>, Stop> {
        let Some(caller) = caller else { return Ok(None) };
        let slots = self.caller_slots.of(caller, self.concurrency.saturating_sub(1).max(1));
        let _waiting = Waiting::of(&self.waiting);
        tokio::select! {
            biased;
            why = stop => Err(why),
            // The semaphore is never closed.
            slot = slots.acquire_owned() => Ok(slot.ok()),
        }
    }

    /// Waits for a turn, unless the call is given up before.
    async fn slot(
        &self,
        watch: Option<&Watch>,
        stop: impl Future<Output = Stop>,
    ) -> Result<Option<SemaphorePermit<'_>>, Stop> {
        let _waiting = Waiting::of(&self.waiting);
        let slot = tokio::select! {
            biased;
            why = stop => return Err(why),
            slot = self.slots.acquire() => slot,
        };
        if let Some(watch) = watch {
            watch.started();
        }
        // The semaphore is never closed.
        Ok(slot.ok())
    }

    async fn confined(
        &self,
        sandbox: &Sandbox,
        invocation: &Invocation,
        context: RunContext<'_>,
        stop: impl Future<Output = Stop>,
    ) -> Result<Outcome, SpawnError> {
        let program = &invocation.argv[0];
        if self.own.is_none() {
            return Err(SpawnError::Sandbox(program.clone(), "this server is not able to".to_owned()));
        }
        let refused = |error: io::Error| SpawnError::Refused(program.clone(), error);
        let password = random::random_word().map_err(refused)?;
        if let Some(watch) = context.watch {
            watch.hide(&password);
        }
        let path = process::find(invocation)?;
        let confined = sandbox::confined(sandbox, &password, &path, invocation, &variable);
        let outcome = process::run(&confined, context, stop).await.map_err(|error| match error {
            SpawnError::Refused(_, error) => refused(error),
            other => other,
        })?;
        match sandbox::confinement_error(&outcome, &password) {
            Some(problem) => Err(SpawnError::Sandbox(program.clone(), problem)),
            None => Ok(outcome),
        }
    }

    async fn contained(
        &self,
        container: &Container,
        invocation: &Invocation,
        context: RunContext<'_>,
        stop: impl Future<Output = Stop>,
    ) -> Result<Outcome, SpawnError> {
        let refused = |error| SpawnError::Refused(container.runtime.as_str().to_owned(), error);
        let name = format!("climax-{}", random::random_word().map_err(refused)?);
        // If this future is dropped the container stays in the janitor's cleanup.
        let entry = context
            .janitor
            .map(|janitor| ManuallyDrop::new(janitor.register_container(container.runtime.as_str(), &name)));
        let client = container::contained(container, &name, invocation, &variable);
        let outcome = process::run(&client, context, stop).await;
        match outcome.as_ref().map(|outcome| outcome.end) {
            // The runtime's own failure, after which it may have left something.
            Ok(End::Exited(125)) => self.remove(container, &name, context).await,
            Err(_) | Ok(End::Exited(_)) => {}
            // There is no time left for more.
            Ok(End::Stopped(Stop::ShuttingDown)) if entry.is_some() => return outcome,
            // The client is dead; what it had started may not be.
            Ok(End::Signaled(_) | End::TimedOut(_) | End::Stopped(_)) => self.remove(container, &name, context).await,
        }
        entry.map(ManuallyDrop::into_inner);
        outcome
    }

    async fn remove(&self, container: &Container, name: &str, context: RunContext<'_>) {
        let context = RunContext { watch: None, ..context };
        for invocation in container::removal(container, name, self.limits.removal) {
            if let Err(error) = process::run(&invocation, context, pending()).await {
                tracing::warn!(%error, name, "a container may be left behind");
            }
        }
    }
}

/// What each caller has of the slots, as long as one of its calls is there.
#[derive(Debug, Default)]
struct CallerSlots(Mutex<HashMap<String, Weak<Semaphore>>>);

impl CallerSlots {
    fn of(&self, caller: &str, slots: usize) -> Arc<Semaphore> {
        let mut caller_slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = caller_slots.get(caller).and_then(Weak::upgrade) {
            return share;
        }
        caller_slots.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Semaphore::new(slots));
        caller_slots.insert(caller.to_owned(), Arc::downgrade(&share));
        share
    }
}

/// A call that waits, counted until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn of(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
