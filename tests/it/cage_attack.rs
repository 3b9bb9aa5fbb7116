//! Attacks from inside of each cage, by each means that the kernel has: `tests/bin/cage_probe.rs` makes the attempts.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{climax, fakecli, run};

/// Runs the probe in a cage, and returns its lines: class, name and whether it was held.
fn attempts(cage: &str, isolation: &str) -> Vec<(String, String, bool)> {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let path = |name: &str| root.join(name).display().to_string();
    for directory in ["project/.git/hooks", "project/conf", "project/.vscode", "home/.ssh", "elsewhere"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    for file in [
        "project/.env",
        "project/conf/.env",
        "project/server.pem",
        "home/.ssh/id_ed25519",
        "elsewhere/file",
        "project/file",
        "project/.git/config",
        "project/.git/hooks/pre-commit",
        "project/.vscode/tasks.json",
    ] {
        fs::write(root.join(file), "-----BEGIN PRIVATE KEY----- secret\n").unwrap();
    }
    // Copied by a program of its own: while this process could write the file, a child of another test might inherit that,
    // and nobody could execute it.
    #[expect(clippy::disallowed_methods, reason = "the probe has to be in the project")]
    let copied =
        Command::new("cp").arg(fakecli().with_file_name("cage_probe")).arg(root.join("project/probe")).status();
    assert!(copied.unwrap().success());

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let _socket = UnixListener::bind(root.join("socket")).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the process to attack")]
    let mut outside = Command::new("sleep").arg("600").current_dir(root.join("elsewhere")).spawn().unwrap();
    let facts = [
        ("cage", cage.to_owned()),
        ("port", listener.local_addr().unwrap().port().to_string()),
        ("socket", path("socket")),
        ("pid", outside.id().to_string()),
        ("env", path("project/.env")),
        ("deep", path("project/conf/.env")),
        ("key", path("project/server.pem")),
        ("home", path("home/.ssh/id_ed25519")),
        ("outside", path("elsewhere/file")),
        ("file", path("project/file")),
        ("git", path("project/.git/config")),
        ("hook", path("project/.git/hooks/pre-commit")),
        ("tasks", path("project/.vscode/tasks.json")),
    ];
    let facts: Vec<String> = facts.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let line = format!("bash --norc -c 'exec ./probe tmp=$TMPDIR \"$@\"' probe {}", facts.join(" "));

    let mut command = climax();
    command.args(["sh", "--cage", cage, "-c", &line]).current_dir(root.join("project"));
    command.env("HOME", root.join("home")).env("CLIMAX_ISOLATION", isolation).env("PROBE_TOKEN", "x");
    command.env("SSH_AUTH_SOCK", root.join("socket")).stdin(Stdio::null());
    let (status, stdout, stderr) = run(&mut command);
    outside.kill().unwrap();
    outside.wait().unwrap();
    assert_eq!(status, 0, "{stdout}{stderr}");
    assert!(Path::new(&path("project/.git/config")).exists() && Path::new(&path("elsewhere/file")).exists());

    let attempt = |line: &str| {
        let mut words = line.split(' ').map(str::to_owned);
        let (class, name) = (words.next().unwrap(), words.next().unwrap());
        (class, name, words.next().as_deref() == Some("held"))
    };
    stdout.lines().map(attempt).collect()
}

/// Checks that a cage holds all attempts, and returns their number by class.
fn check(cage: &str, isolation: &str) -> BTreeMap<String, usize> {
    let attempts = attempts(cage, isolation);
    let escaped: Vec<String> =
        attempts.iter().filter(|(_, _, is_held)| !is_held).map(|(class, name, _)| format!("{class} {name}")).collect();
    assert!(escaped.is_empty(), "{cage}, {isolation}: {escaped:#?}");
    let mut counts = BTreeMap::new();
    for (class, _, _) in attempts {
        *counts.entry(class).or_default() += 1;
    }
    counts
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn no_attack_leaves_the_cage_read() {
    for isolation in ["namespaces", "landlock"] {
        let counts = check("read", isolation);
        assert!(counts.values().sum::<usize>() >= 150, "{counts:?}");
    }
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn no_attack_leaves_the_cage_workspace() {
    let counts = check("workspace", "namespaces");
    assert!(counts.values().sum::<usize>() >= 150, "{counts:?}");
}
