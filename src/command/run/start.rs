//! What both transports start with: a registry to serve from, and signals that reload it or end it.

use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::arguments::RunArguments;
use super::reload;
use crate::call::audit::Audit;
use crate::command::selection::failed;
use crate::command::terminal;
use crate::mcp::{Options, Server};
use crate::serving::reload::Registry;
use crate::serving::snapshot::ServedHandle;

/// A server that is about to serve.
pub(super) struct Start<'a> {
    pub(super) arguments: &'a RunArguments,
    pub(super) registry: Registry,
    pub(super) options: Options,
    /// Ends the calls.
    pub(super) shutdown: CancellationToken,
}

impl Start<'_> {
    /// A server of what is served under a policy; if there is none, says why.
    pub(super) fn server(&mut self, policy: Option<&Path>) -> Result<(Server, ServedHandle), ExitCode> {
        let (live, warnings) = self.registry.add(policy).map_err(failed)?;
        terminal::report(&warnings);
        Ok((Server::of_handle(live.clone(), self.options, self.shutdown.clone()), live))
    }
}

/// What a hangup has read again.
pub(super) struct Reloaded {
    pub(super) registry: Arc<Registry>,
    pub(super) audit: Option<Arc<Audit>>,
    #[cfg(feature = "http")]
    pub(super) auth: Option<Arc<crate::transport::http::auth::Auth>>,
}

impl Reloaded {
    fn reload(&self) {
        if let Some(Err(error)) = self.audit.as_deref().map(Audit::reopen) {
            tracing::error!(%error, "the audit file cannot be reopened; no call will run until it can");
        }
        #[cfg(feature = "http")]
        if let Some(Err(error)) = self.auth.as_deref().map(crate::transport::http::auth::Auth::reload) {
            tracing::error!(%error, "the tokens stay as they were");
        }
        if self.registry.files().next().is_some() {
            reload::reload(&self.registry);
        }
    }

    /// Reloads at each hangup, and when files change if that is asked for.
    pub(super) fn start(self, watches: bool) -> io::Result<()> {
        if watches && self.registry.files().next().is_some() {
            reload::watch(self.registry.clone())?;
        }
        let mut signals = signal(SignalKind::hangup())?;
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                self.reload();
            }
        });
        Ok(())
    }
}

pub(super) fn cancel_on(kind: SignalKind, token: &CancellationToken) -> io::Result<()> {
    let mut signals = signal(kind)?;
    let token = token.clone();
    tokio::spawn(async move {
        signals.recv().await;
        token.cancel();
    });
    Ok(())
}
