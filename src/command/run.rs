//! `climax run`: the server.

use crate::command::runtime::audit;
use crate::command::selection::failed;
use crate::command::strategy::strategy;
use std::io;
use std::num::NonZero;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use climax_catalog::policy::Executor;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::filter::LevelFilter;

pub(crate) use self::arguments::RunArguments;
use self::arguments::{LogLevel, Transport};
use super::output::FAILURE;
use crate::call::audit::Audit;
use crate::command::terminal;
use crate::exec::Limits;
use crate::exec::Runner;
use crate::exec::default_concurrency;
use crate::mcp::{Changes, Mode, Options, Server};
use crate::serving::Program;
use crate::serving::reload::{Parts, Registry};
use crate::serving::snapshot::ServedHandle;
use crate::telemetry::log;

pub(crate) mod arguments;
#[cfg(feature = "http")]
mod http;
mod memory;
#[cfg(feature = "oauth")]
mod oauth;
mod reload;
mod stdio;

/// A server that is about to serve.
struct Start<'a> {
    arguments: &'a RunArguments,
    registry: Registry,
    options: Options,
    /// Ends the calls.
    shutdown: CancellationToken,
}

/// Serves until the client goes away, or until it is told to end.
pub(crate) fn run(program: &Program, arguments: &RunArguments) -> ExitCode {
    memory::give_back_large_blocks();
    let strategy = match strategy(arguments.search) {
        Ok(strategy) => strategy,
        Err(code) => return code,
    };
    let audit = match audit(arguments.audit.as_deref()) {
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
    let runner = Runner::new(Executor::Local, limits, concurrency).with_own_program();
    let parts = Parts {
        catalog: program.catalog,
        names: arguments.selection.names.clone(),
        configs: arguments.selection.sources.configs.clone(),
        runner,
        natives: program.natives.clone(),
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
    let start = Start { arguments, registry: Registry::new(parts, mode), options, shutdown };
    let served = match arguments.transport {
        Transport::Stdio => stdio::run(start),
        #[cfg(feature = "http")]
        Transport::StreamableHttp => http::run(start),
    };
    served.unwrap_or_else(|code| code)
}

impl Start<'_> {
    /// A server of what is served under a policy; if there is none, says why.
    fn server(&mut self, policy: Option<&Path>) -> Result<(Server, ServedHandle), ExitCode> {
        let (live, warnings) = self.registry.add(policy).map_err(failed)?;
        terminal::report(&warnings);
        Ok((Server::live(live.clone(), self.options, self.shutdown.clone()), live))
    }
}

/// What a hangup has read again.
struct Reloaded {
    registry: Arc<Registry>,
    audit: Option<Arc<Audit>>,
    #[cfg(feature = "http")]
    auth: Option<Arc<crate::transport::http::auth::Auth>>,
}

impl Reloaded {
    fn renew(&self) {
        if let Some(Err(error)) = self.audit.as_deref().map(Audit::reopen) {
            tracing::error!(%error, "the audit file cannot be reopened; no call will run until it can");
        }
        #[cfg(feature = "http")]
        if let Some(Err(error)) = self.auth.as_deref().map(crate::transport::http::auth::Auth::reload) {
            tracing::error!(%error, "the tokens stay as they were");
        }
        if self.registry.files().next().is_some() {
            reload::renew(&self.registry);
        }
    }

    /// Renews at each hangup, and when files change if that is asked for.
    fn start(self, watches: bool) -> io::Result<()> {
        if watches && self.registry.files().next().is_some() {
            reload::watch(self.registry.clone())?;
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
