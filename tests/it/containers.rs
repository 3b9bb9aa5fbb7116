//! Calls in real containers. `scripts/podman-for-tests` installs podman for them.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::support::{Server, climax, text, until};

const CONFIG: &str = "
name: box
command: ''
env: {FROM_CONFIG: 'a b'}
tools:
  - {name: shell, description: S, command: sh -c, timeout: 30, args: [{name: script, positional: true}, {name: dir, cwd: true}, {name: input, stdin: true}]}
  - {name: short, description: S, command: sleep 600, timeout: 0.7}
  - {name: long, description: L, command: sleep 600, timeout: 600}
  - {name: write, description: W, command: sh -c, args: [{name: script, positional: true}, {name: table, positional: true, output: {mime: text/csv}}]}
  - {name: absent, description: A, command: no-such-program}
";

fn settings() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("podman/containers.conf")
}

/// Returns the names of existing containers that climax made.
fn containers() -> Vec<String> {
    let mut podman = Command::new("podman");
    podman.env("CONTAINERS_CONF", settings()).args(["ps", "--all", "--format", "{{.Names}}"]);
    let names = String::from_utf8(podman.output().unwrap().stdout).unwrap();
    names.lines().filter(|name| name.starts_with("climax-")).map(str::to_owned).collect()
}

struct Box {
    server: Server,
    dir: tempfile::TempDir,
}

impl Box {
    fn new(executor: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("box.yaml"), CONFIG).unwrap();
        let policy = format!(
            "default: enabled\nexecutor: {{type: docker, runtime: podman, image: localhost/climax-test, network: none{executor}}}\n"
        );
        std::fs::write(dir.path().join("policy.yaml"), policy).unwrap();
        std::fs::write(dir.path().join("file"), "from outside").unwrap();
        let path = |name: &str| dir.path().join(name);
        let mut command = climax();
        command.env("CONTAINERS_CONF", settings()).env("OUTSIDE", dir.path());
        command.args(["git", "--config"]).arg(path("box.yaml")).arg("--policy").arg(path("policy.yaml"));
        let mut server = Server::spawn(&mut command);
        server.initialize("2025-06-18");
        Self { server, dir }
    }

    fn shell(&mut self, script: &str) -> String {
        text(&self.server.call("shell", json!({ "script": script }))).to_owned()
    }

    /// Starts a long call, and waits for its container.
    fn start_long(&mut self) -> u64 {
        let id = self.server.post("tools/call", json!({ "name": "climax_call", "arguments": { "tool_name": "long" } }));
        until("the container", || !containers().is_empty());
        self.server.request("ping", json!({}));
        id
    }
}

/// One test, because all parts count the containers of the machine.
#[test]
#[ignore = "needs scripts/podman-for-tests"]
fn calls_run_in_containers_and_leave_none() {
    passes_values_and_returns_results();
    timeout_removes_the_container();
    cancelling_removes_the_container();
    shutdown_removes_the_container();
    killed_server_leaves_no_container();
}

fn passes_values_and_returns_results() {
    let mut inside = Box::new(", volumes: ['$OUTSIDE:/inside:ro'], working_dir: /tmp");
    assert_eq!(inside.shell("echo \"$FROM_CONFIG\"; pwd; exit 3"), "a b\n/tmp\n\n[exit code: 3]");
    assert_eq!(
        inside.shell("cat /inside/file; echo x >/inside/file"),
        "from outside\n\n[stderr]\nsh: can't create /inside/file: Read-only file system\n\n[exit code: 1]"
    );
    let with_input = inside.server.call("shell", json!({ "script": "cat; pwd", "input": "typed\n", "dir": "/inside" }));
    assert_eq!(text(&with_input), "typed\n/inside");
    let sneaky = inside.server.call("shell", json!({ "script": "id", "dir": "/ --privileged" }));
    assert_eq!(sneaky["isError"], true, "{sneaky}");
    let written = inside.server.call("write", json!({ "script": "echo a,b > \"$0\"" }));
    assert_eq!(written["content"][0]["resource"]["text"], "a,b\n", "{written}");
    let absent = inside.server.call("absent", json!({}));
    assert!(text(&absent).contains("no-such-program") && text(&absent).contains("[exit code: 127]"), "{absent}");
    assert!(containers().is_empty());
    assert_eq!(std::fs::read_to_string(inside.dir.path().join("file")).unwrap(), "from outside");
}

fn timeout_removes_the_container() {
    let mut inside = Box::new("");
    let said = inside.server.call("short", json!({}));
    assert!(text(&said).contains("Command timed out after 0.7s"), "{said}");
    assert!(containers().is_empty(), "{:?}", containers());
}

fn cancelling_removes_the_container() {
    let mut inside = Box::new("");
    let id = inside.start_long();
    inside
        .server
        .send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
    until("the container to be gone", || containers().is_empty());
}

fn shutdown_removes_the_container() {
    let mut inside = Box::new("");
    inside.start_long();
    inside.server.finish();
    until("the container to be gone", || containers().is_empty());
}

fn killed_server_leaves_no_container() {
    let mut inside = Box::new("");
    inside.start_long();
    inside.server.child.kill().unwrap();
    inside.server.child.wait().unwrap();
    until("the container to be gone", || containers().is_empty());
}

#[test]
fn error_names_a_missing_runtime() {
    let dir = tempfile::tempdir().unwrap();
    let policy = dir.path().join("policy.yaml");
    std::fs::write(&policy, "default: enabled\nexecutor: {type: docker, runtime: nerdctl, image: x}").unwrap();
    let mut command = climax();
    command.env("PATH", dir.path()).arg("--policy").arg(&policy);
    let mut server = Server::spawn(&mut command);
    server.initialize("2025-06-18");
    let result = server.call("coreutils_date", json!({}));
    assert!(text(&result).contains("Command not found: nerdctl"), "{result}");
}
