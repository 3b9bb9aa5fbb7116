//! Progress notifications.

use std::time::Duration;

use climax::mcp::Surface;
use serde_json::{Value, json};

use crate::client::{Client, unrestricted};
use crate::support::{fake_config, index};

/// Calls a tool with a progress token. Returns the notifications, and the result.
async fn call_with_progress(tools: &str, tool: &str) -> (Vec<Value>, Value) {
    let mut client = Client::open(unrestricted(index(&fake_config(tools))), Surface::Classic, json!({})).await;
    let params = json!({ "name": tool, "arguments": {}, "_meta": { "progressToken": "p-1" } });
    client.send(&json!({ "jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": params }).to_string()).await;
    let mut notified = Vec::new();
    loop {
        let message = client.receive().await;
        if message["id"] == 4 {
            // No notification follows the result.
            let ping = client.ask(5, "ping", &json!({})).await;
            assert!(ping["result"].is_object(), "{ping}");
            return (notified, message["result"].clone());
        }
        assert_eq!(message["method"], "notifications/progress", "{message}");
        assert_eq!(message["params"]["progressToken"], "p-1");
        notified.push(message["params"].clone());
    }
}

#[tokio::test]
async fn notifications_show_the_start_and_the_last_lines_in_order() {
    let (notified, result) = call_with_progress("  - {name: t, description: T, command: lines 400 5}\n", "t").await;
    let messages: Vec<&str> = notified.iter().map(|one| one["message"].as_str().unwrap()).collect();
    assert_eq!(messages[0], "running");
    assert!(messages.len() > 3, "{messages:?}");
    assert!(messages[1..].iter().all(|message| message.starts_with("line ")), "{messages:?}");
    let numbers: Vec<f64> = notified.iter().map(|one| one["progress"].as_f64().unwrap()).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    // The program prints for about 2 s, or longer on a busy machine. There are at most 10 notifications a second.
    assert!(messages.len() <= 2 + 10 * 20, "{}", messages.len());
    assert!(result["content"][0]["text"].as_str().unwrap().ends_with("line 400"));
}

/// The clock is paused: it jumps ahead whenever the runtime is idle.
#[tokio::test(start_paused = true)]
async fn silent_calls_are_notified_of_every_10_seconds() {
    let (notified, result) =
        call_with_progress("  - {name: t, description: T, command: sleep, timeout: 25}\n", "t").await;
    let messages: Vec<&str> = notified.iter().map(|one| one["message"].as_str().unwrap()).collect();
    // The clock jumps while the program is being ended too, so more may follow.
    assert_eq!(messages[..3], ["running", "running for 10 s", "running for 20 s"], "{messages:?}");
    assert_eq!(result["isError"], true);
}

#[tokio::test]
async fn cancelled_calls_send_no_more_notifications() {
    const YAML: &str = "command: sh
tools: [{name: t, description: T, command: -c, args: [{name: script, positional: true}]}]";
    let mut client = Client::open(unrestricted(index(YAML)), Surface::Classic, json!({})).await;
    let script = "trap '' TERM; while :; do echo line; sleep 0.05; done";
    let params = json!({ "name": "t", "arguments": { "script": script }, "_meta": { "progressToken": "p" } });
    client.send(&json!({ "jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": params }).to_string()).await;
    while client.receive().await["params"]["message"] != "line" {}
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 4 } });
    client.send(&cancelled.to_string()).await;
    client.send(r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#).await;
    while client.receive().await["id"] != 5 {}
    let more = tokio::time::timeout(Duration::from_millis(500), client.receive()).await;
    assert!(more.is_err(), "{more:?}");
}
