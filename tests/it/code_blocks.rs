//! The code blocks of the README and the book, run as a reader would run them.
//!
//! The words behind the language of a fence say what happens to the block:
//!
//! | fence | what happens |
//! |---|---|
//! | `sh` | bash runs the block, which must succeed |
//! | `console` | bash runs each line that starts with `$ `; what follows is its output |
//! | `console fails` | the last command must fail, the others succeed |
//! | `sh serves` | runs in the background until the end of the page |
//! | `LANGUAGE file=NAME` | is written to this file first |
//! | `sh by-hand=REASON` | is not run, and counted by its reason |
//!
//! In expected output `…` stands for any text, and a line of its own for any lines. The blocks of a page share a
//! directory and run in their order. `UPDATE_GOLDEN=1` writes the output into the pages.

use std::collections::BTreeMap;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::markdown::{Block, Markdown, blocks, markdown_files};
use crate::support::{binary, until};

/// Blocks that are not run, by reason. A new one is a decision: most blocks can run.
const BY_HAND: [(&str, usize); 4] = [("account", 1), ("build", 5), ("cluster", 1), ("container", 2)];

/// The port of every server in the pages. A free one takes its place.
const PORT: &str = "8080";

/// A directory in which the blocks of one page run.
struct Desk {
    root: tempfile::TempDir,
    port: String,
    servers: Vec<Child>,
}

impl Desk {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for name in ["home", "work"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
        Self { root, port, servers: Vec::new() }
    }

    fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    fn bash(&self, script: &str) -> Command {
        let binary = Path::new(binary()).parent().unwrap();
        let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("bash");
        command.args(["-euo", "pipefail", "-c", &script.replace(PORT, &self.port)]);
        command.env_clear().env("PATH", path).env("HOME", self.root.path().join("home"));
        command.env("NO_COLOR", "1").env("LC_ALL", "C.UTF-8").env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "Ada").env(format!("GIT_{who}_EMAIL"), "ada@example.com");
            command.env(format!("GIT_{who}_DATE"), "2026-01-05T10:00:00Z");
        }
        command.current_dir(self.work()).stdin(Stdio::null());
        command
    }

    /// Runs a script and returns whether it succeeded, and what it printed to both streams.
    fn run(&self, script: &str) -> (bool, String) {
        let output = self.bash(&format!("exec 2>&1\n{script}")).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).replace(&self.port, PORT);
        let text = text.replace(&*self.work().to_string_lossy(), "/home/ada/work");
        (output.status.success(), text.replace(&*self.root.path().join("home").to_string_lossy(), "/home/ada"))
    }

    /// Starts a server and waits until it answers.
    fn serve(&mut self, script: &str) {
        let mut command = self.bash(script);
        self.servers.push(command.process_group(0).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        let address = format!("127.0.0.1:{}", self.port);
        until("the page's server", || TcpStream::connect(&address).is_ok());
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.work().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text.replace(PORT, &self.port)).unwrap();
        let mode = if text.starts_with("#!") { 0o755 } else { 0o644 };
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        for server in &mut self.servers {
            // The group holds bash and the server that it started. The server would wait for open sessions.
            let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", server.id())]).status();
            let _ = server.wait();
        }
    }
}

/// What is wrong with a block, and the text that it should have.
struct Wrong {
    problem: String,
    text: Option<String>,
}

/// Runs a block and compares what it prints.
fn attempt(desk: &mut Desk, block: &Block<'_>) -> Option<Wrong> {
    let text = block.text.as_str();
    if let Some(name) = block.value("file") {
        desk.write(name, text);
        return None;
    }
    match block.language {
        "sh" if block.has("serves") => {
            desk.serve(text);
            None
        }
        "sh" => {
            let (succeeded, said) = desk.run(text);
            (!succeeded).then(|| Wrong { problem: format!("fails with\n{said}"), text: None })
        }
        "console" => dialogue(desk, block),
        _ => None,
    }
}

/// Runs the commands of a `console` block.
fn dialogue(desk: &Desk, block: &Block<'_>) -> Option<Wrong> {
    let mut found = Vec::new();
    let mut problems = Vec::new();
    let exchanges = exchanges(&block.text);
    for (at, Exchange { command, expected }) in exchanges.iter().enumerate() {
        let (succeeded, said) = desk.run(&command.join("\n"));
        let said: Vec<&str> = said.trim_end().lines().map(str::trim_end).filter(|line| !is_progress(line)).collect();
        let (shown, first) = (said.join("\n"), command[0]);
        if succeeded == (block.has("fails") && at + 1 == exchanges.len()) {
            let did = if succeeded { "succeeds" } else { "fails" };
            problems.push(format!("`{first}` {did} with\n{shown}\n"));
        }
        let fits = matches(expected, &said);
        if !fits {
            problems.push(format!("`{first}` prints\n{shown}\n\nand not\n{}\n", expected.join("\n")));
        }
        found.push(format!("$ {}", command.join("\n> ")));
        found.extend((if fits { expected } else { &said }).iter().map(|line| (*line).to_owned()));
    }
    (!problems.is_empty()).then(|| Wrong { problem: problems.join("\n"), text: Some(found.join("\n")) })
}

/// Whether a line says how far an import is, which it does on slow machines alone.
fn is_progress(line: &str) -> bool {
    line.starts_with("climax: read the help of ")
}

/// A command of a block, and the lines that it prints.
struct Exchange<'a> {
    command: Vec<&'a str>,
    expected: Vec<&'a str>,
}

/// The commands of a block. A line that starts with `> ` continues a command.
fn exchanges(text: &str) -> Vec<Exchange<'_>> {
    let mut exchanges: Vec<Exchange<'_>> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("$ "), line.strip_prefix("> "), exchanges.last_mut()) {
            (Some(command), ..) => exchanges.push(Exchange { command: vec![command], expected: Vec::new() }),
            (None, Some(more), Some(exchange)) if exchange.expected.is_empty() => exchange.command.push(more),
            (None, _, Some(exchange)) => exchange.expected.push(line),
            (None, _, None) => panic!("a console block starts with {line:?} and not with a command"),
        }
    }
    exchanges
}

/// Whether lines match a pattern, in which `…` stands for lines or for a part of a line.
fn matches(pattern: &[&str], lines: &[&str]) -> bool {
    match pattern {
        [] => lines.is_empty(),
        [first, rest @ ..] if first.trim() == "…" => {
            (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..]))
        }
        [first, rest @ ..] => lines.split_first().is_some_and(|(line, more)| fits(first, line) && matches(rest, more)),
    }
}

/// Whether a line matches a pattern, in which `…` stands for any text.
fn fits(pattern: &str, line: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('…') else { return pattern == line };
    let Some(line) = line.strip_prefix(start) else { return false };
    line.char_indices().map(|(at, _)| at).chain([line.len()]).any(|at| fits(rest, &line[at..]))
}

/// Whether the blocks of this page are run.
fn is_run(page: &Markdown) -> bool {
    page.name == "README.md" || page.name == "SECURITY.md" || page.name.starts_with("docs/")
}

/// Runs the blocks of a page, and returns what is wrong.
fn run_page(page: &Markdown) -> Vec<String> {
    let mut desk = Desk::new();
    let mut problems = Vec::new();
    let mut lines: Vec<String> = page.text.lines().map(str::to_owned).collect();
    // From the end, so that the numbers of lines stay right.
    let mut corrections = Vec::new();
    for block in blocks(&page.text).iter().filter(|block| block.value("by-hand").is_none()) {
        if let Some(Wrong { problem, text }) = attempt(&mut desk, block) {
            problems.push(format!("{}:{}: {problem}", page.name, block.line));
            corrections.extend(text.map(|text| (block.line, block.text.lines().count(), text)));
        }
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() && !corrections.is_empty() {
        for (line, count, text) in corrections.into_iter().rev() {
            lines.splice(line..line + count, text.lines().map(str::to_owned));
        }
        fs::write(&page.path, lines.join("\n") + "\n").unwrap();
    }
    problems
}

#[test]
#[cfg_attr(not(native_linux), ignore = "the pages show what Linux prints")]
fn commands_print_what_is_written_behind_them() {
    let only = std::env::var("PAGE").unwrap_or_default();
    let pages: Vec<Markdown> =
        markdown_files().into_iter().filter(|page| is_run(page) && page.name.contains(&only)).collect();
    let problems: Vec<String> = std::thread::scope(|scope| {
        let running: Vec<_> = pages.iter().map(|page| scope.spawn(|| run_page(page))).collect();
        running.into_iter().flat_map(|page| page.join().unwrap()).collect()
    });
    assert!(problems.is_empty(), "{}\n\n`UPDATE_GOLDEN=1` writes the output into the pages", problems.join("\n\n"));
}

#[test]
fn blocks_that_nobody_runs_are_counted() {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for page in markdown_files().iter().filter(|page| is_run(page)) {
        for block in blocks(&page.text) {
            let is_known = block.words.iter().all(|word| {
                matches!(*word, "fails" | "serves") || word.starts_with("file=") || word.starts_with("by-hand=")
            });
            let place = format!("{}:{}", page.name, block.line);
            assert!(is_known, "{place}: unknown word behind the language: {:?}", block.words);
            let is_checked = block.language != "yaml" || block.value("file").is_some();
            assert!(is_checked, "{place}: give the YAML a name by `file=`, and use it in a command");
            assert!(!["bash", "shell", "zsh"].contains(&block.language), "{place}: commands are `sh` or `console`");
            if let Some(reason) = block.value("by-hand") {
                *found.entry(reason.to_owned()).or_default() += 1;
            }
        }
    }
    let expected: BTreeMap<String, usize> =
        BY_HAND.iter().map(|(reason, count)| ((*reason).to_owned(), *count)).collect();
    assert_eq!(found, expected, "blocks with `by-hand` differ from BY_HAND");
}

#[test]
fn dots_stand_for_text_and_lines() {
    let matches =
        |pattern: &str, text: &str| matches(&pattern.lines().collect::<Vec<_>>(), &text.lines().collect::<Vec<_>>());
    assert!(matches("a\n…\nd", "a\nb\nc\nd") && matches("a\n…", "a") && matches("v… (…)", "v1 (x)"));
    assert!(!matches("a\n…\nd", "a\nb") && !matches("v… b", "v1 c") && !matches("a", "a\nb"));
}
