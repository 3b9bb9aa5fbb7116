//! `climax run`: starts the server.

pub(crate) mod arguments;
mod banner;
#[cfg(feature = "http")]
mod http;
mod memory;
#[cfg(feature = "oauth")]
mod oauth;
mod reload;
mod start;
mod stdio;
mod surface;

use std::num::NonZero;
use std::process::ExitCode;
use std::sync::Arc;

use climax_catalog::policy::Executor;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::filter::LevelFilter;

pub(crate) use self::arguments::RunArguments;
use self::arguments::{LogLevel, Transport};
use self::start::Start;
use super::output::{FAILURE, usage};
use crate::call::audit::Audit;
use crate::command::check::rewriter;
use crate::command::runtime::{audit, for_one_person, text_form};
use crate::command::strategy::strategy;
use crate::command::terminal;
use crate::exec::{Limits, Runner, default_concurrency};
use crate::mcp::{Changes, JOB_TOOL, JobTool, Jobs, Options, ReplicaName, SDK_TARGET, tool_list};
use crate::serving::Program;
use crate::serving::load::Wanted;
use crate::serving::reload::{Registry, ToolboxSettings};
use crate::telemetry::log;

/// Why `--detach-after` is refused where no tool starts a program.
const NOTHING_TO_DETACH: &str = "--detach-after lets calls go on, and none of the offered tools calls anything: add `call` to --meta, or leave it out";

/// Serves until the client disconnects or a signal ends the server.
pub(crate) fn run(program: &Program, mut arguments: Box<RunArguments>) -> ExitCode {
    if arguments.enters_root() {
        arguments.make_paths_absolute();
    }
    let arguments = &arguments;
    memory::return_large_blocks();
    let strategy = match strategy(arguments.search) {
        Ok(strategy) => strategy,
        Err(code) => return code,
    };
    let surface = match arguments.surface.surface() {
        Ok(surface) => surface,
        Err(code) => return code,
    };
    let surface = match arguments.detach_after {
        None => surface,
        Some(_) => match surface.with_jobs() {
            Some(surface) => surface,
            None => return usage(NOTHING_TO_DETACH),
        },
    };
    let audit = match audit(arguments.audit.as_deref()) {
        Ok(audit) => audit,
        Err(code) => return code,
    };
    let _logging = match start_log(arguments) {
        Ok(logging) => logging,
        Err(code) => return code,
    };
    let listed = surface.clone();
    let jobs = Arc::<Jobs>::default();
    let judge = surface.judges_lines().then(|| rewriter(&arguments.selection.sources.without_policy()));
    let settings = ToolboxSettings { rewriter: judge, ..settings(program, arguments, &jobs, audit) };
    let registry = Registry::new(settings, move |toolbox| tool_list(&toolbox.index, &listed.under(&toolbox.policy)));
    let text_form = text_form(arguments.raw_output);
    let (detach_after, replica) = (arguments.detach_after, replica(arguments));
    let options = Options { surface, strategy, text_form, changes: changes(arguments), detach_after, replica };
    let start = Start { arguments, registry, options, jobs, shutdown: CancellationToken::new() };
    let ended = match arguments.transport {
        Transport::Stdio => stdio::run(start),
        #[cfg(feature = "http")]
        Transport::StreamableHttp => http::run(start),
    };

    ended.unwrap_or_else(|code| code)
}

/// The name of this server among its replicas.
#[cfg(feature = "http")]
fn replica(arguments: &RunArguments) -> Option<ReplicaName> {
    arguments.http.replica.clone()
}

/// A server without HTTP has no replicas.
#[cfg(not(feature = "http"))]
fn replica(_: &RunArguments) -> Option<ReplicaName> {
    None
}

/// Starts the log. Reports errors on standard error.
fn start_log(arguments: &RunArguments) -> Result<log::Logging, ExitCode> {
    let file = log::file(arguments.log_file.as_deref());
    log::start(level(arguments.log_level), file.as_deref(), SDK_TARGET).map_err(|error| {
        let path = file.unwrap_or_default();
        terminal::complain(&format!("cannot log to {}: {error}", path.display()));
        ExitCode::from(FAILURE)
    })
}

/// Returns the settings that all toolboxes share.
fn settings(
    program: &Program,
    arguments: &RunArguments,
    jobs: &Arc<Jobs>,
    audit: Option<Arc<Audit>>,
) -> ToolboxSettings {
    let has_jobs = arguments.detach_after.is_some();
    let mut natives = program.natives.clone();
    if has_jobs {
        natives.insert(JOB_TOOL, JobTool::new(jobs.clone()));
    }

    let concurrency = arguments.max_concurrency.map_or_else(default_concurrency, NonZero::get);
    let limits = Limits { stream_bytes: arguments.max_output, ..Limits::default() };
    let mut runner = Runner::new(Executor::Local, limits, concurrency).with_helper_processes().with_spare_child();
    // Over HTTP a process serves many sessions, whose programs must not find each other's files.
    if arguments.transport == Transport::Stdio {
        runner = for_one_person(runner);
        // A call may go on as a job, and later ones reach the server that it runs.
        runner.share_loopback();
    }

    ToolboxSettings {
        catalog: program.catalog,
        wanted: Wanted { jobs: has_jobs, skills: arguments.skills.clone(), ..arguments.selection.wanted() },
        runner,
        has_own_natives: !program.natives.is_empty(),
        natives,
        audit,
        observer: None,
        rewriter: None,
    }
}

fn changes(arguments: &RunArguments) -> Changes {
    match (arguments.has_files(), arguments.reload.no_notify) {
        (false, _) => Changes::Never,
        (true, true) => Changes::Silent,
        (true, false) => Changes::Notified,
    }
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
