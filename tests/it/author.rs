//! What authors of configs try before an agent does: `show`, `call --dry-run`, arguments from files, and Ctrl-C.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{announced, climax, fake_config, fakecli, run, until};

/// A directory with a config `fake.yaml` and a policy `policy.yaml` for it.
struct Desk {
    dir: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let tools = concat!(
            "  - name: words\n    description: Print words\n    command: argv\n    risk: write\n    args:\n",
            "      - {name: count, type: integer, description: How many}\n",
            "      - {name: text, positional: true, required: true, description: What to print}\n",
            "      - {name: force, type: boolean, risk: destructive, description: Ask nothing}\n",
            "      - {name: dir, cwd: true, description: Where}\n",
            "  - {name: announce, command: announce, description: x}\n",
        );
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("fake.yaml"), fake_config(tools)).unwrap();
        let policy = "default: enabled\ntools: {words: {args: {text: {pattern: '[a-z ]*'}, force: {}}}}\napproval: {global: destructive}\n";
        fs::write(dir.path().join("policy.yaml"), policy).unwrap();
        Self { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = climax();
        command.current_dir(self.dir.path()).args(args).args(["--config", "fake.yaml", "--policy", "policy.yaml"]);
        command
    }

    fn run(&self, args: &[&str]) -> (i32, String, String) {
        run(&mut self.command(args))
    }

    fn json(&self, args: &[&str]) -> Value {
        let (_, stdout, stderr) = self.run(&[args, &["--json"]].concat());
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"))
    }
}

#[test]
fn show_describes_a_tool_under_the_policy() {
    let desk = Desk::new();
    let (status, text, stderr) = desk.run(&["show", "words"]);
    assert_eq!((status, stderr.as_str()), (0, ""));
    for part in [
        "Risk: write",
        "argv <text> [--count <count>] [--force]",
        "risk destructive",
        "A call needs approval if its risk is destructive or higher.",
        "`text` must match `[a-z ]*`.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = desk.json(&["show", "words"]);
    assert_eq!(json["policy"], json!({ "approval_from": "destructive", "headless": "deny" }));
    let names: Vec<&str> = json["args"].as_array().unwrap().iter().map(|arg| arg["name"].as_str().unwrap()).collect();
    assert!(["count", "text", "dir"].iter().all(|name| names.contains(name)), "{names:?}");
    assert_eq!(json["needs_approval"], false);
}

#[test]
fn example_of_show_is_a_call_that_can_be_made() {
    let (_, text, _) = run(climax().args(["show", "git_commit"]));
    let example = text.lines().last().unwrap().trim();
    let words: Vec<&str> = example.strip_prefix("climax ").unwrap().split(' ').collect();
    let (status, stdout, stderr) = run(climax().args(words).arg("--dry-run"));
    assert_eq!((status, stderr.as_str()), (0, ""), "{example}");
    assert!(stdout.starts_with("git commit"), "{stdout}");
}

#[test]
fn show_answers_unknown_names() {
    let desk = Desk::new();
    let (status, stdout, _) = desk.run(&["show", "wrods"]);
    assert_eq!((status, stdout.as_str()), (1, "Unknown tool: wrods\nDid you mean:\n  - words\n"));
    assert_eq!(desk.json(&["show", "wrods"])["error"]["suggestions"], json!(["words"]));
    let (status, _, stderr) = desk.run(&["show", "fake"]);
    assert!(status == 2 && stderr.contains("`climax list fake`"), "{stderr}");
}

#[test]
fn dry_run_shows_the_call_and_runs_nothing() {
    let desk = Desk::new();
    let call = ["call", "words", "--dry-run", "text=it is", "count=2", "dir=sub"];
    let (status, text, _) = desk.run(&call);
    let place = desk.dir.path().canonicalize().unwrap().join("sub");
    let fakecli = fakecli();
    let expected = format!(
        "{} argv 'it is' --count 2\ndirectory: {}\nrisk: write\napproval: not needed\n",
        fakecli.display(),
        place.display()
    );
    assert_eq!((status, text), (0, expected));
    let json = desk.json(&["call", "words", "--dry-run", "text=x", "force=true"]);
    assert_eq!(json["argv"], json!([fakecli.display().to_string(), "argv", "x", "--force"]));
    assert_eq!((&json["risk"], &json["needs_approval"]), (&json!("destructive"), &json!(true)));
    let (status, _, _) =
        run(desk.command(&["call", "announce", "--dry-run"]).env("FAKECLI_PIDS", desk.path("started")));
    assert!(status == 0 && !desk.path("started").exists());
}

#[test]
fn dry_run_fails_where_the_call_would() {
    let desk = Desk::new();
    let (status, stdout, _) = desk.run(&["call", "words", "--dry-run", "text=UPPER"]);
    assert!(status == 1 && stdout.starts_with("Policy validation failed:"), "{stdout}");
    assert_eq!(desk.json(&["call", "words", "--dry-run"])["error"]["code"], "invalid_arguments");
}

#[test]
fn arguments_come_from_a_file_or_standard_input() {
    let desk = Desk::new();
    fs::write(desk.path("args.json"), r#"{"text": "from a file", "count": 1}"#).unwrap();
    fs::write(desk.path("list.json"), "[]").unwrap();
    let printed = desk.run(&["call", "words", "--args", "@args.json", "count=2"]);
    assert_eq!(printed, (0, "<from a file>\n<--count>\n<2>\n".into(), String::new()));
    let mut child = desk.command(&["call", "words", "--args", "-"]);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(br#"{"text": "from input"}"#).unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"<from input>\n");
    for (args, message) in [
        ("@absent.json", "--args: cannot read absent.json: No such file"),
        ("@list.json", "--args takes a JSON object, such as '{\"max_count\": 3}', and list.json is another value"),
        ("-", "standard input is not JSON: EOF"),
        ("{", "--args takes a JSON object, and the given text is not JSON: EOF"),
    ] {
        let (status, stdout, stderr) = desk.run(&["call", "words", "--args", args]);
        assert!(status == 2 && stdout.is_empty() && stderr.contains(message), "{args}: {stderr}");
    }
}

#[test]
fn interrupted_call_ends_with_the_status_of_the_signal() {
    let desk = Desk::new();
    for (signal, expected) in [(rustix::process::Signal::INT, 130), (rustix::process::Signal::TERM, 143)] {
        let file = desk.path("started");
        let _ = fs::remove_file(&file);
        let mut child = desk.command(&["call", "announce"]);
        let mut child = child.env("FAKECLI_PIDS", &file).stdout(Stdio::null()).spawn().unwrap();
        until("the program to start", || !announced(&file).is_empty());
        let id = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        rustix::process::kill_process(id, signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(expected));
    }
}
