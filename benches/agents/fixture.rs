//! The repository and the files that the tasks are about. Each run makes the same.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Commits, besides the first one.
const COMMITS: usize = 40;

/// Makes everything in an empty directory.
pub(crate) fn make(root: &Path) {
    for directory in ["src/parser", "docs"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    for (name, text) in files() {
        fs::write(root.join(name), text).unwrap();
    }
    git(root, 0, &["init", "--quiet", "--initial-branch", "main"]);
    commit(root, 0, "Start");
    for number in 1..=COMMITS {
        let name = SOURCES[number * 7 % SOURCES.len()];
        let path = root.join(if number % 9 == 0 { "docs/guide.md" } else { name });
        let mut text = fs::read_to_string(&path).unwrap();
        writeln!(text, "// change {number}{}", " and more".repeat(number % 5)).unwrap();
        fs::write(path, text).unwrap();
        let verb = if number % 4 == 0 { "fix" } else { "extend" };
        commit(root, number, &format!("{verb} part {number}"));
    }
    git(root, 0, &["branch", "next"]);
    git(root, 0, &["branch", "old"]);
}

const SOURCES: [&str; 12] = [
    "src/main.rs",
    "src/lib.rs",
    "src/config.rs",
    "src/server.rs",
    "src/client.rs",
    "src/error.rs",
    "src/log.rs",
    "src/time.rs",
    "src/parser/mod.rs",
    "src/parser/lexer.rs",
    "src/parser/tree.rs",
    "src/parser/text.rs",
];

/// Paths and texts.
fn files() -> Vec<(String, String)> {
    let mut files = vec![
        (
            "sales.csv".to_owned(),
            rows(200, |at| format!("{at},{},{}", pick(at, &["north", "south", "east", "west"]), mixed(at) % 10_000)),
        ),
        ("access.log".to_owned(), rows(400, request)),
        ("first.txt".to_owned(), rows(60, |at| format!("word{:03}", at * 2))),
        ("second.txt".to_owned(), rows(60, |at| format!("word{:03}", at * 3))),
        (
            "docs/guide.md".to_owned(),
            rows(80, |at| format!("{} line {at} of the guide", pick(mixed(at), &["The", "A", "Every", "No", "Each"]))),
        ),
        ("config.toml".to_owned(), "[server]\nport = 8080\n".to_owned()),
        (
            "users.json".to_owned(),
            json(30, |at| {
                let role = pick(mixed(at), &["admin", "editor", "reader"]);
                format!(
                    "{{\"name\": \"user{:02}\", \"role\": \"{role}\", \"email\": \"user{at}@example.org\"}}",
                    mixed(at) % 100
                )
            }),
        ),
        (
            "orders.json".to_owned(),
            json(50, |at| {
                format!("{{\"id\": {at}, \"user\": \"user{:02}\", \"amount\": {}}}", at % 30, mixed(at) % 1_000)
            }),
        ),
    ];
    for (number, name) in SOURCES.iter().enumerate() {
        let mut text = rows(10 + mixed(number) % 60, |at| format!("fn function_{at}() {{}}"));
        if number % 3 == 0 {
            writeln!(text, "// TODO: shorten {name}").unwrap();
        }
        if number % 4 == 0 {
            text.push_str("fn parse() {}\n");
        }
        files.push(((*name).to_owned(), text));
    }
    files
}

/// A line of a web server's log.
fn request(at: usize) -> String {
    let (client, status) = (mixed(at) % 37, pick(mixed(at + 1_000), &["200", "200", "200", "304", "404", "500"]));
    let path = pick(mixed(at + 2_000), &["/", "/index.html", "/api/items", "/login"]);
    format!(
        "10.0.0.{client} - - [01/Jan/2026:10:{:02}:{:02} +0000] \"GET {path} HTTP/1.1\" {status} {}",
        at / 60,
        at % 60,
        at * 13 % 5_000
    )
}

fn rows(count: usize, row: impl Fn(usize) -> String) -> String {
    (0..count).map(|at| row(at) + "\n").collect()
}

fn json(count: usize, item: impl Fn(usize) -> String) -> String {
    let items: Vec<String> = (0..count).map(item).collect();
    format!("[{}]\n", items.join(",\n"))
}

fn pick<'t>(at: usize, texts: &[&'t str]) -> &'t str {
    texts[at % texts.len()]
}

/// A number without visible order.
fn mixed(at: usize) -> usize {
    (at + 1) * 7_919 % 104_729 / 3
}

fn commit(root: &Path, number: usize, message: &str) {
    git(root, number, &["add", "--all"]);
    git(root, number, &["commit", "--quiet", "--message", message]);
}

/// Runs git as one of three authors, at a fixed time.
fn git(root: &Path, number: usize, words: &[&str]) {
    let author = pick(mixed(number), &["Ada", "Ada", "Grace", "Linus"]);
    let date = format!("2026-01-01T{:02}:{:02}:00+00:00", number / 60, number % 60);
    let mut command = Command::new("git");
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), author).env(format!("GIT_{role}_DATE"), &date);
        command.env(format!("GIT_{role}_EMAIL"), "someone@example.org");
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    assert!(command.args(words).current_dir(root).status().unwrap().success(), "git {words:?}");
}
