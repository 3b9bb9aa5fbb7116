//! Processes that programs give to the server, and processes that the server may not end.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{Server, announced, binary, fake_config, fakecli, is_running, text, until};

/// The number of zombies whose parent is this process. Source: proc(5), `stat`: name in parentheses, state, parent.
fn zombies_of(parent: u32) -> usize {
    let parent = parent.to_string();
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let stat = std::fs::read_to_string(entry.ok()?.path().join("stat")).ok()?;
        let mut fields = stat.rsplit(") ").next()?.split(' ').map(str::to_owned);
        Some((fields.next()?, fields.next()?))
    });
    processes.filter(|(state, of)| state == "Z" && *of == parent).count()
}

const TOOLS: &str = "
  - {name: give, description: G, command: give, args: [{name: count, positional: true}, {name: how, positional: true}]}
  - {name: fails, description: F, command: exit 3}
";

#[test]
fn children_that_programs_give_to_the_server_are_reaped() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("fake.yaml");
    std::fs::write(&config, fake_config(TOOLS)).unwrap();
    let mut server = Server::start(&["--config", config.to_str().unwrap()]);
    let pid = server.child.id();
    for arguments in [json!({ "count": "300" }), json!({ "count": "300", "how": "away" })] {
        let result = server.call("give", arguments);
        assert_eq!(result["isError"], false, "{result}");
        until("the zombies to be reaped", || zombies_of(pid) == 0);
    }
    // Those of the second call end while other calls run, which must not lose their exit codes.
    server.call("give", json!({ "count": "100", "how": "away" }));
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(600) {
        assert_eq!(text(&server.call("fails", json!({}))), "[exit code: 3]");
    }
    until("the zombies to be reaped", || zombies_of(pid) == 0);
}

/// Files of a server that runs as another user than root, with a program that becomes root.
struct Unprivileged {
    dir: tempfile::TempDir,
}

const NOBODY: u32 = 65_534;

impl Unprivileged {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mode = |path: &Path, mode: u32| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        mode(dir.path(), 0o777);
        let copy = |from: &Path, name: &str, bits: u32| {
            std::fs::copy(from, dir.path().join(name)).unwrap();
            mode(&dir.path().join(name), bits);
        };
        copy(Path::new(binary()), "climax", 0o755);
        copy(&fakecli(), "fakecli", 0o755);
        copy(&fakecli(), "root", 0o4755);
        let path = |name: &str| dir.path().join(name).display().to_string();
        let config = format!(
            "name: fake\ncommand: ''\nenv: {{FAKECLI_PIDS: {}}}\ntools:\n  \
             - {{name: become, description: B, command: {} become, timeout: 1}}\n  \
             - {{name: leave, description: L, command: {} leave-become {}}}\n",
            path("pids"),
            path("root"),
            path("fakecli"),
            path("root"),
        );
        std::fs::write(dir.path().join("fake.yaml"), config).unwrap();
        Self { dir }
    }

    fn server(&self) -> Server {
        let path = |name: &str| self.dir.path().join(name).display().to_string();
        let (user, group) = (format!("--reuid={NOBODY}"), format!("--regid={NOBODY}"));
        let mut command = Command::new("setpriv");
        command.args([&user, &group, "--clear-groups", &path("climax"), "--config", &path("fake.yaml")]);
        let mut server = Server::spawn(command.current_dir(self.dir.path()));
        server.initialize("2025-06-18");
        server
    }

    fn processes(&self) -> Vec<u32> {
        announced(&self.dir.path().join("pids"))
    }
}

impl Drop for Unprivileged {
    fn drop(&mut self) {
        for pid in self.processes() {
            Command::new("kill").args(["-s", "KILL", &pid.to_string()]).status().unwrap();
        }
    }
}

#[test]
fn program_that_becomes_another_user_ends_its_call_and_is_named() {
    if !rustix::process::geteuid().is_root() {
        // Only root can make a set-user-ID program of another user.
        return;
    }
    let files = Unprivileged::new();
    let mut server = files.server();
    let timed_out = server.call("become", json!({}));
    let said = text(&timed_out);
    assert!(said.contains("1 process runs on after the program, as another user, and could not be ended"), "{said}");
    assert!(said.contains("timed out after 1s"), "{said}");
    assert!(is_running(files.processes()[0]));

    Command::new("kill").args(["-s", "KILL", &files.processes()[0].to_string()]).status().unwrap();
    std::fs::remove_file(files.dir.path().join("pids")).unwrap();
    let left = server.call("leave", json!({}));
    assert!(text(&left).contains("1 process runs on after the program"), "{left}");
    assert!(!text(&left).contains("background process was ended"), "{left}");
}
