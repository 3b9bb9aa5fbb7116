//! Published ways around the command rules of agents: none of them is allowed as it was typed.
//!
//! `UPDATE_GOLDEN=1 cargo test --test it bypasses` writes the page with the table again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{assert_page, climax};

const PAGE: &str = "docs/bypasses.md";

/// What no output may hold: a value of `.env`, and of a variable.
const SECRET: &str = "hunter2";

/// A row of `tests/command_lines/bypasses.jsonl`.
struct Row {
    line: String,
    does: String,
    /// Whose rules let it pass.
    product: String,
    /// Where it was published.
    source: String,
    answer: Answer,
    /// Why the rewritten line cannot do the harm.
    held: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    Ask,
    /// Allowed, but not as it was typed.
    Rewritten,
}

impl Row {
    fn read(text: &str) -> Self {
        let mut row: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut take = |key: &str| row[key].take().as_str().map(str::to_owned);
        let held = take("held");
        let [line, does, product, source, answer] = ["line", "does", "product", "source", "answer"]
            .map(|key| take(key).unwrap_or_else(|| panic!("{text}: `{key}` is missing")));
        let answer = match answer.as_str() {
            "ask" => Answer::Ask,
            "rewritten" => Answer::Rewritten,
            _ => panic!("{text}: no such answer"),
        };
        Self { line, does, product, source, answer, held }
    }
}

fn rows() -> Vec<Row> {
    let text = include_str!("../command_lines/bypasses.jsonl");
    text.lines().map(Row::read).collect()
}

/// A project with a secret, programs that are named like others, and a repository whose settings start programs.
fn project(root: &Path) -> PathBuf {
    let path = root.join("project");
    fs::create_dir_all(path.join("src")).unwrap();
    fs::create_dir(root.join("home")).unwrap();
    for (name, text) in [("a", "a=1\n"), ("src/s", "s=1\n"), (".gitattributes", "a diff=evil\n")] {
        fs::write(path.join(name), text).unwrap();
    }
    fs::write(path.join(".env"), format!("TOKEN={SECRET}\n")).unwrap();
    std::os::unix::fs::symlink(".env", path.join("link")).unwrap();
    for name in ["cat", "sed"] {
        fs::write(path.join(name), "#!/bin/sh\ntouch harm\n").unwrap();
        fs::set_permissions(path.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let git = |words: &[&str]| {
        let who = ["-c", "user.name=x", "-c", "user.email=x@example.com"];
        let status = Command::new("git").current_dir(&path).args(who).args(words).status().unwrap();
        assert!(status.success(), "{words:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "a", "src", ".gitattributes"]);
    git(&["commit", "-q", "-m", "first"]);
    git(&["branch", "side"]);
    fs::write(path.join("a"), "a=2\n").unwrap();
    for key in ["core.fsmonitor", "core.pager", "diff.external", "diff.evil.textconv", "diff.evil.command"] {
        git(&["config", key, "touch harm; cat"]);
    }
    git(&["config", "remote.origin.url", "."]);
    git(&["config", "remote.origin.uploadpack", "touch harm; git-upload-pack"]);
    path
}

/// The files below a directory, with what they hold.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// The judgement of each row, by one judge.
fn judgements(rows: &[Row], project: &Path) -> Vec<Value> {
    let mut command = climax();
    command.current_dir(project).args(["check", "-"]).env("HOME", project.with_file_name("home"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let messages: Vec<String> = rows.iter().map(|row| json!({ "line": row.line }).to_string()).collect();
    let messages = messages.join("\n");
    let mut input = child.stdin.take().unwrap();
    // The judge answers while it reads.
    let writer = std::thread::spawn(move || input.write_all(messages.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn published_bypasses_are_asked_about_or_run_where_they_do_no_harm() {
    let rows = rows();
    let root = tempfile::tempdir().unwrap();
    let project = project(root.path());
    let judgements = judgements(&rows, &project);
    assert_eq!(judgements.len(), rows.len());

    let before = files(root.path());
    for (row, judgement) in rows.iter().zip(judgements) {
        let rewritten = judgement["rewritten"].as_str();
        let answer = match (judgement["decision"].as_str().unwrap(), rewritten) {
            ("ask" | "deny", _) => Answer::Ask,
            ("allow", Some(_)) => Answer::Rewritten,
            _ => panic!("{:?} is allowed as it was typed: {judgement}", row.line),
        };
        assert_eq!(answer, row.answer, "{:?}: {judgement}", row.line);
        assert_eq!(row.held.is_some(), answer == Answer::Rewritten, "{:?}", row.line);
        if answer == Answer::Ask {
            continue;
        }

        let mut shell = Command::new("sh");
        shell.current_dir(&project).args(["-c", rewritten.unwrap()]).stdin(Stdio::null());
        shell.env("HOME", root.path().join("home")).env("TOKEN", SECRET);
        let output = shell.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(files(root.path()) == before, "{:?} changes files: {said}", row.line);
        assert!(!said.contains(SECRET), "{:?}: {said}", row.line);
    }
}

#[test]
fn bypasses_page_has_the_rows() {
    let mut rows = rows();
    assert!(rows.iter().all(|row| row.source.starts_with("https://")));
    let count = rows.len();
    rows.sort_by(|one, other| one.line.cmp(&other.line));
    rows.dedup_by(|one, other| one.line == other.line);
    assert_eq!(rows.len(), count, "two rows have the same line");

    let mut page = INTRODUCTION.to_owned();
    for row in self::rows() {
        let Row { line, does, product, source, held, .. } = row;
        let answer = held.map_or_else(|| "asks".to_owned(), |held| format!("rewrites: {held}"));
        let _ = writeln!(page, "| {} | {does} | [{product}]({source}) | {answer} |", code(&line));
    }
    assert_page(PAGE, &page);
}

/// A line as code in a cell of a table. Line breaks are shown, since a cell cannot hold them.
fn code(line: &str) -> String {
    let text = line.replace('\n', "⏎").replace('|', "\\|");
    let fence = if text.contains('`') { "``" } else { "`" };
    let (before, behind) = (pad(text.starts_with('`')), pad(text.ends_with('`')));
    format!("{fence}{before}{text}{behind}{fence}")
}

fn pad(is_needed: bool) -> &'static str {
    if is_needed { " " } else { "" }
}

const INTRODUCTION: &str = "\
# Published bypasses

Agents ask before they run a command, except for commands that a list or a rule lets pass. This page
has lines that such lists and rules let pass although they change, send or print what nobody meant
them to, with where they were published and what `climax check` and `climax hook` answer.

- **asks**: the judge does not allow the line. A hook asks the user, or leaves it to the agent's own
  question ([the contract](contract.md#the-judge) says which).
- **rewrites**: the line is allowed, but another one runs in its place, which cannot do the harm.

`cargo test --test it bypasses` judges each line in a project with a secret, with programs that are
named like `cat` and `sed`, and with a repository whose settings start programs. It runs the
rewritten lines, and fails if a file changes or the secret is printed. It also fails if this page
differs from `tests/command_lines/bypasses.jsonl`.

A report says that the product let such a line pass when it was written; most have been fixed. The
lines here do what the reports describe, with names of this test. `harm` stands for a file that must
not appear, `.env` for a secret, `evil.example` for any host, and ⏎ for a line break. A list of this
kind cannot be complete: it shows which kinds of lines the judge was tried with.

| line | what it does | reported for | climax |
|---|---|---|---|
";
