//! Which programs that no config describes may run, in which cage, and what is said of the others.

use std::fs;

use serde_json::json;

use crate::caged_project::Desk;
use crate::support::{Server, run};

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn policy_flag_and_system_decide_about_unknown_programs() {
    let desk = Desk::new();
    let policy = |text: &str| {
        let path = desk.path("policy.yaml");
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let is_run = |policy: Option<String>, more: &[&str], line: &str| {
        let mut options: Vec<&str> = more.to_vec();
        options.extend(policy.iter().flat_map(|path| ["--policy", path]));
        let (status, _, stderr) = desk.sh(&options, line);
        assert!(status == 0 || stderr.contains("no tool runs"), "{line}: {stderr}");
        status == 0
    };
    let line = "bash --norc -c true";
    assert!(is_run(None, &[], line));
    assert!(is_run(Some(policy("default: enabled\napproval: {global: none}\n")), &[], line));
    assert!(!is_run(Some(policy("default: enabled\ndeny: [git_push]\n")), &[], line), "a policy that names tools");
    assert!(!is_run(Some(policy("tools: {coreutils_ls: {}}\n")), &[], line));
    assert!(is_run(Some(policy("tools: {coreutils_ls: {}}\nlines: {unknown: read}\n")), &[], line));
    assert!(!is_run(Some(policy("default: enabled\nlines: {unknown: refuse}\n")), &["--unknown", "workspace"], line));
    assert!(!is_run(None, &["--unknown", "refuse"], line));
    assert!(!is_run(None, &["--confine", "off"], line));
    assert!(is_run(None, &["--unknown", "workspace"], "bash --norc -c 'echo a > made'"));

    let (status, _, stderr) = run(desk.climax().env("CLIMAX_ISOLATION", "none").args(["sh", "-c", line]));
    assert!(status == 127 && stderr.contains("no tool runs"), "{stderr}");
    let narrow = policy("default: enabled\napproval: {global: none}\nlines: {widest: read}\n");
    let (status, _, stderr) = desk.sh(&["--policy", &narrow, "--cage", "workspace"], line);
    assert!(status != 0 && stderr.contains("nothing wider than the cage `read`"), "{stderr}");
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn programs_run_without_a_cage_only_where_the_policy_says_so_and_after_a_question() {
    let desk = Desk::new();
    let path = desk.path("policy.yaml");
    let policy = path.display().to_string();
    let line = "bash --norc -c 'echo made > ../outside'";
    let sh = |text: &str, line: &str| {
        fs::write(&path, text).unwrap();
        desk.sh(&["--policy", &policy, "--cage", "none"], line)
    };
    let (status, _, stderr) = sh("default: enabled\napproval: {global: none}\n", line);
    assert!(status == 2 && stderr.contains("nothing wider than the cage `workspace`"), "{stderr}");
    let widest = "default: enabled\napproval: {global: none, headless: approve}\nlines: {widest: none}\n";
    let (status, _, stderr) = sh(widest, line);
    assert!(status == 126 && stderr.contains("cannot be asked here"), "{stderr}");
    let (_, stdout, stderr) = sh(widest, "echo first; for x in a b; do bash --norc -c \"echo $x\"; done");
    assert!(stdout.is_empty() && stderr.contains("cannot"), "nothing runs before it is refused: {stdout}{stderr}");
    assert_eq!(sh(widest, "echo a | cat; timeout 5 ls *.none").0, 2, "what has no cage is not asked about");

    let mut server = server_that_asks(&desk, &policy);
    for (answer, is_made) in [("decline", false), ("accept", true)] {
        let request = server
            .post("tools/call", json!({ "name": "climax_run", "arguments": { "command": line, "cage": "none" } }));
        let question = server.receive();
        let said = question["params"]["message"].as_str().unwrap();
        assert!(said.contains("No cage holds the program") && said.contains("> ../outside"), "{question}");
        server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": answer } }));
        assert_eq!(server.receive()["id"], request);
        assert_eq!(fs::read_to_string(desk.path("outside")).unwrap().contains("made"), is_made);
    }
}

/// A server under a policy, whose client can be asked.
fn server_that_asks(desk: &Desk, policy: &str) -> Server {
    let mut command = desk.climax();
    command.args(["--meta", "run", "--policy", policy]);
    let mut server = Server::spawn(&mut command);
    let client = json!({ "name": "test", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} }, "clientInfo": client });
    server.request("initialize", hello);
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    server
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn described_and_reporting_programs_are_not_caged_as_unknown() {
    let desk = Desk::new();
    let policy = none_of_git(&desk);
    for line in ["git push", "jq .", "timeout 5 git push"] {
        let (status, _, stderr) = desk.sh(&["--policy", &policy], line);
        assert!(status == 127 && stderr.contains("no tool runs"), "{line}: {stderr}");
    }
    for (program, reason) in [("htop", "its own alone"), ("sudo ls", "rights of others")] {
        let (status, _, stderr) = desk.sh(&[], program);
        assert!(status == 127 && stderr.contains(reason), "{program}: {stderr}");
    }
    // A subcommand that no tool takes is no unknown program.
    assert_eq!(desk.sh(&[], "git frobnicate").0, 127);
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn described_programs_are_asked_about_themselves_in_a_cage() {
    let desk = Desk::new();
    for (line, said) in [
        ("seq --version", "seq"),
        ("timeout 5 chmod --help", "Usage: chmod"),
        ("git stash --help", "git"),
        ("cargo build -h", "cargo build"),
        ("git help stash", "git"),
    ] {
        let (status, stdout, stderr) = desk.sh(&[], line);
        assert!(status == 0 && stdout.to_lowercase().contains(&said.to_lowercase()), "{line}: {stdout}{stderr}");
    }
    let policy = none_of_git(&desk);
    let refused: [(&[&str], &str); 4] = [
        // Another word than one of its commands is nothing that such a program is asked about.
        (&[], "chmod ./a --help"),
        (&[], "touch made --version --help"),
        (&["--unknown", "refuse"], "seq --version"),
        (&["--policy", &policy], "git stash --help"),
    ];
    for (options, line) in refused {
        let (status, stdout, _) = desk.sh(options, line);
        assert!([2, 127].contains(&status) && stdout.is_empty(), "{options:?} {line}: {status} {stdout}");
    }
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn refusals_of_what_a_shell_reads_name_a_shell_in_a_cage_where_one_may_run() {
    let desk = Desk::new();
    let way_on = "by `bash -c";
    for line in ["a=(1 2); echo ${a[1]}", "f() { echo hi; }; f", "trap 'echo bye' EXIT; echo hi"] {
        let (status, _, stderr) = desk.sh(&[], line);
        assert!(status == 2 && stderr.contains(way_on), "{line}: {stderr}");
        let (_, _, stderr) = desk.sh(&["--unknown", "refuse"], line);
        assert!(!stderr.contains(way_on), "{line}: {stderr}");

        let (status, stdout, stderr) = desk.sh(&[], &format!("bash -c '{}'", line.replace('\'', "\"")));
        assert!(status == 0 && !stdout.is_empty(), "{line}: {stdout}{stderr}");
    }
    let (_, _, stderr) = desk.sh(&[], "echo 'a");
    assert!(!stderr.contains(way_on), "{stderr}");
}

/// Writes a policy that serves nothing of git, and returns its path.
fn none_of_git(desk: &Desk) -> String {
    let path = desk.path("policy.yaml");
    fs::write(&path, "tools: {coreutils_ls: {}}\nlines: {unknown: read}\n").unwrap();
    path.display().to_string()
}
