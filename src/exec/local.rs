//! Runs a program on this machine: freely, confined to the needs of its tool, or in the policy's sandbox.

use std::future::Future;
use std::path::{Path, PathBuf};

use climax_catalog::Cage;
use climax_catalog::policy::Sandbox;

use super::caches;
use super::confine::order::{Network, Order, Preparation};
use super::confine::project_guard::ProjectGuard;
use super::confine::rights::{CageRights, Readable, Rights, make_missing};
use super::confine::{Isolation, parent, refusal, sandbox};
use super::environment::variable;
use super::error::SpawnError;
use super::invocation::Invocation;
use super::named_files::NamedFiles;
use super::outcome::{Outcome, Stop};
use super::process::{self, ErrorSink, Joint, RunContext};
use super::random::random_word;
use super::temporary::{self, CallFiles, SessionFiles};

/// Runs a program on this machine. A confined one gets a temporary directory of its own.
pub(super) async fn run(
    invocation: &Invocation,
    joint: Joint,
    context: RunContext<'_>,
    stop: impl Future<Output = Stop>,
) -> Result<Outcome, SpawnError> {
    if let Some((rights, cage)) =
        invocation.confinement.as_ref().and_then(|rights| Some((rights, rights.cage.as_ref()?)))
    {
        return run_in_cage((rights, cage), invocation, joint, context, stop).await;
    }
    let enters_session = context.loopback.is_some_and(|loopback| loopback.is_meant_by(invocation));
    let Some(rights) = &invocation.confinement else {
        return run_free(enters_session, invocation, joint, context, stop).await;
    };
    make_missing(&rights.write);

    // Where no directory for temporary files can be written, the program has none either.
    let scratch = CallFiles::own().ok();
    let path = scratch.as_ref().map(CallFiles::path);
    let mut confined = invocation.clone();
    confined.env.extend(path.iter().map(|path| ("TMPDIR".to_owned(), path.display().to_string())));
    let write = rights.write.iter().cloned().chain(path).chain(invocation.files_dir.clone());
    confined.confinement = Some(Rights { write: write.collect(), ..rights.clone() });

    let outcome = run_free(enters_session, &confined, joint, context, stop).await;

    if let Some(scratch) = scratch {
        scratch.remove().await;
    }
    outcome
}

/// Runs a program outside of all cages, confined to its needs or not. It may enter the loopback of its session.
async fn run_free(
    enters_session: bool,
    invocation: &Invocation,
    joint: Joint,
    context: RunContext<'_>,
    stop: impl Future<Output = Stop>,
) -> Result<Outcome, SpawnError> {
    if enters_session {
        let order = |password: &str| parent::session_order(invocation.confinement.as_ref(), password);
        return run_as_child(order, invocation, joint, context, stop).await;
    }
    process::run(invocation, joint, context, stop).await
}

/// Runs a program in the policy's sandbox.
pub(super) async fn run_in_sandbox(
    sandbox: &Sandbox,
    invocation: &Invocation,
    joint: Joint,
    context: RunContext<'_>,
    stop: impl Future<Output = Stop>,
) -> Result<Outcome, SpawnError> {
    let order = |password: &str| sandbox::order(sandbox, password, invocation, &variable);
    let outcome = run_as_child(order, invocation, joint, context, stop).await?;
    Ok(Outcome { sandbox: Some(sandbox::description(sandbox, &variable).into()), ..outcome })
}

/// Runs a program in a cage.
async fn run_in_cage(
    (rights, cage): (&Rights, &CageRights),
    invocation: &Invocation,
    joint: Joint,
    context: RunContext<'_>,
    stop: impl Future<Output = Stop>,
) -> Result<Outcome, SpawnError> {
    let Some(isolation) = Isolation::here() else {
        let name = cage.cage.as_str();
        let problem = format!("this system has no cage `{name}`; `climax doctor` says what is missing");
        return Err(SpawnError::Sandbox(invocation.argv[0].clone(), problem));
    };
    make_missing(&rights.write);

    let failed = |error| SpawnError::System(invocation.argv[0].clone(), error);
    let scratch = match context.session_files {
        Some(files) => files.directory(context.janitor),
        None => CallFiles::own(),
    };
    let scratch = scratch.map_err(failed)?;
    let path = scratch.path();
    let kept = context.caches.and_then(|all| caches::directory(all, cage));
    let in_caches = caches::variables(kept.as_ref().unwrap_or(&path), cage.cage);
    let mut invocation = invocation.clone();
    // Those of the line or of the config go before.
    invocation.env.splice(0..0, temporary::variables(&path).into_iter().chain(in_caches));

    let session_files = context.session_files;
    let named = session_files
        .filter(|_| cage.cage == Cage::Workspace)
        .map(|files| (files, NamedFiles::before(&invocation, context.janitor)));
    let of_names = named.iter().flat_map(|(_, named)| named.writable());
    let made = session_files.map(|files| made_apart(files, cage)).unwrap_or_default();
    let own = [path].into_iter().chain(kept).chain(of_names).chain(made).chain(invocation.files_dir.clone());
    let mut rights = Rights { write: rights.write.iter().cloned().chain(own).collect(), ..rights.clone() };
    if let Readable::Listed(read) = &mut rights.read {
        read.extend(session_files.map(SessionFiles::made).unwrap_or_default());
    }

    let loopback = context.loopback.and_then(|loopback| loopback.get(isolation));
    let network = if loopback.is_some() { Network::Session } else { Network::None };
    let order = |password: &str| parent::cage_order((&rights, cage), (isolation, network), password);
    let guard = match ProjectGuard::before(cage, isolation) {
        Ok(guard) => guard,
        Err(problem) => {
            scratch.remove().await;
            return Err(SpawnError::Sandbox(invocation.argv[0].clone(), problem));
        }
    };

    let outcome = run_as_child(order, &invocation, joint, context, stop).await;

    if let Some((files, named)) = named {
        named.keep(files);
    }
    let protected = guard.put_back();
    scratch.remove().await;
    outcome.map(|outcome| Outcome { protected: protected.into(), ..outcome })
}

/// Returns the temporary files that the session has made and a cage may write: those outside of its project, which may lie
/// among the temporary files. Whether the project is written is for the cage to say.
fn made_apart(files: &SessionFiles, cage: &CageRights) -> Vec<PathBuf> {
    let is_apart = |path: &Path, top: &Path| !path.starts_with(top) && !top.starts_with(path);
    let mut made = files.made_temporary();
    made.retain(|path| cage.project.as_ref().is_none_or(|top| is_apart(path, top)));
    made
}

/// Runs a program in a child that confines itself as ordered. Error messages of the child start with a password, which
/// the program does not know.
async fn run_as_child(
    order: impl FnOnce(&str) -> Order,
    invocation: &Invocation,
    joint: Joint,
    context: RunContext<'_>,
    stop: impl Future<Output = Stop>,
) -> Result<Outcome, SpawnError> {
    let program = &invocation.argv[0];
    if context.janitor.is_none() {
        return Err(SpawnError::no_helpers(program));
    }
    if let Some(problem) = refusal() {
        return Err(SpawnError::Sandbox(program.clone(), problem));
    }

    // What goes by unseen is for the user.
    let password = if matches!(joint.errors, ErrorSink::Captured) {
        random_word().map_err(|error| SpawnError::System(program.clone(), error))?
    } else {
        format!("{}: ", crate::identity::name())
    };
    if let Some(watch) = context.watch {
        watch.hide_prefix(&password);
    }

    let order = order(&password);
    let outcome = process::run(invocation, joint, RunContext { order: Some(&order), ..context }, stop).await;
    context.spare.renew(Preparation::of(&order), context.loopback);
    let outcome = outcome?;

    match parent::child_error(&outcome, &password) {
        Some(problem) => Err(SpawnError::Sandbox(program.clone(), problem)),
        None => Ok(outcome),
    }
}
