//! Memory that clients can make a server use with cancelled calls.

use std::fs::{self, File};
use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

use climax::mcp::Surface;
use climax::transport::stdio::MAX_WAITING_MESSAGES;
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::client::{Client, initialize, unrestricted};
use crate::support::{climax, fake_config, index, until};

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
