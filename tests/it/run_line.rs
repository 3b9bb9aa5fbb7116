//! `climax_run` and command lines of `climax_read`, over MCP.

use climax::catalog::{Layer, ToolIndex};
use climax::mcp::Surface;
use serde_json::{Value, json};

use crate::client::{Client, meta, restricted, unrestricted};
use crate::support::text;

fn bundled() -> ToolIndex {
    ToolIndex::from_configs(vec![Layer::compiled(&climax::CATALOG)])
}

fn run_surface() -> Surface {
    meta(&["run", "read"])
}

async fn open() -> Client {
    Client::open(unrestricted(bundled()), run_surface(), json!({})).await
}

#[tokio::test]
async fn climax_run_returns_the_output_of_the_last_command() {
    let mut client = open().await;
    let mut run = async |arguments: Value| text(&client.tool("climax_run", arguments).await).to_owned();
    assert_eq!(run(json!({ "command": "seq 100000 | head -n 2" })).await, "1\n2");
    assert_eq!(run(json!({ "command": "seq 2; echo a && echo b" })).await, "1\n2\na\nb");
    assert_eq!(run(json!({ "command": "wc -w", "stdin": "a b c" })).await.trim(), "3");
    assert_eq!(run(json!({ "command": "basename $PWD" })).await.lines().count(), 1);
    assert_eq!(run(json!({ "command": "cat stat | wc -l", "cwd": "/proc/self" })).await.trim(), "1");
    assert_eq!(run(json!({ "cmd": "echo a" })).await, "a", "another name for the parameter");
    assert_eq!(run(json!({ "command": "read -r x; echo \"<$x>\"; cat; cat", "stdin": "a\nb\n" })).await, "<a>\nb");
}

#[tokio::test]
async fn failing_commands_of_a_pipeline_are_errors_that_show_their_standard_error() {
    let mut client = open().await;
    let result = client.tool("climax_run", json!({ "command": "cat /nonexistent | wc -l" })).await;
    let shown = text(&result);
    assert!(
        shown.starts_with("[cat /nonexistent]\n") && shown.contains("No such file") && shown.ends_with('0'),
        "{shown}"
    );
    // The last command decides, as in a shell, unless the line says otherwise.
    assert_ne!(result["isError"], true, "{result}");
    let line = "set -o pipefail; cat /nonexistent | wc -l";
    let result = client.tool("climax_run", json!({ "command": line })).await;
    assert_eq!(
        (&result["isError"], &result["structuredContent"]["error"]["code"]),
        (&json!(true), &json!("command_failed"))
    );
    // grep found nothing, which is an answer.
    let result = client.tool("climax_run", json!({ "command": "echo a | grep b" })).await;
    assert_ne!(result["isError"], true, "{result}");
    let result = client.tool("climax_run", json!({ "command": "cat /nonexistent || echo b" })).await;
    assert_ne!(result["isError"], true, "{result}");
}

#[tokio::test]
async fn the_exit_status_of_a_line_decides_and_is_said() {
    let mut client = open().await;
    for (line, shown) in [
        ("exit 5", "[exit code: 5]"),
        ("echo a; exit 5", "a\n\n[exit code: 5]"),
        ("(exit 3)", "[exit code: 3]"),
        ("false", "[exit code: 1]"),
        ("! true", "[exit code: 1]"),
        ("seq 1; test -f /nonexistent", "1\n\n[exit code: 1]"),
        ("[[ a == b ]]", "[exit code: 1]"),
        ("set -e; [ -f /nonexistent ]; echo deployed", "[exit code: 1]"),
        ("seq 1; bash -c 'exit 5'", "1\n\n[exit code: 5]"),
    ] {
        let result = client.tool("climax_run", json!({ "command": line })).await;
        assert_eq!((&result["isError"], text(&result)), (&json!(true), shown), "{line}: {result}");
        assert_eq!(result["structuredContent"]["error"]["code"], "command_failed", "{line}");
    }

    let result = client.tool("climax_run", json!({ "command": "cat /nonexistent; exit 5" })).await;
    assert!(text(&result).contains("[exit code: 1]") && text(&result).ends_with("[exit code: 5]"), "{result}");
    for line in ["false; true", "[ -f /nonexistent ] || echo none", "exit 0"] {
        let result = client.tool("climax_run", json!({ "command": line })).await;
        assert_ne!(result["isError"], true, "{line}: {result}");
    }
}

#[tokio::test]
async fn structures_of_failed_lines_hold_what_the_text_shows() {
    let mut client = open().await;
    let result =
        client.tool("climax_run", json!({ "command": "seq 1 3; cat /nonexistent | wc -l; ls /nonexistent" })).await;
    let details = result["structuredContent"]["error"]["details"].as_array().unwrap();
    let of = |key: &str| details.iter().map(|stage| stage[key].clone()).collect::<Value>();
    assert_eq!(of("command"), json!(["seq 1 3", "cat /nonexistent", "wc -l", "ls /nonexistent"]), "{result}");
    assert_eq!(of("tool"), json!(["coreutils_seq", "coreutils_cat", "coreutils_wc", "coreutils_ls"]));
    assert_eq!(of("exit_code"), json!([0, 1, 0, 2]));
    assert_eq!(of("stdout"), json!(["1\n2\n3", "", "0", ""]));
    for stage in details {
        for stream in ["stdout", "stderr"] {
            assert!(text(&result).contains(stage[stream].as_str().unwrap()), "{stage}: {result}");
        }
    }
}

#[tokio::test]
async fn refusals_name_the_command_that_needs_approval() {
    const DENIED: &str = "this client cannot ask anybody: coreutils_touch (policy: approval.headless is deny)";
    let policy = "default: enabled\napproval: {global: write}\n";
    let directory = tempfile::tempdir().unwrap();
    let line = format!("seq 3; touch {}/a; echo done", directory.path().display());
    let mut client = Client::open(restricted(bundled(), policy), run_surface(), json!({})).await;
    let result = client.tool("climax_run", json!({ "command": line })).await;
    assert!(text(&result).starts_with("`touch ") && text(&result).ends_with(DENIED), "{result}");
    let error = &result["structuredContent"]["error"];
    assert_eq!((&error["code"], &error["tool"]), (&json!("approval_denied"), &json!("coreutils_touch")));
    assert!(error["message"].as_str().unwrap().ends_with(DENIED), "{error}");
}

#[tokio::test]
async fn metadata_says_what_each_command_of_a_line_did() {
    let mut client = open().await;
    let result =
        client.tool("climax_run", json!({ "command": "cat /nonexistent | wc -c; timeout 9 sleep 0.3 | cat" })).await;
    let stages = result["_meta"]["climax/stages"].as_array().unwrap();
    let of = |key: &str| stages.iter().map(|stage| stage[key].clone()).collect::<Value>();
    assert_eq!(of("tool_name"), json!(["coreutils_cat", "coreutils_wc", "coreutils_timeout", "coreutils_cat"]));
    assert_eq!(of("pipeline"), json!([0, 0, 1, 1]));
    assert_eq!((of("end"), of("exit_code")), (json!(["exited", "exited", "exited", "exited"]), json!([1, 0, 0, 0])));
    assert_eq!(of("stdout_bytes"), json!([0, 2, 0, 0]), "what goes to the next command is not counted");
    let said = stages[0]["stderr"].as_str().unwrap();
    assert!(said.contains("No such file") && stages[0]["stderr_bytes"] == said.len(), "{said}");
    assert!(stages.iter().all(|stage| stage["duration_ms"].is_u64()), "{stages:?}");
    assert!(stages[2]["duration_ms"].as_u64().unwrap() >= 300, "{stages:?}");
    let result = client.tool("climax_run", json!({ "command": "echo a" })).await;
    assert_eq!(result["_meta"], Value::Null, "a line of one command reads as its call");
}

#[tokio::test]
async fn lines_that_are_not_read_are_errors_with_place_and_remedy() {
    let mut client = open().await;
    for (line, found) in [("echo a <> x", "<>"), ("git log --grpah", "--grpah"), ("sudo ls", "sudo")] {
        let result = client.tool("climax_run", json!({ "command": line })).await;
        assert_eq!(result["isError"], true);
        let error = &result["structuredContent"]["error"];
        assert_eq!((&error["code"], &error["details"][0]["found"]), (&json!("invalid_arguments"), &json!(found)));
        assert_eq!(error["details"][0]["at"], line.find(found).unwrap());
    }
}

#[tokio::test]
async fn climax_read_runs_lines_of_reading_commands_only() {
    let mut client = open().await;
    assert_eq!(text(&client.tool("climax_read", json!({ "command": "seq 3 | tail -n 1" })).await), "3");
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("made");
    let path = file.display();
    for line in [
        format!("echo a | tee {path}"),
        format!("seq 3 && touch {path}"),
        format!("seq 3 > {path}"),
        format!("for n in $(seq 3); do echo $n >> {path}; done"),
        format!("echo {path} | xargs touch"),
        format!("p={path}; bash -c 'touch \"$1\"' x \"$p\""),
    ] {
        let result = client.tool("climax_read", json!({ "command": line })).await;
        assert_eq!(result["isError"], true, "{result}");
        assert!(!file.exists(), "{line}");
    }
}

#[tokio::test]
async fn approval_is_asked_once_and_shows_every_command() {
    let policy = "default: enabled\napproval: {global: all}\n";
    let mut client = Client::open(restricted(bundled(), policy), run_surface(), json!({ "elicitation": {} })).await;
    let request = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call",
        "params": { "name": "climax_run", "arguments": { "command": "seq 3 | tail -n 1 && date -u +%Z" } } });
    let question = client.exchange(&request.to_string()).await;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let message = question["params"]["message"].as_str().unwrap();
    for part in ["Run 3 commands?", "seq 3", "tail -n 1", "date -u"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "accept", "content": {} } });
    let result = client.exchange(&answer.to_string()).await;
    assert_eq!(text(&result["result"]), "3\nUTC");
}

#[tokio::test]
async fn words_that_were_not_known_before_are_asked_about_when_they_are() {
    let policy = "default: enabled\napproval: {global: write}\n";
    let mut client = Client::open(restricted(bundled(), policy), run_surface(), json!({ "elicitation": {} })).await;
    let directory = tempfile::tempdir().unwrap();
    let line = format!("cd {}; for n in $(seq 2); do touch \"made$n\"; done; ls", directory.path().display());
    let request = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call",
        "params": { "name": "climax_run", "arguments": { "command": line } } });
    let mut question = client.exchange(&request.to_string()).await;
    for number in 1..=2 {
        let message = question["params"]["message"].as_str().unwrap();
        assert!(message.contains(&format!("touch made{number}")), "{message}");
        assert!(!directory.path().join(format!("made{number}")).exists(), "nothing runs before the answer");
        let action = if number == 1 { "accept" } else { "decline" };
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": action, "content": {} } });
        question = client.exchange(&answer.to_string()).await;
    }
    let result = &question["result"];
    assert_eq!(result["structuredContent"]["error"]["code"], "approval_denied", "{result}");
    assert!(directory.path().join("made1").exists() && !directory.path().join("made2").exists());
}

#[tokio::test]
async fn description_names_the_served_programs_and_stays_short() {
    let policy = "default: disabled\ntools: {git_log: {}, coreutils_wc: {}}\n";
    let mut client = Client::open(restricted(bundled(), policy), meta(&["run"]), json!({})).await;
    let list = client.ask(3, "tools/list", &json!({})).await["result"]["tools"].clone();
    let description = list[0]["description"].as_str().unwrap();
    assert!(description.contains("these programs: git wc."), "{description}");
    let mut client = Client::open(unrestricted(bundled()), meta(&["run"]), json!({})).await;
    let list = client.ask(3, "tools/list", &json!({})).await["result"]["tools"].clone();
    let description = list[0]["description"].as_str().unwrap();
    for program in ["curl", "docker", "find", "gh", "git", "grep", "jq", "kubectl", "npm", "sed"] {
        assert!(description.contains(&format!(" {program} ")), "{program} before the small programs: {description}");
    }
    // Four bytes and a half are about a token.
    assert!(list.to_string().len() < 210 * 9 / 2, "{} bytes", list.to_string().len());
}

#[tokio::test]
async fn search_for_a_command_line_finds_the_tool_that_takes_it_first() {
    let mut client = Client::open(unrestricted(bundled()), Surface::default(), json!({})).await;
    for (query, tool) in [
        ("git log --oneline -n 5", Some("git_log")),
        ("find . -name '*.rs'", Some("find_by_name")),
        ("docker ps -a | grep web", Some("docker_ps")),
        ("find large files", None),
        ("sort the lines of a file", None),
    ] {
        let result = client.tool("climax_search", json!({ "query": query, "limit": 3 })).await;
        let found: Value = serde_json::from_str(text(&result)).unwrap();
        let first = found["results"][0]["tool_name"].as_str().unwrap();
        match tool {
            Some(tool) => assert_eq!(first, tool, "{query}"),
            None => assert!(!first.ends_with("_run"), "{query}: {first}"),
        }
    }
}
