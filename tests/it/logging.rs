//! Log messages: lines of standard error, for clients until revision 2025-11-25 that have set a level.

use std::time::{Duration, Instant};

use climax::call::Toolbox;
use climax::exec::{MAX_LOG_LINES, MAX_WAITING_LOG_LINES};
use climax::mcp::MIN_LOG_INTERVAL;
use climax::mcp::Surface;
use serde_json::{Value, json};

use crate::client::{Client, initialize, modern_meta, unrestricted};
use crate::support::{fake_config, index, text};

const TOOLS: &str = "
  - {name: few, description: Print three lines on standard error, command: complain 3 60}
  - {name: many, description: Print many lines on standard error, command: complain 100000 0}
  - {name: both, description: Print on both streams, command: both}
  - {name: late, description: Never end, command: sleep, timeout: 0.1}
";

fn toolbox() -> Toolbox {
    unrestricted(index(&fake_config(TOOLS)))
}

async fn open() -> Client {
    Client::open(toolbox(), Surface::Classic, json!({})).await
}

async fn open_at(level: &str) -> Client {
    let mut client = open().await;
    assert_eq!(client.ask(1, "logging/setLevel", &json!({ "level": level })).await["result"], json!({}));
    client
}

/// Calls a tool. Returns the log messages that come before the result, and the result.
async fn call_with_log(client: &mut Client, params: Value) -> (Vec<Value>, Value) {
    client.send(&json!({ "jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": params }).to_string()).await;
    let mut messages = Vec::new();
    loop {
        let message = client.receive().await;
        if message["id"] == 4 {
            // No message follows the result.
            assert_eq!(client.ask(5, "ping", &json!({})).await["result"], json!({}));
            return (messages, message["result"].clone());
        }
        assert_eq!(message["method"], "notifications/message", "{message}");
        messages.push(message["params"].clone());
    }
}

fn info(tool: &str, line: &str) -> Value {
    json!({ "level": "info", "logger": tool, "data": line })
}

fn lines(count: usize) -> Vec<Value> {
    (1..=count).map(|number| info("few", &format!("line {number}"))).collect()
}

#[tokio::test]
async fn lines_of_standard_error_come_in_order_before_the_result() {
    let mut client = open_at("info").await;
    let start = Instant::now();
    let (messages, result) = call_with_log(&mut client, json!({ "name": "few" })).await;
    assert_eq!(messages, lines(3));
    assert!(start.elapsed() > Duration::from_millis(100), "the program takes its time");
    assert_eq!(text(&result), "output\noutput\noutput\n\n[stderr]\nline 1\nline 2\nline 3");
    // A level holds for later calls, and covers more severe ones.
    assert_eq!(call_with_log(&mut client, json!({ "name": "both" })).await.0, [info("both", "err")]);
    assert_eq!(client.ask(1, "logging/setLevel", &json!({ "level": "debug" })).await["result"], json!({}));
    assert_eq!(call_with_log(&mut client, json!({ "name": "both" })).await.0, [info("both", "err")]);
}

#[tokio::test]
async fn lines_come_while_the_program_runs() {
    const YAML: &str = "command: sh
tools: [{name: t, description: T, command: -c, args: [{name: script, positional: true}]}]";
    let mut client = Client::open(unrestricted(index(YAML)), Surface::Classic, json!({})).await;
    client.ask(1, "logging/setLevel", &json!({ "level": "info" })).await;
    let params = json!({ "name": "t", "arguments": { "script": "echo now >&2; exec sleep 600" } });
    client.send(&json!({ "jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": params }).to_string()).await;
    assert_eq!(client.receive().await["params"]["data"], "now");
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 4 } });
    client.send(&cancelled.to_string()).await;
    assert_eq!(client.ask(5, "ping", &json!({})).await["result"], json!({}));
    // A cancelled call sends no message about its failure.
    let more = tokio::time::timeout(Duration::from_millis(500), client.receive()).await;
    assert!(more.is_err(), "{more:?}");
}

#[tokio::test]
async fn without_a_level_there_are_no_messages() {
    let mut client = open().await;
    for tool in ["few", "late"] {
        assert_eq!(call_with_log(&mut client, json!({ "name": tool })).await.0, [] as [Value; 0]);
    }
}

#[tokio::test]
async fn failed_calls_are_warnings_and_lines_are_info() {
    let mut client = open_at("warning").await;
    assert_eq!(call_with_log(&mut client, json!({ "name": "few" })).await.0, [] as [Value; 0]);
    let (messages, result) = call_with_log(&mut client, json!({ "name": "late" })).await;
    assert_eq!(messages, [json!({ "level": "warning", "logger": "late", "data": "Command timed out after 0.1s" })]);
    assert_eq!(result["isError"], true);
    client.ask(1, "logging/setLevel", &json!({ "level": "error" })).await;
    for tool in ["few", "late"] {
        assert_eq!(call_with_log(&mut client, json!({ "name": tool })).await.0, [] as [Value; 0]);
    }
}

#[tokio::test]
async fn each_connection_has_its_own_level() {
    let (mut loud, mut quiet) = (open_at("info").await, open().await);
    assert_eq!(call_with_log(&mut quiet, json!({ "name": "few" })).await.0, [] as [Value; 0]);
    assert_eq!(call_with_log(&mut loud, json!({ "name": "few" })).await.0, lines(3));
}

#[tokio::test]
async fn lines_beyond_the_limits_are_counted() {
    let mut client = open_at("info").await;
    let start = Instant::now();
    let (mut messages, result) = call_with_log(&mut client, json!({ "name": "many" })).await;
    let last = messages.pop().unwrap();
    let number =
        |message: &Value| message["data"].as_str().unwrap().strip_prefix("line ").unwrap().parse::<u64>().unwrap();
    let numbers: Vec<u64> = messages.iter().map(number).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    assert!((MAX_WAITING_LOG_LINES..=MAX_LOG_LINES).contains(&numbers.len()), "{}", numbers.len());
    let most = MAX_WAITING_LOG_LINES as u128 + 1 + start.elapsed().as_millis() / MIN_LOG_INTERVAL.as_millis();
    assert!(numbers.len() as u128 <= most, "{} messages where {most} had been enough", numbers.len());
    let left_out = 100_000 - numbers.len();
    assert_eq!(last, info("many", &format!("[{left_out} more lines on standard error left out]")));
    assert!(text(&result).contains("[stderr]\nline 1\nline 2\n"), "the result has the lines too");
}

#[tokio::test]
async fn long_lines_are_cut() {
    const YAML: &str = "command: sh
tools: [{name: t, description: T, command: -c, args: [{name: script, positional: true}]}]";
    let mut client = Client::open(unrestricted(index(YAML)), Surface::Classic, json!({})).await;
    client.ask(1, "logging/setLevel", &json!({ "level": "info" })).await;
    let script = "printf %09999d 1 >&2";
    let (messages, _) = call_with_log(&mut client, json!({ "name": "t", "arguments": { "script": script } })).await;
    assert_eq!(messages, [info("t", &format!("{}…", "0".repeat(200)))]);
}

#[tokio::test]
async fn progress_and_log_messages_come_together() {
    let mut client = open_at("info").await;
    let params = json!({ "name": "few", "_meta": { "progressToken": 1 } });
    client.send(&json!({ "jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": params }).to_string()).await;
    let mut messages = Vec::new();
    let mut progress = 0;
    loop {
        let message = client.receive().await;
        match message["method"].as_str() {
            Some("notifications/message") => messages.push(message["params"].clone()),
            Some("notifications/progress") => progress += 1,
            _ => break assert_eq!(message["id"], 4),
        }
    }
    assert_eq!(messages, lines(3));
    assert!(progress >= 2, "{progress}");
}

#[tokio::test]
async fn unknown_levels_are_rejected_with_the_list_of_levels() {
    let mut client = open().await;
    for params in [json!({ "level": "loud" }), json!({ "level": 3 }), json!({}), json!([])] {
        let answer = client.ask(1, "logging/setLevel", &params).await;
        assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        for level in ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] {
            assert!(message.contains(level), "{level} in {message}");
            assert!(client.ask(2, "logging/setLevel", &json!({ "level": level })).await["error"].is_null());
        }
    }
}

#[tokio::test]
async fn revision_2026_07_28_has_no_logging() {
    let mut client = Client::connect(toolbox(), Surface::Classic);
    let discovered = client.ask(1, "server/discover", &json!({ "_meta": modern_meta() })).await;
    assert!(discovered["result"]["capabilities"].is_object(), "{discovered}");
    assert!(discovered["result"]["capabilities"]["logging"].is_null(), "{discovered}");
    // Neither with `initialize` nor without it.
    for revision in [None, Some("2025-11-25")] {
        let mut client = Client::connect(toolbox(), Surface::Classic);
        if let Some(revision) = revision {
            let opened = client.ask(1, "initialize", &initialize(revision)).await;
            assert_eq!(opened["result"]["capabilities"]["logging"], json!({}), "{opened}");
            assert_eq!(client.ask(2, "logging/setLevel", &json!({ "level": "info" })).await["result"], json!({}));
        }
        let mut meta = modern_meta();
        for params in [json!({ "level": "info", "_meta": meta }), json!({ "level": "loud", "_meta": meta })] {
            assert_eq!(client.ask(2, "logging/setLevel", &params).await["error"]["code"], -32601, "{params}");
        }
        meta["io.modelcontextprotocol/logLevel"] = json!("debug");
        let call = json!({ "name": "few", "_meta": meta });
        let answer = client.ask(3, "tools/call", &call).await;
        assert!(text(&answer["result"]).contains("line 3"), "{answer}");
    }
}

#[cfg(feature = "http")]
mod over_http {
    use super::*;
    use crate::web::Web;

    fn start(config: &tempfile::TempDir) -> Web {
        let file = config.path().join("fake.yaml");
        std::fs::write(&file, fake_config(TOOLS)).unwrap();
        Web::start(&["--classic", "jq", "--config", file.to_str().unwrap()])
    }

    fn request(method: &str, params: Value) -> String {
        json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }).to_string()
    }

    /// The params of all messages on the stream of a call. The result is the last, as null.
    fn messages_of_call(web: &Web, session: &str, tool: &str) -> Vec<Value> {
        let mut answer = web.post(&[session], &request("tools/call", json!({ "name": tool })));
        std::iter::from_fn(|| answer.event()).map(|message| message["params"].clone()).collect()
    }

    fn set_level(web: &Web, session: &str, level: &str) -> Value {
        web.post(&[session], &request("logging/setLevel", json!({ "level": level }))).event().unwrap_or_default()
    }

    #[test]
    fn lines_come_on_the_stream_of_their_call() {
        let files = tempfile::tempdir().unwrap();
        let web = start(&files);
        let [loud, quiet] = [web.session(&[]), web.session(&[])];
        assert_eq!(set_level(&web, &loud, "info")["result"], json!({}));
        let mut expected = lines(3);
        expected.push(Value::Null);
        assert_eq!(messages_of_call(&web, &loud, "few"), expected);
        assert_eq!(messages_of_call(&web, &quiet, "few"), [Value::Null], "each session has its own level");
        let warning = json!({ "level": "warning", "logger": "late", "data": "Command timed out after 0.1s" });
        assert_eq!(messages_of_call(&web, &loud, "late"), [warning, Value::Null]);
    }

    #[test]
    fn a_client_that_does_not_read_blocks_no_other_call() {
        let files = tempfile::tempdir().unwrap();
        let web = start(&files);
        let session = web.session(&[]);
        set_level(&web, &session, "info");
        let _unread = web.get("/mcp", &[&session, "Accept: text/event-stream"]);
        let many = json!({ "jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": { "name": "many" } });
        let _unread = web.post(&[&session], &many.to_string());
        let mut expected = lines(3);
        expected.push(Value::Null);
        assert_eq!(messages_of_call(&web, &session, "few"), expected);
    }

    #[test]
    fn lines_beyond_the_limits_are_counted_before_the_result() {
        let files = tempfile::tempdir().unwrap();
        let web = start(&files);
        let session = web.session(&[]);
        set_level(&web, &session, "info");
        let messages = messages_of_call(&web, &session, "many");
        assert!((MAX_WAITING_LOG_LINES..=MAX_LOG_LINES + 2).contains(&messages.len()), "{}", messages.len());
        assert_eq!(messages.last(), Some(&Value::Null));
        assert!(
            messages[messages.len() - 2]["data"].as_str().unwrap().contains("left out"),
            "{:?}",
            messages[messages.len() - 2]
        );
    }

    #[test]
    fn revision_2026_07_28_has_no_logging() {
        let files = tempfile::tempdir().unwrap();
        let web = start(&files);
        let discovered = web.modern(&[], "server/discover", &json!({})).json();
        assert!(discovered["result"]["capabilities"]["tools"].is_object(), "{discovered}");
        assert!(discovered["result"]["capabilities"]["logging"].is_null(), "{discovered}");
        for level in ["info", "loud"] {
            let rejected = web.modern(&[], "logging/setLevel", &json!({ "level": level }));
            assert_eq!(rejected.status, 404);
            assert_eq!(rejected.json()["error"]["code"], -32601);
        }
        let params = json!({ "name": "few", "_meta": { "io.modelcontextprotocol/logLevel": "debug" } });
        let answer = web.modern(&[], "tools/call", &params);
        assert_eq!(answer.header("content-type"), Some("application/json"), "one message, the result");
        assert!(text(&answer.json()["result"]).contains("line 3"));
    }
}
