//! Memory that clients can make a server use, with cancelled calls and with results that they do not read.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::time::{Duration, Instant};

use climax::mcp::Surface;
use climax::transport::stdio::MAX_WAITING_MESSAGES;
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::client::{Client, initialize, unrestricted};
use crate::support::{PATIENCE, announced, climax, fake_config, index, is_running, until};
use crate::web::Web;

const TOOLS: &str = "
  - name: deploy
    description: Deploys
    command: argv
    args: [{name: place, required: true, positional: true}]
    ask: [{name: where, message: Where to?, args: [place]}]
";
/// Number of cancelled calls. A waiting call can take 16 KiB.
const CALLS: usize = 10_000;
/// Limit for the server's peak memory. A fresh server without optimizations takes a third of it.
const MAX_PEAK_MIB: u64 = 64;
/// A wait that ends, with paused time, when no task can run.
const IDLE: Duration = Duration::from_millis(1);

async fn client() -> Client {
    Client::open(unrestricted(index(&fake_config(TOOLS))), Surface::Classic, json!({ "elicitation": {} })).await
}

/// Returns the request of a call that asks the user.
fn call(id: usize) -> String {
    let params = json!({ "name": "deploy", "arguments": {} });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

fn cancellation(id: usize) -> String {
    let params = json!({ "requestId": id });
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }).to_string()
}

/// Returns the peak memory of a process in MiB. Source: proc(5), `status`.
fn peak_mib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() >> 10
}

#[test]
fn cancelled_calls_free_their_memory_before_new_calls() {
    let directory = tempfile::tempdir().unwrap();
    let [config, printed] = ["config.yaml", "printed"].map(|name| directory.path().join(name));
    fs::write(&config, fake_config(TOOLS)).unwrap();
    let mut command = climax();
    command.arg("--classic").arg("--config").arg(&config).stdin(Stdio::piped()).stdout(File::create(&printed).unwrap());
    let mut server = command.spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut params = initialize("2025-11-25");
    params["capabilities"] = json!({ "elicitation": {} });
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    writeln!(input, "{initialize}\n{initialized}").unwrap();
    for id in 1..=CALLS {
        writeln!(input, "{}\n{}", call(id), cancellation(id)).unwrap();
    }
    writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": "last", "method": "ping" })).unwrap();
    until("the response to the last request", || fs::read_to_string(&printed).unwrap().contains("\"last\""));
    let peak = peak_mib(server.id());
    server.kill().and_then(|()| server.wait()).unwrap();
    assert!(peak < MAX_PEAK_MIB, "{peak} MiB");
}

#[tokio::test(start_paused = true)]
async fn client_that_reads_no_questions_is_throttled() {
    let mut client = client().await;
    let mut sent = 0;
    loop {
        sent += 1;
        assert!(sent < 20 * MAX_WAITING_MESSAGES, "the server reads without limit");
        if timeout(IDLE, client.send(&call(sent))).await.is_err() {
            break;
        }
        sleep(IDLE).await;
        if timeout(IDLE, client.send(&cancellation(sent))).await.is_err() {
            break;
        }
        sleep(IDLE).await;
    }
}

const FLOOD: &str = "
  - {name: sleeper, description: Sleeps, command: family}
  - {name: flood, description: Prints, command: control 262144}
  - {name: picture, description: Prints, command: control 8000000, output: {mime: image/png}}
";
/// Calls whose results take 1.5 MiB each. Their requests fit into a pipe, so that the client is never blocked.
const UNREAD_CALLS: usize = 150;
/// Limit for the server's peak memory while results wait: 64 MiB of them, those of the calls that run, and the server.
const MAX_UNREAD_PEAK_MIB: u64 = 170;

/// Calls over HTTP whose results take 10 MiB each, which is more than the buffers of a connection.
const UNREAD_PICTURES: usize = 50;
/// Limit for the server's peak memory while some of these wait.
const MAX_UNREAD_PICTURES_PEAK_MIB: u64 = 300;

fn meta_call(id: usize, tool: &str) -> String {
    let params = json!({ "name": "climax_call", "arguments": { "tool_name": tool } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

/// Returns the processor time that a process has used, in ticks. Source: proc(5), `stat`, fields 14 and 15.
fn ticks(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields = stat.rsplit(") ").next().unwrap().split_whitespace();
    fields.skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum()
}

/// Returns the peak memory of a server that has made results and has nothing to do any more, in MiB.
fn peak_when_idle(pid: u32) -> u64 {
    let mut last = (ticks(pid), Instant::now());
    until("the server to be idle", || {
        let now = ticks(pid);
        if now != last.0 {
            last = (now, Instant::now());
        }
        // A machine that is busy may leave the server without time for a second before it has made anything.
        last.1.elapsed() > Duration::from_secs(1) && peak_mib(pid) > 64
    });
    peak_mib(pid)
}

/// Starts a server over standard input and output, with calls whose results are not read. Returns when no more results are made.
fn unread_server(directory: &Path) -> (Child, ChildStdin) {
    let [config, pids] = ["config.yaml", "pids"].map(|name| directory.join(name));
    fs::write(&config, format!("{}env: {{FAKECLI_PIDS: {}}}\n", fake_config(FLOOD), pids.display())).unwrap();
    let mut command = climax();
    command.args(["--raw-output", "--config"]).arg(&config).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = command.spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize("2025-11-25") });
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    writeln!(input, "{initialize}\n{initialized}\n{}", meta_call(UNREAD_CALLS + 1, "sleeper")).unwrap();
    until("the program", || announced(&pids).len() == 1);
    for id in 1..=UNREAD_CALLS {
        writeln!(input, "{}", meta_call(id, "flood")).unwrap();
    }
    let peak = peak_when_idle(server.id());
    assert!(peak < MAX_UNREAD_PEAK_MIB, "{peak} MiB");
    (server, input)
}

/// Asserts that a server ends, and its programs with it. They would run for ten minutes.
fn assert_ends(mut server: Child, directory: &Path) {
    let mut status = None;
    until("the server to end", || {
        status = server.try_wait().unwrap();
        status.is_some()
    });
    let status = status.unwrap();
    assert!(status.success(), "{status}");
    let running = announced(&directory.join("pids")).into_iter().filter(|pid| is_running(*pid)).count();
    assert_eq!(running, 0);
}

#[test]
fn unread_results_take_bounded_memory_and_the_end_of_input_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let (server, input) = unread_server(directory.path());
    drop(input);
    assert_ends(server, directory.path());
}

#[test]
fn server_with_unread_results_ends_on_a_signal() {
    let directory = tempfile::tempdir().unwrap();
    let (server, _input) = unread_server(directory.path());
    rustix::process::kill_process(Pid::from_child(&server), Signal::TERM).unwrap();
    assert_ends(server, directory.path());
}

#[test]
fn results_that_were_held_back_come_when_the_client_reads() {
    let directory = tempfile::tempdir().unwrap();
    let (mut server, input) = unread_server(directory.path());
    let output = BufReader::new(server.stdout.take().unwrap());
    let ids = output.lines().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap()["id"].as_u64());
    // The response to `initialize` is the first.
    let ids: BTreeSet<_> = ids.take(UNREAD_CALLS + 1).collect();
    assert_eq!(ids.len(), UNREAD_CALLS + 1);
    drop(input);
    assert_ends(server, directory.path());
}

#[test]
fn unread_responses_take_bounded_memory_over_http() {
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("config.yaml");
    fs::write(&config, fake_config(FLOOD)).unwrap();
    let web = Web::start(&["--raw-output", "--config", config.to_str().unwrap()]);
    let unread: Vec<_> = (0..UNREAD_PICTURES).map(|_| web.begin_call(&[], "picture")).collect();
    let peak = peak_when_idle(web.child.id());
    assert!(peak > 64, "{peak} MiB: no responses wait");
    assert!(peak < MAX_UNREAD_PICTURES_PEAK_MIB, "{peak} MiB");
    assert_eq!(web.get("/healthz", &[]).text(), "ok\n");
    for response in unread {
        response.set_read_timeout(Some(PATIENCE)).unwrap();
        let head = BufReader::new(response).lines().map_while(Result::ok).next();
        assert_eq!(head.as_deref(), Some("HTTP/1.1 200 OK"));
    }
}
