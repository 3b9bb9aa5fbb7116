//! `climax doctor`: checks which programs of the selected CLIs can run, and prints the limits.

mod clients;

use std::future::pending;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use climax_catalog::expansion::command_word;
use climax_catalog::policy::{ConfineLevel, Executor, Protection};
use climax_catalog::{Cage, Catalog, CliView, Policy, Risk};
use serde_json::{Map, Value, json};

use self::clients::ClientCheck;
use crate::call::command_line::literal_variables;
use crate::call::confinement::needs_of_call;
use crate::command::output::{FAILURE, print};
use crate::command::runtime::runtime;
use crate::command::selection::Selection;
use crate::command::terminal;
use crate::exec::{self, End, Invocation, Isolation, Limits, Rights, Runner};
use crate::serving::load::LoadedTools;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Timeout for a program to print its version.
const VERSION_LIMIT: Duration = Duration::from_secs(5);

/// The check of one program that tools run.
struct ProgramCheck {
    cli: String,
    word: String,
    path: Option<PathBuf>,
    version: Option<String>,
    /// The error, if running it failed.
    problem: Option<String>,
    tools: usize,
    /// Number of tools whose calls require approval.
    approval_tools: usize,
    /// Number of tools of which some calls are held to needs.
    confined_tools: usize,
}

/// Prints the programs and the limits. Exit status 1 if a program is missing, or cannot run in the policy's executor,
/// or the server in a client's settings does not start.
pub(crate) fn run(catalog: &'static Catalog, arguments: &Args) -> ExitCode {
    let loaded = match arguments.selection.load(catalog) {
        Ok(loaded) => loaded,
        Err(code) => return code,
    };
    let checks =
        runtime().map(|runtime| runtime.block_on(async { (programs(&loaded).await, clients::clients().await) }));
    let (programs, clients) = match checks {
        Ok(checks) => checks,
        Err(error) => {
            terminal::complain(&error);
            return ExitCode::from(FAILURE);
        }
    };
    let fails =
        |program: &ProgramCheck| program.problem.is_some() || program.path.is_none() && runs_here(&loaded.policy);
    let is_broken = clients.iter().any(|client| client.problem.is_some());
    let code = if is_broken || programs.iter().any(fails) { ExitCode::from(FAILURE) } else { ExitCode::SUCCESS };
    let limits = limits_in_force();
    if arguments.json {
        let programs: Vec<Value> = programs.iter().map(program_json).collect();
        let limits: Map<String, Value> =
            limits.into_iter().map(|Limit(name, _, value)| (name.to_owned(), value)).collect();
        let confinement = json!({ "level": level(&loaded).as_str(), "landlock_abi": exec::kernel_abi(), "unknown": loaded.policy.lines().unknown().as_str(), "cages": cages_json(loaded.policy.lines().rules.protect) });
        let json = json!({
            "executor": executor_text(loaded.policy.executor()),
            "confinement": confinement,
            "programs": programs,
            "clients": clients.iter().map(ClientCheck::json).collect::<Vec<_>>(),
            "limits": limits,
        });
        return print(&json.to_string(), code);
    }
    print(&tables(&loaded, &programs, &clients, &limits), code)
}

/// Checks each program once.
async fn programs(loaded: &LoadedTools) -> Vec<ProgramCheck> {
    let runner = Runner::new(loaded.policy.executor().clone(), Limits::default(), 1).with_helper_processes();
    let mut programs: Vec<ProgramCheck> = Vec::new();
    for tool in loaded.index.tools() {
        let Some(word) = tool.cli().words().chain(tool.words()).next() else { continue };
        let approval_tools = usize::from(loaded.policy.needs_approval(tool));
        let level = loaded.policy.confine().level.unwrap_or_default();
        let risk = Risk::promised(tool.written_risk());
        let confined_tools = usize::from(needs_of_call(tool, risk, level).is_some());
        let same = |program: &&mut ProgramCheck| program.cli == tool.cli().name() && program.word == word;
        if let Some(program) = programs.iter_mut().find(same) {
            program.tools += 1;
            program.approval_tools += approval_tools;
            program.confined_tools += confined_tools;
            continue;
        }
        let path = if runs_here(&loaded.policy) { exec::locate(tool.cli(), word) } else { None };
        let can_run = path.is_some() || !runs_here(&loaded.policy);
        let version = if can_run { version(&runner, tool.cli(), word).await } else { Ok(None) };
        let (version, problem) = version.map_or_else(|problem| (None, Some(problem)), |version| (version, None));
        let cli = tool.cli().name().to_owned();
        let word = word.to_owned();
        programs.push(ProgramCheck { cli, word, path, version, problem, tools: 1, approval_tools, confined_tools });
    }

    programs
}

/// Returns the first line that `PROGRAM --version` or `PROGRAM version` prints; `None` if neither prints one.
///
/// The program runs in the executor of the policy, like a call that only reads.
///
/// # Errors
/// The program cannot be run.
async fn version(runner: &Runner, cli: CliView<'_>, word: &str) -> Result<Option<String>, String> {
    for argument in ["--version", "version", "-version"] {
        let argv = vec![command_word(word, &exec::variable), argument.to_owned()];
        let invocation = Invocation {
            env: literal_variables(cli),
            program_dir: cli.working_dir().map(PathBuf::from),
            // Some programs write settings and logs into the home directory, whatever they are asked.
            confinement: Some(Rights::default()),
            ..Invocation::new(argv, VERSION_LIMIT)
        };
        let outcome = runner.run(&invocation, None, pending()).await.map_err(|error| error.to_string())?;
        // Errors of the container runtime itself.
        if let (Executor::Container(_), End::Exited(125..=127)) = (runner.executor(), outcome.end) {
            return Err(outcome.stderr.text().trim().to_owned());
        }
        let text = outcome.stdout.text();
        let line = text.lines().map(str::trim).find(|line| !line.is_empty());
        if let (End::Exited(0), Some(line)) = (outcome.end, line) {
            return Ok(Some(line.to_owned()));
        }
    }
    Ok(None)
}

/// Whether programs run on this machine, and not in a container.
fn runs_here(policy: &Policy) -> bool {
    !matches!(policy.executor(), Executor::Container(_))
}

/// Describes the executor.
fn executor_text(executor: &Executor) -> String {
    match executor {
        Executor::Local => "local".to_owned(),
        Executor::Sandbox(_) => "sandbox".to_owned(),
        Executor::Container(container) => format!("{} image {}", container.runtime.as_str(), container.image),
    }
}

fn program_json(program: &ProgramCheck) -> Value {
    json!({
        "cli": program.cli,
        "program": program.word,
        "path": program.path.as_ref().map(|path| path.display().to_string()),
        "version": program.version,
        "problem": program.problem,
        "tools": program.tools,
        "needing_approval": program.approval_tools,
        "confined": program.confined_tools,
    })
}

fn tables(loaded: &LoadedTools, programs: &[ProgramCheck], clients: &[ClientCheck], limits: &[Limit]) -> String {
    let rows = programs.iter().map(|program| {
        let path = match &program.path {
            Some(path) => path.display().to_string(),
            None if runs_here(&loaded.policy) => format!("{}: not found", program.word),
            None => program.word.clone(),
        };
        let version = program.problem.clone().or(program.version.clone()).unwrap_or_default();
        let counts = [program.tools, program.approval_tools, program.confined_tools].map(|count| count.to_string());
        let [tools, approval, confined] = counts;
        [program.cli.clone(), path, version, tools, approval, confined]
    });
    let programs = terminal::table(["CLI", "Program", "Version", "Tools", "Ask first", "Confined"], rows);
    let clients = match clients {
        [] => String::new(),
        _ => format!("{}\n\n", terminal::table(["Client", "Server", "Settings"], clients.iter().map(ClientCheck::row))),
    };
    let rows = limits.iter().map(|Limit(_, meaning, value)| [(*meaning).to_owned(), value.to_string()]);
    let limits = terminal::table(["Limit", "Value"], rows);
    let tools = loaded.index.tools().count();
    let hidden = if tools == 0 { "; the policy permits none" } else { "" };
    let executor = executor_text(loaded.policy.executor());
    format!("{tools} tools{hidden}, run: {executor}\n{}\n\n{programs}\n\n{clients}{limits}", confinement_text(loaded))
}

/// Returns the level of confinement.
fn level(loaded: &LoadedTools) -> ConfineLevel {
    loaded.policy.confine().level.unwrap_or_default()
}

/// Describes what the kernel can, and which calls are held to needs.
fn confinement_text(loaded: &LoadedTools) -> String {
    let kernel = match exec::kernel_abi() {
        None => "this kernel cannot confine (it needs Linux 6.2, with Landlock)".to_owned(),
        Some(abi @ ..=5) => format!("Landlock ABI {abi}, which does not keep programs from signalling others"),
        Some(abi) => format!("Landlock ABI {abi}"),
    };
    let unknown = loaded.policy.lines().unknown().as_str();
    let cages = match Isolation::here() {
        None => "cages: none, since this kernel cannot confine".to_owned(),
        Some(isolation) => {
            let rows = isolation.promises().map(|(promise, is_kept, means)| {
                [promise.to_owned(), if is_kept { "yes" } else { "no" }.to_owned(), means.to_owned()]
            });
            let protection = loaded.policy.lines().rules.protect;
            let held = [Cage::Read, Cage::Workspace].into_iter().filter(|cage| isolation.holds(*cage, protection));
            let held = held.map(Cage::as_str).collect::<Vec<_>>().join(", ");
            format!("cages: {held}, by {}\n\n{}", isolation.as_str(), terminal::table(["Promise", "Kept", "By"], rows))
        }
    };
    format!("confine: {}; {kernel}\nunknown programs of lines: {unknown}\n{cages}", level(loaded).as_str())
}

/// What this system keeps of the promises of cages, as JSON.
fn cages_json(protection: Protection) -> Value {
    let Some(isolation) = Isolation::here() else { return Value::Null };
    let promises = isolation
        .promises()
        .map(|(promise, is_kept, means)| json!({ "promise": promise, "kept": is_kept, "by": means }));
    let held =
        [Cage::Read, Cage::Workspace].into_iter().filter(|cage| isolation.holds(*cage, protection)).map(Cage::as_str);
    json!({ "isolation": isolation.as_str(), "held": held.collect::<Vec<_>>(), "promises": promises })
}

/// A limit: its name in JSON, its meaning, its value.
struct Limit(&'static str, &'static str, Value);

/// Returns the limits that apply to users.
fn limits_in_force() -> Vec<Limit> {
    let limits = Limits::default();
    let seconds = |time: Duration| json!(time.as_secs_f64());
    vec![
        Limit("output_bytes", "bytes kept of each output stream (--max-output)", json!(limits.stream_bytes)),
        Limit("concurrency", "programs at once (--max-concurrency)", json!(crate::exec::default_concurrency())),
        Limit("argument_bytes", "bytes of an argument", json!(crate::call::arguments::MAX_ARGUMENT_BYTES)),
        Limit("stdin_bytes", "bytes of a call's standard input", json!(crate::call::arguments::MAX_STDIN_BYTES)),
        Limit("message_bytes", "bytes of a client's message", json!(crate::mcp::decode::MAX_LINE_BYTES)),
        Limit("grace_seconds", "seconds from TERM to KILL", seconds(limits.grace)),
        Limit("shutdown_grace_seconds", "the same when the server ends", seconds(limits.shutdown_grace)),
        Limit("drain_seconds", "seconds for pipes that are held after the end", seconds(limits.drain)),
        Limit("container_removal_seconds", "seconds to remove a container", seconds(limits.removal)),
        Limit("approval_seconds", "seconds to approve a call", seconds(crate::call::approval::APPROVAL_LIMIT)),
        Limit(
            "min_progress_seconds",
            "seconds between progress notifications, least",
            seconds(crate::mcp::MIN_PROGRESS_INTERVAL),
        ),
        Limit(
            "max_progress_seconds",
            "seconds between progress notifications, most",
            seconds(crate::mcp::MAX_PROGRESS_INTERVAL),
        ),
        Limit("search_results", "results of a search", json!(crate::mcp::MAX_SEARCH_RESULTS)),
    ]
}
