//! Checks that the servers and hooks start which the settings of clients name.

use std::future::pending;
use std::path::PathBuf;
use std::time::Duration;

use climax_catalog::policy::Executor;
use serde_json::{Value, json};

use crate::command::install::{InstalledServer, installed_hooks, installed_servers};
use crate::exec::{End, Invocation, Limits, Outcome, Runner};

/// Timeout for a server to start, answer and end.
const START_LIMIT: Duration = Duration::from_secs(10);

/// Lines of a server's messages that are shown.
const MAX_SAID_LINES: usize = 3;

/// The first message of a client.
const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"#,
    r#""clientInfo":{"name":"doctor","version":"0"}}}"#,
    "\n"
);

/// A message to a hook about a harmless line, which that of every client reads.
const HARMLESS: &str = r#"{"tool_name":"Bash","tool_input":{"command":"true"},"command":"true"}"#;

/// The check of the server or the hook in a client's settings.
pub(super) struct ClientCheck {
    client: &'static str,
    path: PathBuf,
    is_hook: bool,
    /// Why it does not start.
    pub(super) problem: Option<String>,
}

impl ClientCheck {
    pub(super) fn json(&self) -> Value {
        let kind = if self.is_hook { "hook" } else { "server" };
        json!({ "client": self.client, "kind": kind, "settings": self.path.display().to_string(), "problem": self.problem })
    }

    pub(super) fn row(&self) -> [String; 3] {
        let works = if self.is_hook { "its hook judges lines" } else { "starts" };
        let result = self.problem.clone().unwrap_or_else(|| works.to_owned());
        [self.client.to_owned(), result, self.path.display().to_string()]
    }
}

/// Starts the server and the hook of each client whose settings name this program.
pub(super) async fn clients() -> Vec<ClientCheck> {
    let runner = Runner::new(Executor::Local, Limits::default(), 1).with_helper_processes();
    let mut checks = Vec::new();
    for InstalledServer { client, path, command } in installed_servers() {
        let problem = match command {
            Ok(words) => start(&runner, words).await.err(),
            Err(problem) => Some(problem),
        };
        checks.push(ClientCheck { client, path, is_hook: false, problem });
    }
    for InstalledServer { client, path, command } in installed_hooks() {
        let problem = match command {
            Ok(words) => judge(&runner, words).await.err(),
            Err(problem) => Some(problem),
        };
        checks.push(ClientCheck { client, path, is_hook: true, problem });
    }

    checks
}

/// Starts a server as a client does, and ends its input.
///
/// # Errors
/// It does not answer the first message, with what it says first.
async fn start(runner: &Runner, argv: Vec<String>) -> Result<(), String> {
    let invocation = Invocation { stdin: Some(INITIALIZE.to_owned()), ..Invocation::new(argv, START_LIMIT) };
    let outcome = runner.run(&invocation, None, pending()).await.map_err(|error| error.to_string())?;
    let first = outcome.stdout.text().lines().next().and_then(|line| serde_json::from_str::<Value>(line).ok());
    if first.is_some_and(|answer| answer["result"]["serverInfo"].is_object()) {
        return Ok(());
    }
    Err(said(&outcome))
}

/// Starts a hook as an agent does, with a line that only reads.
///
/// # Errors
/// It does not judge the line, with what it says first.
async fn judge(runner: &Runner, argv: Vec<String>) -> Result<(), String> {
    let invocation = Invocation { stdin: Some(HARMLESS.to_owned()), ..Invocation::new(argv, START_LIMIT) };
    let outcome = runner.run(&invocation, None, pending()).await.map_err(|error| error.to_string())?;
    let answer = outcome.stdout.text();
    // A hook that could not judge asks about each line.
    if outcome.end == End::Exited(0) && !answer.contains("was not judged") {
        return Ok(());
    }
    Err(if answer.is_empty() { said(&outcome) } else { answer.trim().to_owned() })
}

/// What a program that did not answer says.
fn said(outcome: &Outcome) -> String {
    let said = outcome.stderr.text();
    let said: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).take(MAX_SAID_LINES).collect();
    match outcome.end {
        _ if !said.is_empty() => said.join(" "),
        End::Exited(status) => format!("it ended with status {status} before it answered"),
        _ => "it gave no answer".to_owned(),
    }
}
