//! `climax run`: the server.

use crate::command::runtime::audit;
use crate::command::strategy::strategy;
use std::num::NonZero;
use std::process::ExitCode;

use climax_catalog::policy::Executor;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::filter::LevelFilter;

pub(crate) use self::arguments::RunArguments;
use self::arguments::{LogLevel, Transport};
use self::start::Start;
use super::output::FAILURE;
use crate::command::terminal;
use crate::exec::Limits;
use crate::exec::Runner;
use crate::exec::default_concurrency;
use crate::mcp::{Changes, Mode, Options, SDK_TARGET, tool_list};
use crate::serving::Program;
use crate::serving::reload::{Parts, Registry};
use crate::telemetry::log;

pub(crate) mod arguments;
#[cfg(feature = "http")]
mod http;
mod memory;
#[cfg(feature = "oauth")]
mod oauth;
mod reload;
mod start;
mod stdio;

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
    let _logging = match log::start(level(arguments.log_level), log_file.as_deref(), SDK_TARGET) {
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
    let runner = Runner::new(Executor::Local, limits, concurrency).with_helper_processes();
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
        (true, true) => Changes::Silent,
        (true, false) => Changes::Notified,
    };
    let options = Options { mode, strategy, changes };
    let shutdown = CancellationToken::new();
    let start =
        Start { arguments, registry: Registry::new(parts, move |index| tool_list(index, mode)), options, shutdown };
    let served = match arguments.transport {
        Transport::Stdio => stdio::run(start),
        #[cfg(feature = "http")]
        Transport::StreamableHttp => http::run(start),
    };
    served.unwrap_or_else(|code| code)
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
