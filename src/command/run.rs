//! `climax run`: the server.

use std::io::{self, IsTerminal as _};
use std::num::NonZero;
use std::process::ExitCode;

use climax_catalog::Catalog;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::filter::LevelFilter;

use crate::cli::{FAILURE, LogLevel, RunArguments};
use crate::exec;
use crate::limits::{Limits, default_concurrency};
use crate::mcp::{Mode, Options, Server};
use crate::{log, terminal, transport};

const ON_A_TERMINAL: &str = "\
climax serves MCP on standard input and output and is waiting for a client to speak. Start it from one instead:
  Claude Code      claude mcp add climax -- climax
  other clients    {\"mcpServers\": {\"climax\": {\"command\": \"climax\"}}}
To try a tool here: climax list, climax search QUERY, climax call TOOL key=value. Ctrl-C ends the server.";

/// Serves until the client goes away.
pub(crate) fn run(catalog: &'static Catalog, arguments: &RunArguments) -> ExitCode {
    let strategy = match super::strategy(arguments.search) {
        Ok(strategy) => strategy,
        Err(code) => return code,
    };
    let index = match super::load(catalog, &arguments.selection) {
        Ok(index) => index,
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
    let server = Server::new(index, Options { mode, strategy, concurrency }, limits, shutdown.clone());
    match super::runtime().and_then(|runtime| serve(runtime, server, shutdown)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            terminal::error(&format!("climax: {error}"));
            ExitCode::from(FAILURE)
        }
    }
}

fn serve(runtime: Runtime, server: Server, shutdown: CancellationToken) -> io::Result<()> {
    let ended = runtime.block_on(async {
        cancel_on_signals(&shutdown)?;
        let (input, output) = transport::stdio::open();
        transport::stdio::serve(server, input, output, shutdown).await
    });
    // A thread may be parked in a read of standard input; nothing is left to wait for.
    runtime.shutdown_background();
    ended
}

fn cancel_on_signals(shutdown: &CancellationToken) -> io::Result<()> {
    for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
        let mut signals = signal(kind)?;
        let shutdown = shutdown.clone();
        tokio::spawn(async move {
            signals.recv().await;
            shutdown.cancel();
        });
    }
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
