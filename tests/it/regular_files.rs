//! Configs, policies and secrets are regular files: anything else neither blocks a server nor fills its memory.

use std::path::Path;
use std::process::Command;
use std::sync::mpsc;

use serde_json::json;

use crate::support::{PATIENCE, Server, binary, climax, fake_config, run, text, until};
use crate::web::Web;

const TOOL: &str = "  - {name: hello, description: Hello, command: argv hello}\n";

fn fifo(path: &Path) {
    let _ = std::fs::remove_file(path);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Starts a server that must refuse to, and returns what it says.
fn refusal(args: &[&str]) -> String {
    // A server that waits or reads without bound is ended, and then has status 124 or 137.
    let mut limited = Command::new("timeout");
    limited.args(["-k", "1", "10", binary()]).args(args);
    let (status, _, stderr) = run(limited.env("NO_COLOR", "1"));
    assert_eq!(status, 1, "{args:?}: {stderr}");
    stderr
}

#[test]
fn other_files_than_regular_ones_prevent_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    fifo(&pipe);
    let pipe = pipe.to_str().unwrap();
    let http = ["--transport", "streamable-http", "--port", "0"];
    for option in ["--config", "--policy", "--token-file", "--state-key-file"] {
        let transport = if option.ends_with("-file") { http.as_slice() } else { &[] };
        for (path, kind) in [(pipe, "a pipe"), ("/dev/zero", "a device")] {
            let said = refusal(&[transport, &[option, path]].concat());
            assert!(said.contains(&format!("it is {kind}, and only regular files are read")), "{option}: {said}");
        }
    }
    let large = dir.path().join("large");
    std::fs::File::create(&large).unwrap().set_len(1 << 40).unwrap();
    let large = large.to_str().unwrap();
    assert!(refusal(&["--config", large]).contains("larger than 16 MiB"));
    assert!(refusal(&["--policy", large]).contains("larger than 16 MiB"));
    assert!(refusal(&[&http[..], &["--token-file", large]].concat()).contains("it has more than 1048576 bytes"));
}

#[test]
fn links_to_regular_files_are_read() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("real"), fake_config(TOOL)).unwrap();
    let link = dir.path().join("link.yaml");
    std::os::unix::fs::symlink("real", &link).unwrap();
    let (status, stdout, stderr) = run(climax().args(["call", "--config", link.to_str().unwrap(), "hello"]));
    assert_eq!((status, stdout.trim()), (0, "<hello>"), "{stderr}");
}

/// Calls the tool. Fails, and does not wait, if the server does not answer.
fn still_answers(mut server: Server) -> Server {
    let (sender, answered) = mpsc::channel();
    let pid = server.child.id().to_string();
    let call = std::thread::spawn(move || {
        let said = text(&server.call("hello", json!({}))).to_owned();
        sender.send(said).unwrap();
        server
    });
    let said = answered.recv_timeout(PATIENCE);
    if said.is_err() {
        Command::new("kill").args(["-s", "KILL", &pid]).status().unwrap();
    }
    assert_eq!(said.unwrap(), "<hello>");
    call.join().unwrap()
}

#[test]
fn fifo_in_place_of_a_config_or_policy_does_not_stop_a_running_server() {
    for replaced in ["fake.yaml", "policy.yaml"] {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(path("fake.yaml"), fake_config(TOOL)).unwrap();
        std::fs::write(path("policy.yaml"), "default: enabled\n").unwrap();
        let files = ["--config", &path("fake.yaml"), "--policy", &path("policy.yaml"), "--log-file", &path("log")];
        let server = Server::start(&[&files[..], &["--watch"]].concat());
        fifo(&dir.path().join(replaced));
        let refusals = || {
            let log = std::fs::read_to_string(path("log")).unwrap();
            log.lines().filter(|line| line.contains("it is a pipe")).count()
        };
        until("the watch to report the FIFO", || refusals() == 1);
        let server = still_answers(server);
        Command::new("kill").args(["-s", "HUP", &server.child.id().to_string()]).status().unwrap();
        until("the signal to report the FIFO", || refusals() == 2);
        let mut server = still_answers(server);
        Command::new("kill").args(["-s", "TERM", &server.child.id().to_string()]).status().unwrap();
        until("the server to end", || server.child.try_wait().unwrap().is_some());
    }
}

#[test]
fn device_in_place_of_the_tokens_leaves_them_as_they_were() {
    const TOKEN: &str = "Authorization: Bearer 0123456789abcdef0123456789";
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("tokens"), "ada 0123456789abcdef0123456789\n").unwrap();
    std::fs::write(path("fake.yaml"), fake_config(TOOL)).unwrap();
    let mut web =
        Web::start(&["--token-file", &path("tokens"), "--config", &path("fake.yaml"), "--log-file", &path("log")]);
    std::fs::remove_file(path("tokens")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", path("tokens")).unwrap();
    web.signal("HUP");
    let log = || std::fs::read_to_string(path("log")).unwrap();
    let start = std::time::Instant::now();
    while !log().contains("it is a device") {
        let memory = std::fs::read_to_string(format!("/proc/{}/status", web.child.id())).unwrap();
        let peak: u64 = memory.split("VmHWM:").nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap();
        let ended = peak > 1 << 20 || start.elapsed() > PATIENCE;
        if ended {
            web.child.kill().unwrap();
        }
        assert!(!ended, "the server reads without bound: {peak} KiB");
    }
    assert_eq!(web.call(&[TOKEN], "hello", &json!({})), "<hello>");
    web.signal("TERM");
    assert_eq!(web.ended(), Some(0));
}
