//! Native tools: search, checks, policies and calls.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use climax::call::Toolbox;
use climax::call::arguments::Bound;
use climax::call::native::{BoxFuture, Mismatch, Native, NativeTools};
use climax::catalog::policy::Applied;
use climax::catalog::{Catalog, Policy, ToolIndex};
use climax::exec::Limits;
use climax::exec::Runner;
use climax::mcp::Surface;
use serde_json::{Value, json};

use crate::client::{self, Client};
use crate::support;

const CONFIG: &str = "
name: clock
native: true
category: time
tools:
  - name: clock_greet
    description: Greet somebody by name
    risk: write
    args: [{name: name, required: true}, {name: times, type: integer, default: 2}]
  - {name: clock_fail, description: Fail at once}
  - {name: clock_panic, description: Panic at once}
  - {name: clock_hang, description: Never end, timeout: 0.05}
";

/// The behaviour of a native tool.
enum Behaviour {
    Greet,
    Fail,
    Panic,
    /// Never completes, and records that it was dropped.
    Hang(Arc<AtomicBool>),
}

struct NoteDrop<'a>(&'a AtomicBool);

impl Drop for NoteDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Native for Behaviour {
    fn call<'a>(&'a self, arguments: &'a Bound<'a>) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            match self {
                Self::Greet => {
                    let text = |name| arguments.get(name).map(ToString::to_string).unwrap_or_default();
                    Ok(format!("hello {} {}", text("name"), text("times")))
                }
                Self::Fail => Err("out of order".to_owned()),
                Self::Panic => panic!("on purpose"),
                Self::Hang(dropped) => {
                    let _note = NoteDrop(dropped);
                    std::future::pending().await
                }
            }
        })
    }
}

fn natives(dropped: &Arc<AtomicBool>) -> NativeTools {
    let mut natives = NativeTools::default();
    natives.insert("clock_greet", Behaviour::Greet);
    natives.insert("clock_fail", Behaviour::Fail);
    natives.insert("clock_panic", Behaviour::Panic);
    natives.insert("clock_hang", Behaviour::Hang(dropped.clone()));
    natives
}

fn toolbox(policy: Option<&str>, dropped: &Arc<AtomicBool>) -> Toolbox {
    let index = support::index(CONFIG);
    let (index, policy): (ToolIndex, Policy) = match policy {
        None => (index, Policy::default()),
        Some(yaml) => {
            let Applied { policy, index, .. } = client::read_policy(yaml).apply(index, &|_| false).unwrap();
            (index, policy)
        }
    };
    let runner = Runner::new(policy.executor().clone(), Limits::default(), 4);
    Toolbox::new(index, policy, runner, None).with_natives(natives(dropped))
}

async fn call(client: &mut Client, tool: &str, arguments: Value) -> (String, Option<String>) {
    let answer = client.ask(1, "tools/call", &json!({ "name": tool, "arguments": arguments })).await;
    let result = &answer["result"];
    let code = result["structuredContent"]["error"]["code"].as_str().map(str::to_owned);
    (result["content"][0]["text"].as_str().unwrap_or_default().to_owned(), code)
}

#[tokio::test]
async fn native_tool_is_found_and_called() {
    let dropped = Arc::default();
    let mut client = Client::open(toolbox(None, &dropped), Surface::default(), json!({})).await;
    let (found, _) = call(&mut client, "climax_search", json!({ "query": "greet" })).await;
    assert!(found.contains(r#""tool_name":"clock_greet""#) && found.contains(r#""required":["name"]"#), "{found}");
    let greet = json!({ "tool_name": "clock_greet", "args": { "name": "Ada", "times": "3" } });
    assert_eq!(call(&mut client, "climax_call", greet).await, ("hello Ada 3".to_owned(), None));
    let (text, code) = call(&mut client, "climax_call", json!({ "tool_name": "clock_greet" })).await;
    assert_eq!(text, "Argument validation failed:\n  - Missing required argument 'name'");
    assert_eq!(code.as_deref(), Some("invalid_arguments"));
}

#[tokio::test]
async fn failures_and_panics_are_results() {
    let dropped = Arc::default();
    let mut client = Client::open(toolbox(None, &dropped), Surface::Classic, json!({})).await;
    let failed = |text: &str| (text.to_owned(), Some("command_failed".to_owned()));
    let fail = call(&mut client, "clock_fail", json!({})).await;
    assert_eq!(fail, failed("[stderr]\nout of order\n\n[exit code: 1]"));
    let panic = call(&mut client, "clock_panic", json!({})).await;
    assert_eq!(panic, failed("[stderr]\nclock_panic panicked\n\n[exit code: 1]"));
}

#[tokio::test]
async fn native_tool_is_dropped_on_timeout() {
    let dropped = Arc::default();
    let mut client = Client::open(toolbox(None, &dropped), Surface::Classic, json!({})).await;
    let (text, code) = call(&mut client, "clock_hang", json!({})).await;
    assert_eq!(text, "[stderr]\nCommand timed out after 0.05s\n\n[exit code: -1]");
    assert_eq!(code.as_deref(), Some("timed_out"));
    assert!(dropped.load(Ordering::Relaxed));
}

#[tokio::test]
async fn policy_applies_to_native_tools() {
    let dropped = Arc::default();
    let policy = "tools: {clock_greet: {args: {name: {pattern: '[A-Z][a-z]+'}}}}\n";
    let mut client =
        Client::open(toolbox(Some(policy), &dropped), Surface::Classic, json!({ "elicitation": {} })).await;
    let (text, code) = call(&mut client, "clock_greet", json!({ "name": "ada" })).await;
    assert_eq!(code.as_deref(), Some("policy_denied"), "{text}");
    let hidden = client.ask(2, "tools/call", &json!({ "name": "clock_fail", "arguments": {} })).await;
    assert_eq!(hidden["error"]["message"], "Unknown tool: clock_fail");
    // The tool writes, so the user must approve it, and the question contains all values.
    let request = json!({ "name": "clock_greet", "arguments": { "name": "Ada" } });
    client.send(&json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": request }).to_string()).await;
    let question = client.receive().await;
    assert_eq!(question["params"]["message"], "Run clock_greet (write)?\n\nclock_greet name=Ada times=2");
}

fn leaked(yaml: &str) -> &'static Catalog {
    Box::leak(Box::new(support::catalog(yaml)))
}

#[test]
fn implementations_must_match_the_catalog() {
    let natives = natives(&Arc::default());
    assert_eq!(natives.check(leaked(CONFIG)), Ok(()));
    let yaml = "name: other\ncommand: ''\ntools:\n  - {name: clock_greet, description: x, command: greet}\n";
    let found = natives.check(leaked(yaml)).unwrap_err();
    let clash = Mismatch::RunsProgram { tool: "clock_greet".to_owned(), cli: "other".to_owned() };
    assert!(found.contains(&clash) && found.contains(&Mismatch::Undefined { tool: "clock_fail".to_owned() }));
    let found = NativeTools::default().check(leaked(CONFIG)).unwrap_err();
    assert_eq!(found.len(), 4);
    let misspelt = natives.check(leaked(&CONFIG.replace("clock_fail", "clock_fial"))).unwrap_err();
    let near = Some("clock_fail".to_owned());
    assert!(misspelt.contains(&Mismatch::Unimplemented { tool: "clock_fial".to_owned(), near }));
}

#[test]
fn config_at_run_time_cannot_define_native_tools() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("clock.yaml");
    std::fs::write(&path, CONFIG).unwrap();
    let climax = |words: &[&str]| -> (i32, String, String) {
        let mut command: Command = support::climax();
        support::run(command.args(words).arg(&path))
    };
    let (code, _, stderr) = climax(&["call", "clock_fail", "--config"]);
    assert_eq!(code, 1);
    assert!(stderr.contains("written in Rust must be compiled in") && stderr.contains("clock_greet"), "{stderr}");
    let (code, stdout, _) = climax(&["validate"]);
    assert_eq!((code, stdout.as_str()), (0, "valid: 4 tools, 0 warnings\n"));
}
