//! `climax run`: the server.

use std::io::{self, IsTerminal as _};
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::filter::LevelFilter;

use crate::audit::Audit;
use crate::call::Toolbox;
use crate::cli::{FAILURE, LogLevel, RunArguments};
use crate::exec::{self, Executor};
use crate::limits::{Limits, default_concurrency};
use crate::load::Served;
use crate::mcp::{Mode, Options, Server};
use crate::program::Program;
use crate::{log, terminal, transport};

const ON_A_TERMINAL: &str = "\
climax serves MCP on standard input and output and is waiting for a client to speak. Start it from one instead:
  Claude Code      claude mcp add climax -- climax
  other clients    {\"mcpServers\": {\"climax\": {\"command\": \"climax\"}}}
To try a tool here: climax list, climax search QUERY, climax call TOOL key=value. Ctrl-C ends the server.";

/// Serves until the client goes away.
pub(crate) fn run(program: &Program, arguments: &RunArguments) -> ExitCode {
    let strategy = match super::strategy(arguments.search) {
        Ok(strategy) => strategy,
        Err(code) => return code,
    };
    let Served { index, policy } =
        match super::load(program.catalog, &arguments.selection.names, &arguments.selection.sources) {
            Ok(served) => served,
            Err(code) => return code,
        };
    let audit = match super::audit(arguments.audit.as_deref()) {
        Ok(audit) => audit,
        Err(code) => return code,
    };
    let log_file = log::file(arguments.log_file.as_deref());
    if let Err(error) = log::start(level(arguments.log_level), log_file.as_deref()) {
        let path = log_file.unwrap_or_default();
        terminal::error(&format!("climax: cannot open the log file {}: {error}", path.display()));
        return ExitCode::from(FAILURE);
    }
    if io::stdin().is_terminal() {
        terminal::error(ON_A_TERMINAL);
    }
    exec::keep_descriptors_private();
    let mode = match (arguments.classic, arguments.extended) {
        (true, _) => Mode::Classic,
        (_, true) => Mode::Extended,
        _ => Mode::Meta,
    };
    let concurrency = arguments.max_concurrency.map_or_else(default_concurrency, NonZero::get);
    let limits = Limits { stream_bytes: arguments.max_output, ..Limits::default() };
    let shutdown = CancellationToken::new();
    let executor = Executor::new(policy.executor().clone(), limits, concurrency)
        .with_own_program()
        .with_natives(program.natives.clone());
    let toolbox = Arc::new(Toolbox::new(index, policy, executor, audit));
    let server = Server::new(toolbox.clone(), Options { mode, strategy }, shutdown.clone());
    match super::runtime().and_then(|runtime| serve(runtime, server, toolbox, shutdown)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            terminal::error(&format!("climax: {error}"));
            ExitCode::from(FAILURE)
        }
    }
}

fn serve(runtime: Runtime, server: Server, toolbox: Arc<Toolbox>, shutdown: CancellationToken) -> io::Result<()> {
    let ended = runtime.block_on(async {
        for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
            cancel_on(kind, &shutdown)?;
        }
        if toolbox.audit.is_some() {
            reopen_on_hangup(toolbox)?;
        } else {
            cancel_on(SignalKind::hangup(), &shutdown)?;
        }
        let (input, output) = transport::stdio::open();
        Box::pin(transport::stdio::serve(server, input, output, shutdown)).await
    });
    // A thread may be parked in a read of standard input; nothing is left to wait for.
    runtime.shutdown_background();
    ended
}

fn cancel_on(kind: SignalKind, shutdown: &CancellationToken) -> io::Result<()> {
    let mut signals = signal(kind)?;
    let shutdown = shutdown.clone();
    tokio::spawn(async move {
        signals.recv().await;
        shutdown.cancel();
    });
    Ok(())
}

/// Lets the audit file be rotated: it is renamed, then this is told to go on in a new one.
fn reopen_on_hangup(toolbox: Arc<Toolbox>) -> io::Result<()> {
    let mut signals = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        while signals.recv().await.is_some() {
            if let Some(Err(error)) = toolbox.audit.as_ref().map(Audit::reopen) {
                tracing::error!(%error, "the audit file cannot be reopened; no call will run until it can");
            }
        }
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
