//! `climax run`: the server.

use std::io;
use std::num::NonZero;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use climax_catalog::policy::Executor as Place;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::filter::LevelFilter;

use crate::audit::Audit;
use crate::cli::{FAILURE, LogLevel, RunArguments, Transport};
use crate::editions::{Editions, Parts};
use crate::exec::Executor;
use crate::limits::{Limits, default_concurrency};
use crate::live::Live;
use crate::mcp::{Changes, Mode, Options, Server};
use crate::program::Program;
use crate::{log, terminal};

#[cfg(feature = "http")]
mod http;
mod memory;
mod reload;
mod stdio;

/// A server that is about to serve.
struct Start<'a> {
    arguments: &'a RunArguments,
    editions: Editions,
    options: Options,
    /// Ends the calls.
    shutdown: CancellationToken,
}

/// Serves until the client goes away, or until it is told to end.
pub(crate) fn run(program: &Program, arguments: &RunArguments) -> ExitCode {
    memory::give_back_large_blocks();
    let strategy = match super::strategy(arguments.search) {
        Ok(strategy) => strategy,
        Err(code) => return code,
    };
    let audit = match super::audit(arguments.audit.as_deref()) {
        Ok(audit) => audit,
        Err(code) => return code,
    };
    let log_file = log::file(arguments.log_file.as_deref());
    let _logging = match log::start(level(arguments.log_level), log_file.as_deref()) {
        Ok(logging) => logging,
        Err(error) => {
            let path = log_file.unwrap_or_default();
            terminal::error(&format!("climax: cannot log to {}: {error}", path.display()));
            return ExitCode::from(FAILURE);
        }
    };
    let mode = match (arguments.classic, arguments.extended) {
        (true, _) => Mode::Classic,
        (_, true) => Mode::Extended,
        _ => Mode::Meta,
    };
    let concurrency = arguments.max_concurrency.map_or_else(default_concurrency, NonZero::get);
    let limits = Limits { stream_bytes: arguments.max_output, ..Limits::default() };
    let executor =
        Executor::new(Place::Local, limits, concurrency).with_own_program().with_natives(program.natives.clone());
    let parts = Parts {
        catalog: program.catalog,
        names: arguments.selection.names.clone(),
        configs: arguments.selection.sources.configs.clone(),
        executor,
        audit,
        observer: None,
    };
    let changes = match (arguments.has_files(), arguments.reload.no_notify) {
        (false, _) => Changes::Never,
        (true, true) => Changes::Untold,
        (true, false) => Changes::Told,
    };
    let options = Options { mode, strategy, changes };
    let shutdown = CancellationToken::new();
    let start = Start { arguments, editions: Editions::new(parts, mode), options, shutdown };
    let served = match arguments.transport {
        Transport::Stdio => stdio::run(start),
        #[cfg(feature = "http")]
        Transport::StreamableHttp => http::run(start),
    };
    served.unwrap_or_else(|code| code)
}

impl Start<'_> {
    /// A server of what is served under a policy; if there is none, says why.
    fn server(&mut self, policy: Option<&Path>) -> Result<(Server, Live), ExitCode> {
        let (live, warnings) = self.editions.add(policy).map_err(super::failed)?;
        terminal::report(&warnings);
        Ok((Server::live(live.clone(), self.options, self.shutdown.clone()), live))
    }
}

/// What a hangup has read again.
struct Renewed {
    editions: Arc<Editions>,
    audit: Option<Arc<Audit>>,
    #[cfg(feature = "http")]
    access: Option<Arc<crate::transport::http::access::Access>>,
}

impl Renewed {
    fn renew(&self) {
        if let Some(Err(error)) = self.audit.as_deref().map(Audit::reopen) {
            tracing::error!(%error, "the audit file cannot be reopened; no call will run until it can");
        }
        #[cfg(feature = "http")]
        if let Some(Err(error)) = self.access.as_deref().map(crate::transport::http::access::Access::reread) {
            tracing::error!(%error, "the tokens stay as they were");
        }
        if self.editions.files().next().is_some() {
            reload::renew(&self.editions);
        }
    }

    /// Renews at each hangup, and when files change if that is asked for.
    fn start(self, watches: bool) -> io::Result<()> {
        if watches && self.editions.files().next().is_some() {
            reload::watch(self.editions.clone())?;
        }
        let mut signals = signal(SignalKind::hangup())?;
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                self.renew();
            }
        });
        Ok(())
    }
}

fn cancel_on(kind: SignalKind, token: &CancellationToken) -> io::Result<()> {
    let mut signals = signal(kind)?;
    let token = token.clone();
    tokio::spawn(async move {
        signals.recv().await;
        token.cancel();
    });
    Ok(())
}

fn level(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    }
}
