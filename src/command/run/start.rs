//! The start of a server with either transport: the registry, and the signals that reload it or end the server.

use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Once};

use climax_catalog::Risk;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::arguments::RunArguments;
use super::reload;
use crate::call::audit::Audit;
use crate::call::confinement::needs_of_call;
use crate::command::output::{FAILURE, usage};
use crate::command::retired::ProbableCommand;
use crate::command::selection::report_load_error;
use crate::command::terminal;
use crate::exec;
use crate::mcp::{JOB_TOOL, Jobs, Options, Server};
use crate::serving::load::LoadError;
use crate::serving::reload::{Published, Registry};
use crate::transport::SHUTDOWN_LIMIT;

/// A server before its transport starts.
pub(super) struct Start<'a> {
    pub(super) arguments: &'a RunArguments,
    pub(super) registry: Registry,
    pub(super) options: Options,
    pub(super) jobs: Arc<Jobs>,
    /// Cancels all calls.
    pub(super) shutdown: CancellationToken,
}

impl Start<'_> {
    /// Loads the tools for a policy and makes their server. Reports errors on standard error.
    pub(super) fn server(&mut self, policy: Option<&Path>) -> Result<(Server, Published), ExitCode> {
        let published = self.registry.add(policy).map_err(|error| self.report(error))?;
        terminal::report(&published.warnings);
        if self.options.detach_after.is_some() && published.handle.toolbox().index.get(JOB_TOOL).is_none() {
            let policy = policy.map_or_else(|| "the compiled-in policy".to_owned(), |path| path.display().to_string());
            terminal::complain(&format!(
                "{policy} hides `{JOB_TOOL}`, by which clients follow the calls that --detach-after lets go on: permit it, \
                 or leave --detach-after out"
            ));
            return Err(ExitCode::from(FAILURE));
        }
        tell_unconfined(&published);
        let server = Server::of_handle(published.handle.clone(), self.options.clone(), self.shutdown.clone());
        Ok((server.with_jobs(self.jobs.clone()), published))
    }

    /// Reports why nothing can be served. An unknown name that probably stands for a command is a usage error.
    fn report(&self, error: LoadError) -> ExitCode {
        let is_unknown = |probable: &&ProbableCommand| match &error {
            LoadError::UnknownNames(names) => names
                .iter()
                .any(|name| name.name == probable.word && (probable.is_command || name.suggestions.is_empty())),
            _ => false,
        };
        let probable = self.arguments.probable_command.as_ref().filter(is_unknown);
        let code = report_load_error(error);
        probable.map_or(code, |probable| usage(&probable.message))
    }
}

/// Says once that the kernel cannot confine, if calls should be.
fn tell_unconfined(published: &Published) {
    static TOLD: Once = Once::new();
    if exec::kernel_abi().is_some() {
        return;
    }

    let toolbox = published.handle.toolbox();
    let level = toolbox.policy.confine().level.unwrap_or_default();
    let mut tools = toolbox.index.tools();
    let is_held = tools.any(|tool| needs_of_call(tool, Risk::promised(tool.written_risk()), level).is_some());
    if is_held {
        TOLD.call_once(|| terminal::complain(UNCONFINED));
    }
}

const UNCONFINED: &str = "this kernel cannot confine (it needs Linux 6.2, with Landlock): calls that only read are not \
                          kept from writing or from the network";

/// Reloads files on SIGHUP: the audit file, the tokens, the configs and the policies.
pub(super) struct Reloader {
    pub(super) registry: Arc<Registry>,
    pub(super) audit: Option<Arc<Audit>>,
    #[cfg(feature = "http")]
    pub(super) auth: Option<Arc<crate::transport::http::auth::Auth>>,
}

impl Reloader {
    /// Reloads all files.
    fn reload(&self) {
        if let Some(Err(error)) = self.audit.as_deref().map(Audit::reopen) {
            tracing::error!(%error, "the audit file cannot be reopened; calls fail until it can be opened");
        }

        #[cfg(feature = "http")]
        if let Some(Err(error)) = self.auth.as_deref().map(crate::transport::http::auth::Auth::reload) {
            tracing::error!(%error, "the tokens stay as they were");
        }

        if self.registry.files().next().is_some() {
            reload::reload(&self.registry);
        }
    }

    /// Starts to reload on each SIGHUP, and with `watches` also on each change of a file.
    ///
    /// # Errors
    /// A file cannot be watched, or the signal cannot be handled.
    pub(super) fn start(self, watches: bool) -> io::Result<()> {
        if watches && self.registry.files().next().is_some() {
            reload::watch(self.registry.clone())?;
        }

        let mut signals = signal(SignalKind::hangup())?;
        tokio::spawn(async move {
            let reloader = Arc::new(self);
            while signals.recv().await.is_some() {
                let reloader = reloader.clone();
                // On a thread of its own, since large files take longer than a request may wait.
                let _ = spawn_blocking(move || reloader.reload()).await;
            }
        });
        Ok(())
    }
}

/// Starts to reap the children that programs give to this process. Native tools wait for their own.
///
/// # Errors
/// The signal cannot be handled.
pub(super) fn reap_given_children(registry: &Registry) -> io::Result<()> {
    if registry.has_natives() { Ok(()) } else { exec::reap_given_children() }
}

/// Ends all jobs, and waits for them as long as a server waits for its calls.
pub(super) async fn end_jobs(jobs: &Jobs, end_calls: &CancellationToken) {
    end_calls.cancel();
    // The janitor ends programs that take longer.
    let _ = timeout(SHUTDOWN_LIMIT, jobs.ended()).await;
}

/// Cancels `token` on a signal.
pub(super) fn cancel_on(kind: SignalKind, token: &CancellationToken) -> io::Result<()> {
    let mut signals = signal(kind)?;
    let token = token.clone();
    tokio::spawn(async move {
        signals.recv().await;
        token.cancel();
    });
    Ok(())
}
