//! The audit file.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Server, announced, climax, fake_config, text, until};

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

struct Setting {
    dir: tempfile::TempDir,
    server: Server,
}

impl Setting {
    fn new() -> Self {
        Self::with_audit("")
    }

    /// Starts a server with this audit file; an empty path selects one in the directory.
    fn with_audit(audit: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let tools = "  - {name: t, description: T, command: exit 3, args: [{name: word, positional: true}]}\n  \
                     - {name: w, description: W, command: argv, risk: write}\n  \
                     - {name: s, description: S, command: announce}\n  \
                     - {name: r, description: R, command: argv, risk: read, resource: 'fake:r'}\n  \
                     - {name: q, description: Q, command: argv, args: [{name: word}, {name: who}], ask: [{name: who, message: Who?, args: [who]}]}\n";
        std::fs::write(dir.path().join("fake.yaml"), fake_config(tools)).unwrap();
        std::fs::write(
            dir.path().join("policy.yaml"),
            "default: enabled\ntools: {t: {args: {word: {pattern: '[^x]*'}}}}",
        )
        .unwrap();
        let path = |name: &str| dir.path().join(name).display().to_string();
        let [config, policy, own] = ["fake.yaml", "policy.yaml", "audit.jsonl"].map(path);
        let audit = if audit.is_empty() { &own } else { audit };
        let mut command = climax();
        command.args(["git", "--config", &config, "--policy", &policy, "--audit", audit]);
        let mut server = Server::spawn(command.env("FAKECLI_PIDS", path("pids")));
        server.initialize("2025-06-18");
        Self { dir, server }
    }

    fn file(&self) -> std::path::PathBuf {
        self.dir.path().join("audit.jsonl")
    }
}

#[test]
fn each_call_has_a_line_without_values() {
    let mut setting = Setting::new();
    let file = setting.file();
    setting.server.call("t", json!({ "word": "hush", "other": [1, 2] }));
    setting.server.call("t", json!({ "word": "x" }));
    setting.server.call("w", json!({}));
    setting.server.call("nothing", json!({}));
    setting.server.call("git_log", json!({ "max_count": "many" }));
    let all = lines(&file);
    assert!(!std::fs::read_to_string(&file).unwrap().contains("hush"));
    let decisions: Vec<&str> = all.iter().map(|line| line["decision"].as_str().unwrap()).collect();
    assert_eq!(decisions, ["permitted", "policy_denied", "denied_headless", "unknown_tool", "invalid_arguments"]);
    let mut first = all[0].clone();
    assert!(first["time"].as_str().unwrap().ends_with('Z'), "{first}");
    assert!(first["duration_ms"].is_u64(), "{first}");
    assert_eq!(first["server"], setting.server.child.id());
    // The digest of the catalog depends on the path of the program.
    assert_eq!(first["catalog"].as_str().unwrap().len(), 64, "{first}");
    first["catalog"] = json!("");
    first["server"] = json!(0);
    first["time"] = json!("");
    first["duration_ms"] = json!(0);
    insta::assert_snapshot!(first.to_string());
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn line_separates_values_of_the_user_from_those_of_the_agent() {
    let mut setting = Setting::new();
    let file = setting.file();
    setting.server.call("q", json!({ "word": "agent", "who": "agent" }));
    let line = lines(&file).remove(0);
    assert_eq!(line["arguments"], json!([{ "name": "word", "bytes": 5 }]), "{line}");
    let codes = [&line["asked"], &line["via"], &line["decision"]];
    assert_eq!(codes, [&json!(["who"]), &json!("call"), &json!("denied_unanswerable")], "{line}");
    setting.server.request("resources/read", json!({ "uri": "fake:r" }));
    assert_eq!(lines(&file)[1]["via"], "resource");
}

#[test]
fn line_is_written_before_the_response() {
    let mut setting = Setting::new();
    let file = setting.file();
    for count in 1..=20 {
        setting.server.call("t", json!({}));
        assert_eq!(lines(&file).len(), count);
    }
    setting.server.child.kill().unwrap();
    setting.server.child.wait().unwrap();
    assert_eq!(lines(&file).len(), 20);
}

#[test]
fn janitor_writes_the_line_of_a_killed_server() {
    let mut setting = Setting::new();
    let pids = setting.dir.path().join("pids");
    setting.server.post("tools/call", json!({ "name": "climax_call", "arguments": { "tool_name": "s" } }));
    until("the call to run", || announced(&pids).len() == 1);
    setting.server.request("ping", json!({}));
    setting.server.child.kill().unwrap();
    setting.server.child.wait().unwrap();
    let file = setting.file();
    until("the line", || lines(&file).len() == 1);
    let line = &lines(&file)[0];
    assert_eq!((&line["tool"], &line["end"]), (&json!("s"), &json!("server_killed")));
}

#[test]
fn reopens_a_renamed_or_removed_file() {
    let mut setting = Setting::new();
    let file = setting.file();
    setting.server.call("t", json!({}));
    std::fs::rename(&file, setting.dir.path().join("old")).unwrap();
    let pid = rustix::process::Pid::from_raw(setting.server.child.id().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::HUP).unwrap();
    until("the new file", || file.exists());
    setting.server.call("t", json!({}));
    assert_eq!((lines(&file).len(), lines(&setting.dir.path().join("old")).len()), (1, 1));
    std::fs::remove_file(&file).unwrap();
    setting.server.call("t", json!({}));
    assert_eq!(lines(&file).len(), 1);
}

#[test]
fn no_call_runs_after_a_failed_write() {
    let mut setting = Setting::with_audit("/dev/full");
    assert!(
        text(&setting.server.call("t", json!({}))).contains("[exit code: 3]"),
        "the first write fails after the call"
    );
    let second = setting.server.call("t", json!({}));
    assert!(text(&second).starts_with("Not run: the audit file cannot be written"), "{second}");
}

#[test]
fn length_of_a_line_is_bounded() {
    let mut setting = Setting::new();
    let arguments: serde_json::Map<String, Value> =
        (0..1000).map(|n| (format!("{n}{}", "x".repeat(1000)), json!(1))).collect();
    setting.server.call("t", Value::Object(arguments));
    let line = &lines(&setting.file())[0];
    assert_eq!((line["arguments"].as_array().unwrap().len(), &line["more_arguments"]), (64, &json!(936)));
    assert!(line.to_string().len() < 32_000);
}

#[test]
fn no_call_runs_without_a_writable_file() {
    let mut setting = Setting::new();
    let file = setting.file();
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    let pid = rustix::process::Pid::from_raw(setting.server.child.id().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::HUP).unwrap();
    until("the calls to be refused", || {
        text(&setting.server.call("t", json!({}))).starts_with("Not run: the audit file cannot be written")
    });
    std::fs::remove_dir(&file).unwrap();
    assert!(text(&setting.server.call("t", json!({}))).contains("[exit code: 3]"));
    assert_eq!(lines(&file).len(), 1);
}

#[test]
fn lines_say_which_calls_may_only_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    std::fs::write(path("fake.yaml"), fake_config("  - {name: r, description: R, command: argv, risk: read}\n  - {name: w, description: W, command: argv, risk: write}\n")).unwrap();
    let mut server =
        Server::start(&["--meta", "read,call", "--config", &path("fake.yaml"), "--audit", &path("audit.jsonl"), "jq"]);
    for (meta, tool) in [("climax_read", "r"), ("climax_read", "w"), ("climax_call", "r")] {
        server.tool(meta, json!({ "tool_name": tool }));
    }
    let lines = lines(Path::new(&path("audit.jsonl")));
    let seen: Vec<_> = lines.iter().map(|line| [&line["tool"], &line["via"], &line["decision"]]).collect();
    assert_eq!(seen, [["r", "read", "permitted"], ["w", "read", "invalid_arguments"], ["r", "call", "permitted"]]);
}
