//! The real binary over standard streams, with real programs.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Server, announced, assert_takes_at_most, climax, fake_config, is_running, run, text, until};

fn git(repository: &Path, args: &[&str]) {
    let identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"];
    let done = Command::new("git").current_dir(repository).args(identity).args(args).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Makes a repository with three commits and an uncommitted file.
fn repository() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "-q", "-b", "main"]);
    for number in 1..=3 {
        std::fs::write(dir.path().join("file.txt"), format!("line {number}\n")).unwrap();
        git(dir.path(), &["add", "."]);
        git(dir.path(), &["commit", "-q", "-m", &format!("Commit {number}")]);
    }
    std::fs::write(dir.path().join("-odd name.txt"), "x").unwrap();
    std::fs::write(dir.path().join("file.txt"), "changed\n").unwrap();
    dir
}

#[test]
fn agent_finds_and_calls_a_git_tool() {
    let repository = repository();
    let cwd = repository.path().to_str().unwrap();
    let mut server = Server::start(&[]);
    let found = server.tool("climax_search", json!({ "query": "history", "cli": "git", "limit": 50 }));
    let found: Value = serde_json::from_str(text(&found)).unwrap();
    let names: Vec<_> = found["results"].as_array().unwrap().iter().map(|result| &result["tool_name"]).collect();
    assert!(names.contains(&&json!("git_log")), "{names:?}");
    let log = server.call("git_log", json!({ "cwd": cwd, "max_count": "2", "oneline": true }));
    let lines: Vec<&str> = text(&log).lines().collect();
    assert_eq!(lines.len(), 2, "{log}");
    assert!(lines[0].ends_with("Commit 3") && lines[1].ends_with("Commit 2"));
}

#[test]
fn meta_mode_and_classic_mode_give_identical_results() {
    let repository = repository();
    let cwd = repository.path().to_str().unwrap();
    let mut meta = Server::start(&["git"]);
    let mut classic = Server::start(&["git", "--classic"]);
    for (tool, arguments) in [
        ("git_log", json!({ "cwd": cwd, "max_count": 1 })),
        ("git_status", json!({ "cwd": cwd })),
        ("git_diff", json!({ "cwd": cwd })),
        ("git_show", json!({ "cwd": cwd, "revision": "no-such-revision" })),
        ("git_log", json!({ "cwd": "/no/such/directory" })),
        ("git_log", json!({ "cwd": cwd, "revision": "--output=/tmp/x" })),
        ("git_log", json!({ "cwd": cwd, "max_count": "many" })),
    ] {
        let direct = classic.tool(tool, arguments.clone());
        assert_eq!(meta.call(tool, arguments.clone()).to_string(), direct.to_string(), "{tool} {arguments}");
    }
}

#[test]
fn failing_command_is_an_error_with_output_and_status() {
    let repository = repository();
    let mut server = Server::start(&["git"]);
    let result = server.call("git_show", json!({ "cwd": repository.path(), "revision": "nothing" }));
    assert_eq!(result["isError"], true);
    assert!(text(&result).starts_with("[stderr]\nfatal: "), "{result}");
    assert!(text(&result).ends_with("\n\n[exit code: 128]"), "{result}");
    let error = &result["structuredContent"]["error"];
    let stderr = text(&result).strip_prefix("[stderr]\n").unwrap().strip_suffix("\n\n[exit code: 128]").unwrap();
    let details = json!([{ "exit_code": 128, "stdout": "", "stderr": stderr }]);
    assert_eq!((&error["code"], &error["details"]), (&json!("command_failed"), &details));
}

fn config(tools: &str) -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(".yaml").tempfile().unwrap();
    std::fs::write(file.path(), fake_config(tools)).unwrap();
    file
}

#[test]
fn result_texts_match_the_contract() {
    let file = config(concat!(
        "  - {name: both, description: x, command: both}\n",
        "  - {name: quiet, description: x, command: exit 0}\n",
        "  - {name: fails, description: x, command: exit 3 said so}\n",
        "  - {name: aborts, description: x, command: abort}\n",
        "  - {name: slow, description: x, command: announce, timeout: 0.5}\n",
        "  - {name: stdin, description: x, command: stdin, args: [{name: text, stdin: true}]}\n",
        "  - {name: git_log, description: Replaces the compiled-in one, command: argv replaced}\n",
    ));
    let absent = tempfile::Builder::new().suffix(".yaml").tempfile().unwrap();
    std::fs::write(absent.path(), "command: no-such-program\ntools: [{name: absent, description: x}]").unwrap();
    let configs = ["--config", file.path().to_str().unwrap(), "--config", absent.path().to_str().unwrap()];
    let mut server = Server::start(&configs);
    let mut said = Vec::new();
    for (tool, arguments) in [
        ("both", json!({})),
        ("quiet", json!({})),
        ("fails", json!({})),
        ("aborts", json!({})),
        ("slow", json!({})),
        ("stdin", json!({ "text": "piped" })),
        ("stdin", json!({})),
        ("absent", json!({})),
        ("git_log", json!({})),
    ] {
        let result = server.call(tool, arguments);
        said.push(format!("--- {tool}, isError {}\n{}", result["isError"], text(&result)));
    }
    insta::assert_snapshot!(said.join("\n"));
}

/// Without these arguments a tool would do something else.
#[test]
fn refuses_misplaced_arguments() {
    let file = config("  - {name: show, description: x, command: argv, args: [{name: dry_run, type: boolean}]}\n");
    let mut server = Server::start(&["--config", file.path().to_str().unwrap()]);
    let mut call = |arguments: Value| {
        let result =
            server.request("tools/call", json!({ "name": "climax_call", "arguments": arguments }))["result"].clone();
        (result["isError"] == true, text(&result).to_owned())
    };
    let shown = json!({ "dry_run": true });
    for (wrong, key, meant) in [
        (json!({ "tool_name": "show", "argumnets": shown }), "argumnets", "args"),
        (json!({ "tool_name": "show", "dry_run": true }), "dry_run", "args.dry_run"),
        (json!({ "tool_name": "show", "name": "x" }), "name", "args.name"),
    ] {
        let said = format!("Argument validation failed:\n  - Unknown argument '{key}': did you mean '{meant}'?");
        let (failed, text) = call(wrong);
        assert!(failed && text == said, "{text}");
    }
    let (failed, text) = call(json!({ "tool_name": "show", "args": shown, "reason": "to see" }));
    assert!(!failed && text.contains("--dry-run"), "{text}");
    assert!(!call(json!({ "tool_name": "show", "args": null })).0);
    for (tool, args) in [("tool_name", "arguments"), ("tool", "args"), ("name", "arguments")] {
        let (failed, text) = call(json!({ tool: "show", args: shown }));
        assert!(!failed && text.contains("--dry-run"), "{tool}, {args}: {text}");
    }
}

/// A server whose tool `family` starts a child and a grandchild, which writes its process ID to `pids`.
struct Family {
    server: Server,
    pids: PathBuf,
    _config: tempfile::NamedTempFile,
    _directory: tempfile::TempDir,
}

impl Family {
    fn start() -> Self {
        Self::with(&[])
    }

    fn with(args: &[&str]) -> Self {
        let config = config("  - {name: family, description: x, command: family}\n");
        let directory = tempfile::tempdir().unwrap();
        let pids = directory.path().join("pids");
        let mut command = climax();
        command.args(["--config", config.path().to_str().unwrap()]).args(args).env("FAKECLI_PIDS", &pids);
        let mut server = Server::spawn(&mut command);
        server.initialize("2025-06-18");
        Self { server, pids, _config: config, _directory: directory }
    }
}

#[test]
fn end_of_input_ends_server_and_children_within_a_second() {
    assert_takes_at_most(Duration::from_secs(1), || {
        let Family { mut server, pids, _config, _directory } = Family::with(&["--max-concurrency", "10"]);
        for _ in 0..10 {
            server.post("tools/call", json!({ "name": "climax_call", "arguments": { "tool_name": "family" } }));
        }
        until("ten grandchildren", || announced(&pids).len() == 10);

        let start = Instant::now();
        let (_, status) = server.finish();
        let taken = start.elapsed();

        assert_eq!(status, Some(0));
        until("the children to be gone", || announced(&pids).iter().all(|pid| !is_running(*pid)));
        taken
    });
}

#[test]
fn client_that_does_not_read_does_not_block_the_end() {
    for by_signal in [false, true] {
        let mut server = Server::start(&[]);
        for _ in 0..300 {
            server.post("tools/list", json!({}));
        }
        if by_signal {
            Command::new("kill").arg(server.child.id().to_string()).status().unwrap();
        } else {
            server.close_input();
        }
        until("the server to end", || server.child.try_wait().unwrap().is_some());
    }
}

#[test]
fn closed_pipes_end_the_server_and_its_children() {
    let Family { mut server, pids, _config, _directory } = Family::start();
    server.post("tools/call", json!({ "name": "climax_call", "arguments": { "tool_name": "family" } }));
    until("the grandchild", || announced(&pids).len() == 1);
    server.close_output();
    server.post("ping", json!({}));
    until("the server to end", || server.child.try_wait().unwrap().is_some());
    until("the children to be gone", || announced(&pids).iter().all(|pid| !is_running(*pid)));
}

#[test]
fn warns_of_a_config_that_replaces_a_compiled_in_tool() {
    let file = config("  - {name: git_log, description: x, command: argv}\n");
    let path = file.path().to_str().unwrap();
    let (status, _, stderr) = run(climax().args(["--config", path]));
    assert_eq!(status, 0);
    assert!(stderr.contains("warning[override]: tool `git_log` replaces the compiled-in one"), "{stderr}");
    let (_, _, stderr) = run(climax().args(["jq", "--config", path]));
    assert!(!stderr.contains("warning"), "it is not served, so it is not replaced: {stderr}");
}

#[test]
fn call_that_ends_soon_is_answered_after_end_of_input() {
    let mut server = Server::start(&[]);
    server.post("tools/call", json!({ "name": "climax_call", "arguments": { "tool_name": "coreutils_date" } }));
    let (rest, status) = server.finish();
    assert_eq!((rest.lines().count(), status), (1, Some(0)), "{rest}");
}

#[test]
fn call_that_reports_progress_is_answered_after_end_of_input_too() {
    let mut server = Server::start(&[]);
    let call = json!({ "tool_name": "coreutils_date" });
    let params = json!({ "name": "climax_call", "arguments": call, "_meta": { "progressToken": 1 } });
    let id = server.post("tools/call", params);
    let (rest, status) = server.finish();
    let last: Value = serde_json::from_str(rest.lines().last().unwrap_or_default()).unwrap_or_default();
    assert_eq!((&last["id"], status), (&json!(id), Some(0)), "{rest}");
}

#[test]
fn cancelled_call_ends_its_child_and_gets_no_response() {
    let Family { mut server, pids, _config, _directory } = Family::start();
    let id = server.post("tools/call", json!({ "name": "climax_call", "arguments": { "tool_name": "family" } }));
    until("the grandchild", || announced(&pids).len() == 1);
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
    until("the child to be gone", || announced(&pids).iter().all(|pid| !is_running(*pid)));
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
}

#[test]
fn calls_beyond_the_limit_wait_in_order_and_can_be_cancelled() {
    let Family { mut server, pids, _config, _directory } = Family::with(&["--max-concurrency", "1"]);
    let family = json!({ "name": "climax_call", "arguments": { "tool_name": "family" } });
    let calls: Vec<u64> = (0..3).map(|_| server.post("tools/call", family.clone())).collect();
    let cancel = |server: &mut Server, id: u64| {
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
    };
    until("the first call", || announced(&pids).len() == 1);
    cancel(&mut server, calls[1]);
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
    assert_eq!(announced(&pids).len(), 1, "only one may run");
    cancel(&mut server, calls[0]);
    until("the third call", || announced(&pids).len() == 2);
    let unknown = server.call("no_such_tool", json!({}));
    assert_eq!(text(&unknown), "Unknown tool: no_such_tool", "what starts no program does not wait");
    cancel(&mut server, calls[2]);
    until("all to be gone", || announced(&pids).iter().all(|pid| !is_running(*pid)));
    assert_eq!(announced(&pids).len(), 2, "a call that was cancelled while it waited never ran");
}

#[test]
fn sockets_work_as_standard_streams_without_threads() {
    let pairs = [UnixStream::pair().unwrap(), UnixStream::pair().unwrap()];
    let [(mut input, theirs_in), (output, theirs_out)] = pairs;
    let mut child = climax().stdin(OwnedFd::from(theirs_in)).stdout(OwnedFd::from(theirs_out)).spawn().unwrap();
    let mut answers = BufReader::new(output).lines();
    let mut ask = |line: &str| {
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
        serde_json::from_str::<Value>(&answers.next().unwrap().unwrap()).unwrap()
    };
    for id in 0..100 {
        assert_eq!(ask(&json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string())["id"], id);
    }
    let threads = std::fs::read_dir(format!("/proc/{}/task", child.id())).unwrap().count();
    assert_eq!(threads, 1);
    drop(input);
    until("the server to end", || child.try_wait().unwrap().is_some());
}

#[test]
fn files_work_as_standard_streams() {
    let directory = tempfile::tempdir().unwrap();
    let [input, output] = ["in", "out"].map(|name| directory.path().join(name));
    let lines: String =
        (0..50).map(|id| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string() + "\n").collect();
    std::fs::write(&input, lines).unwrap();
    let status = climax().stdin(File::open(&input).unwrap()).stdout(File::create(&output).unwrap()).status().unwrap();
    assert!(status.success());
    assert_eq!(std::fs::read_to_string(&output).unwrap().lines().count(), 50);
}

#[test]
fn signals_end_the_server_and_its_children() {
    for signal in ["TERM", "INT"] {
        let Family { mut server, pids, _config, _directory } = Family::start();
        server.post("tools/call", json!({ "name": "climax_call", "arguments": { "tool_name": "family" } }));
        until("the grandchild", || announced(&pids).len() == 1);
        Command::new("kill").args(["-s", signal, &server.child.id().to_string()]).status().unwrap();
        until("the server to end", || server.child.try_wait().unwrap().is_some());
        until("the children to be gone", || announced(&pids).iter().all(|pid| !is_running(*pid)));
    }
}

#[test]
fn killed_server_leaves_no_child() {
    let family = json!({ "name": "climax_call", "arguments": { "tool_name": "family" } });
    assert_takes_at_most(Duration::from_secs(1), || {
        let Family { mut server, pids, _config, _directory } = Family::start();
        server.post("tools/call", family.clone());
        server.post("tools/call", family.clone());
        until("the grandchildren", || announced(&pids).len() == 2);
        // The server starts a program and registers it in one step. The response to `ping` follows both.
        server.request("ping", json!({}));

        let start = Instant::now();
        server.child.kill().unwrap();
        server.child.wait().unwrap();
        until("the children to be gone", || announced(&pids).iter().all(|pid| !is_running(*pid)));
        start.elapsed()
    });
}

#[test]
fn killed_janitor_is_replaced() {
    let Family { mut server, pids, _config, _directory } = Family::start();
    server.call("git_log", json!({ "max_count": 1 }));
    // Its command line may not be readable yet.
    until("the janitor", || janitors(server.child.id()).len() == 1);
    let janitor = janitors(server.child.id());
    Command::new("kill").args(["-9", &janitor[0].to_string()]).status().unwrap();
    until("the janitor to be gone", || !is_running(janitor[0]));
    server.post("tools/call", json!({ "name": "climax_call", "arguments": { "tool_name": "family" } }));
    until("the grandchild", || announced(&pids).len() == 1);
    server.request("ping", json!({}));
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    until("the children to be gone", || announced(&pids).iter().all(|pid| !is_running(*pid)));
}

/// Returns the process IDs of a server's janitors.
fn janitors(server: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{server}/task/{server}/children")).unwrap();
    let is_janitor = |pid: &u32| {
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split('\0').nth(1) == Some("janitor")
    };
    children.split_whitespace().map(|pid| pid.parse().unwrap()).filter(is_janitor).collect()
}

#[test]
fn closed_standard_error_loses_no_response() {
    let mut server = Server::start(&["jq", "--log-level", "debug"]);
    drop(server.child.stderr.take());
    for _ in 0..2 {
        let answer = server.request("tools/call", json!({ "name": "no_such_tool", "arguments": {} }));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

#[test]
#[cfg_attr(not(native_linux), ignore = "a server that cannot confine says one line more")]
fn empty_input_ends_the_server_with_success() {
    let (status, stdout, stderr) = run(&mut climax());
    let serving =
        format!("climax: serving {} tools of {} CLIs\n", climax::CATALOG.tools.len(), climax::CATALOG.clis.len());
    assert_eq!((status, stdout, stderr), (0, String::new(), serving));
}

#[test]
fn invalid_config_prevents_the_start_without_standard_output() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("bad.yaml"), "command: x\ntools:\n  - nmae: x\n").unwrap();
    let (status, stdout, stderr) =
        run(climax().current_dir(dir.path()).args(["--config", "bad.yaml", "--config", "absent.yaml"]));
    assert_eq!((status, stdout.as_str()), (1, ""));
    insta::assert_snapshot!(stderr);
}

#[test]
fn names_select_clis_and_unknown_names_get_suggestions() {
    let mut server = Server::start(&["jq", "git"]);
    let summary = server.tool("climax_search", json!({}));
    let summary: Value = serde_json::from_str(text(&summary)).unwrap();
    let names: Vec<_> = summary["summary"].as_array().unwrap().iter().map(|cli| &cli["name"]).collect();
    assert_eq!(names, ["jq", "git"]);
    assert_eq!(text(&server.call("docker_ps", json!({}))), "Unknown tool: docker_ps");
    let (status, stdout, stderr) = run(climax().args(["gti", "docker", "zzzzzz"]));
    assert_eq!((status, stdout.as_str()), (1, ""));
    assert!(stderr.contains("`gti`") && stderr.contains("did you mean `git`?"), "{stderr}");
    assert!(stderr.contains("`zzzzzz`") && stderr.contains("climax list"), "{stderr}");
}
