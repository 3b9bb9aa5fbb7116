//! Runs a program in a new container, by docker, podman or nerdctl.

mod command;

use std::future::{Future, pending};
use std::mem::ManuallyDrop;

use climax_catalog::policy::Container;

use super::environment::variable;
use super::error::SpawnError;
use super::invocation::Invocation;
use super::outcome::{End, Outcome, Stop};
use super::process::{self, Joint, RunContext};
use super::random::random_word;

/// The exit code of runtimes that failed themselves.
const RUNTIME_FAILED: i32 = 125;

/// Runs a program in a new container, which is removed whatever happens.
pub(super) async fn run(
    container: &Container,
    invocation: &Invocation,
    joint: Joint,
    context: RunContext<'_>,
    stop: impl Future<Output = Stop>,
) -> Result<Outcome, SpawnError> {
    let runtime = container.runtime.as_str();
    let word = random_word().map_err(|error| SpawnError::System(runtime.to_owned(), error))?;
    let name = format!("climax-{word}");

    // If this future is dropped, the container stays registered, and the janitor removes it.
    let cleanup = context.janitor.map(|janitor| ManuallyDrop::new(janitor.register_container(runtime, &name)));
    let client = command::run(container, &name, invocation, &variable);
    let outcome = process::run(&client, joint, context, stop).await;

    match outcome.as_ref().map(|outcome| outcome.end) {
        // The runtime may have made the container before it failed.
        Ok(End::Exited(RUNTIME_FAILED)) => remove(container, &name, context).await,
        Err(_) | Ok(End::Exited(_)) => {}
        // A shutdown has no time for it: the janitor removes the container.
        Ok(End::Stopped(Stop::ShuttingDown)) if cleanup.is_some() => return outcome,
        // The client of the runtime has ended. The container may still run.
        Ok(End::Signaled(_) | End::TimedOut(_) | End::Stopped(_)) => remove(container, &name, context).await,
    }

    cleanup.map(ManuallyDrop::into_inner);
    outcome
}

async fn remove(container: &Container, name: &str, context: RunContext<'_>) {
    let context = RunContext { watch: None, ..context };

    for invocation in command::removal(container, name, context.limits.removal) {
        if let Err(error) = process::run(&invocation, Joint::default(), context, pending()).await {
            tracing::warn!(%error, name, "a container may be left behind");
        }
    }
}
