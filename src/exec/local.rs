//! Runs a program on this machine: freely, confined to the needs of its tool, or in the policy's sandbox.

use std::future::Future;
use std::io;

use climax_catalog::policy::Sandbox;

use super::confine::rights::{Rights, make_missing};
use super::confine::sandbox;
use super::environment::variable;
use super::error::SpawnError;
use super::invocation::Invocation;
use super::outcome::{Outcome, Stop};
use super::process::{self, Joint, RunContext};
use super::random::random_word;

/// Runs a program on this machine. A confined one gets a temporary directory of its own.
pub(super) async fn run(
    invocation: &Invocation,
    joint: Joint,
    context: RunContext<'_>,
    stop: impl Future<Output = Stop>,
) -> Result<Outcome, SpawnError> {
    let Some(rights) = &invocation.confinement else {
        return process::run(invocation, joint, context, stop).await;
    };
    make_missing(&rights.write);

    // Where no directory for temporary files can be written, the program has none either.
    let scratch = tempfile::Builder::new().prefix("climax-").tempdir().ok();
    let path = scratch.as_ref().map(|scratch| scratch.path().to_owned());
    let mut confined = invocation.clone();
    confined.env.extend(path.iter().map(|path| ("TMPDIR".to_owned(), path.display().to_string())));
    let write = rights.write.iter().cloned().chain(path).chain(invocation.files_dir.clone());
    confined.confinement = Some(Rights { write: write.collect(), ..rights.clone() });

    let outcome = process::run(&confined, joint, context, stop).await;

    // Most programs leave it empty. The files of others take time.
    if let Some(scratch) = scratch.filter(|scratch| std::fs::remove_dir(scratch.path()).is_err()) {
        let _ = tokio::task::spawn_blocking(|| drop(scratch)).await;
    }
    outcome
}

/// Runs a program in the policy's sandbox.
pub(super) async fn run_in_sandbox(
    sandbox: &Sandbox,
    invocation: &Invocation,
    joint: Joint,
    context: RunContext<'_>,
    stop: impl Future<Output = Stop>,
) -> Result<Outcome, SpawnError> {
    let program = &invocation.argv[0];
    let system_error = |error: io::Error| SpawnError::System(program.clone(), error);
    if context.janitor.is_none() {
        return Err(SpawnError::no_helpers(program));
    }

    let password = random_word().map_err(system_error)?;
    if let Some(watch) = context.watch {
        watch.hide_prefix(&password);
    }

    let path = process::find(invocation)?;
    let invocation = &Invocation { confinement: None, ..invocation.clone() };
    let child = sandbox::child_command(sandbox, &password, &path, invocation, &variable);
    let outcome = process::run(&child, joint, context, stop).await.map_err(|error| match error {
        SpawnError::System(_, error) => system_error(error),
        other => other,
    })?;

    match sandbox::child_error(&outcome, &password) {
        Some(problem) => Err(SpawnError::Sandbox(program.clone(), problem)),
        None => Ok(Outcome { sandbox: Some(sandbox::description(sandbox, &variable)), ..outcome }),
    }
}
