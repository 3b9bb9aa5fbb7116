//! Commands that other commands start, such as `timeout 5 git log`: each is a call of its own.

use climax::catalog::{Layer, ToolIndex};
use climax::mcp::Surface;
use serde_json::{Value, json};

use crate::client::{Client, meta, restricted, unrestricted};
use crate::support::text;

fn bundled() -> ToolIndex {
    ToolIndex::from_configs(vec![Layer::compiled(&climax::CATALOG)])
}

fn surface() -> Surface {
    meta(&["run", "call", "read"])
}

async fn under(policy: &str, capabilities: Value) -> Client {
    Client::open(restricted(bundled(), policy), surface(), capabilities).await
}

fn run(command: &str) -> Value {
    json!({ "command": command })
}

#[tokio::test]
async fn started_commands_run_with_their_pipes_globs_and_directory() {
    let mut client = Client::open(unrestricted(bundled()), surface(), json!({})).await;
    let directory = tempfile::tempdir().unwrap();
    for name in ["a.txt", "b.txt", "-c.txt"] {
        std::fs::write(directory.path().join(name), name).unwrap();
    }
    let mut line = async |command: &str| {
        let arguments = json!({ "command": command, "cwd": directory.path() });
        text(&client.tool("climax_run", arguments).await).to_owned()
    };
    assert_eq!(line("seq 9 | timeout 9 nice -n 1 tail -n 1").await, "9");
    assert_eq!(line("timeout 9 cat *.txt").await, "-c.txta.txtb.txt");
    assert_eq!(line("env LANG=C GREETING='a b' printenv GREETING").await, "a b");
    assert_eq!(line("env -u HOME GREETING=x printenv HOME GREETING || echo none").await, "x\n\n[exit code: 1]\n\nnone");
    assert!(line("timeout 0.1 sleep 5").await.contains("[exit code: 124]"));
    let call = json!({ "tool_name": "coreutils_nice", "args": { "command": ["seq", "2"], "adjustment": 3 } });
    assert_eq!(text(&client.tool("climax_call", call).await), "1\n2");
}

#[tokio::test]
async fn words_that_no_tool_takes_are_errors_that_name_the_command() {
    let mut client = Client::open(unrestricted(bundled()), surface(), json!({})).await;
    for words in [
        json!(["sh", "-c", "id"]),
        json!(["git", "frobnicate"]),
        json!(["git", "log", "--output=x"]),
        json!(["git", "-C", "/", "log"]),
        json!(["-c", "id"]),
        json!([""]),
        json!(vec!["env"; 3000]),
        json!([]),
    ] {
        let call = json!({ "tool_name": "coreutils_timeout", "args": { "duration": "5", "command": words } });
        let result = client.tool("climax_call", call).await;
        let error = &result["structuredContent"]["error"];
        assert_eq!(error["code"], "invalid_arguments", "{words}: {result}");
        assert!(text(&result).contains("'command'"), "{words}: {result}");
    }
    for line in ["timeout 5 sh -c id", "nohup git log --output=x", "env A=1 bash", "timeout 5 cd /", "nice -n 1 -- sh"]
    {
        let result = client.tool("climax_run", run(line)).await;
        assert_eq!(result["structuredContent"]["error"]["code"], "invalid_arguments", "{line}: {result}");
    }
}

#[tokio::test]
async fn near_misses_of_started_programs_would_be_accepted() {
    let mut client = Client::open(unrestricted(bundled()), surface(), json!({})).await;
    for (words, near) in
        [(json!(["gti", "log"]), true), (json!(["julia", "{print}"]), false), (json!(["qpdf", "x"]), false)]
    {
        let call = json!({ "tool_name": "coreutils_timeout", "args": { "duration": "5", "command": words } });
        let result = client.tool("climax_call", call).await;
        assert_eq!(text(&result).contains("did you mean"), near, "{words}: {result}");
    }
}

#[tokio::test]
async fn policies_hold_for_the_command_that_is_started() {
    let policy = "default: disabled\ntools: {coreutils_timeout: {}, coreutils_env_command: {}, \
                  coreutils_cat: {args: {path: {pattern: '/proc/.*'}}}}\napproval: {global: none}\n";
    let mut client = under(policy, json!({})).await;
    let mut outcome = async |line: &str| {
        let result = client.tool("climax_run", run(line)).await;
        result["structuredContent"]["error"]["code"].as_str().unwrap_or("ok").to_owned()
    };
    assert_eq!(outcome("timeout 5 cat /proc/version").await, "ok");
    assert_eq!(outcome("timeout 5 env cat /proc/version").await, "ok");
    assert_eq!(outcome("timeout 5 cat /etc/passwd").await, "policy_denied");
    assert_eq!(outcome("timeout 5 env cat /etc/passwd").await, "policy_denied");
    assert_eq!(outcome("timeout 5 ls").await, "invalid_arguments", "a hidden tool is unknown");
    let call =
        json!({ "tool_name": "coreutils_timeout", "args": { "duration": 5, "command": ["cat", "/etc/passwd"] } });
    let result = client.tool("climax_call", call).await;
    assert_eq!(result["structuredContent"]["error"]["code"], "policy_denied", "{result}");
}

#[tokio::test]
async fn risk_of_a_started_command_counts() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "kept").unwrap();
    let path = file.to_str().unwrap();
    let mut client = under("default: enabled\napproval: {global: destructive, headless: deny}\n", json!({})).await;
    for (tool, arguments) in [
        ("climax_run", run(&format!("timeout 5 rm {path}"))),
        ("climax_run", run(&format!("timeout 5 nice rm {path}"))),
        ("climax_read", run(&format!("timeout 5 rm {path}"))),
        ("climax_read", run(&format!("timeout 5 touch {path}x"))),
        (
            "climax_call",
            json!({ "tool_name": "coreutils_timeout", "args": { "duration": "5", "command": ["rm", path] } }),
        ),
        (
            "climax_read",
            json!({ "tool_name": "coreutils_timeout", "args": { "duration": "5", "command": ["rm", path] } }),
        ),
    ] {
        let result = client.tool(tool, arguments.clone()).await;
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        assert!(file.exists() && !directory.path().join("filex").exists());
    }
    let mut free = Client::open(unrestricted(bundled()), surface(), json!({})).await;
    let variables = json!({ "variables": { "A": "1" }, "command": ["true"] });
    let result = free.tool("climax_read", json!({ "tool_name": "coreutils_env_command", "args": variables })).await;
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(text(&client.tool("climax_read", run(&format!("timeout 5 cat {path}"))).await), "kept");
}

#[tokio::test]
async fn approval_shows_the_started_command_too() {
    let mut client = under("default: enabled\napproval: {global: all}\n", json!({ "elicitation": {} })).await;
    let request = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": { "name": "climax_call",
        "arguments": { "tool_name": "coreutils_timeout", "args": { "duration": "5", "command": ["seq", "3"] } } } });
    let question = client.exchange(&request.to_string()).await;
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("timeout -- 5 seq 3") && message.contains("Run 2 commands?"), "{message}");
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "accept", "content": {} } });
    assert_eq!(text(&client.exchange(&answer.to_string()).await["result"]), "1\n2\n3");
}
