//! Reading git tools run no program that a repository names.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{Permissions, create_dir_all, read_dir, remove_file, set_permissions, write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use climax::call::arguments::{Input, bind};
use climax::call::command_line::plan;
use climax::catalog::{Layer, Place, ToolIndex};
use serde_json::{Map, Value, json};

use crate::lines::read_words;
use crate::support::{Server, climax, run, until};

/// The traps: a section and key of a config, whose value is the program of this name.
const TRAPS: [(&str, &str, &str); 24] = [
    ("core", "fsmonitor", "fsmonitor"),
    ("core", "pager", "pager"),
    ("core", "editor", "editor"),
    ("core", "sshCommand", "ssh"),
    ("core", "askPass", "askpass"),
    ("core", "alternateRefsCommand", "alternates"),
    ("diff", "external", "external"),
    ("diff \"evil\"", "textconv", "textconv"),
    ("diff \"evil\"", "command", "command"),
    ("filter \"evil\"", "clean", "clean"),
    ("filter \"evil\"", "smudge", "smudge"),
    ("merge \"evil\"", "driver", "driver"),
    ("gpg", "program", "gpg"),
    ("gpg \"openpgp\"", "program", "openpgp"),
    ("gpg \"x509\"", "program", "x509"),
    ("gpg \"ssh\"", "program", "ssh-keygen"),
    ("gpg \"ssh\"", "defaultKeyCommand", "key"),
    ("remote \"origin\"", "uploadpack", "uploadpack"),
    ("interactive", "diffFilter", "difffilter"),
    ("man \"evil\"", "cmd", "man"),
    ("browser \"evil\"", "cmd", "browser"),
    ("trailer \"evil\"", "command", "trailer"),
    ("pager", "log", "pager"),
    ("alias", "log", "alias"),
];

/// Settings that make git use the traps.
const SETTINGS: &str = "
[log]\n showSignature = true\n diffMerges = remerge
[diff]\n submodule = diff
[status]\n submoduleSummary = true
[gpg \"ssh\"]\n allowedSignersFile = /dev/null
[format]\n pretty = format:%G?
[pretty]\n evil = %G?
[tag]\n sort = signature
[branch]\n sort = signature
[man]\n viewer = evil
[help]\n format = man
[extensions]\n partialClone = origin
[protocol]\n allow = always
[include]\n path = /dev/null
";

const ATTRIBUTES: &str = "* diff=evil filter=evil merge=evil\n";

/// Revisions that traps lie in wait for: signed, merged, and with objects that are not there.
const REVISIONS: [&str; 7] = ["HEAD", "HEAD~1", "merged", "moved", "absent", "absent:absent.txt", "HEAD~1..HEAD"];

/// A directory with repositories that somebody else has written.
pub(crate) struct Hostile {
    root: tempfile::TempDir,
}

impl Hostile {
    pub(crate) fn new() -> Self {
        let hostile = Self { root: tempfile::tempdir().unwrap() };
        for name in ["marks", "programs", "hooks", "source", "repository", "clone"] {
            create_dir_all(hostile.path(name)).unwrap();
        }
        hostile.commit_history();
        hostile.commit_signatures();
        hostile.commit_absent_blob();
        hostile.stop_a_rebase();
        hostile.note_a_commit();
        hostile.git("repository", &["clone", "-q", "--bare", ".", "../bare.git"]);
        hostile.change_files();
        hostile.set_traps(".git", "repository");
        hostile.set_traps(".git/modules/sub", "repository");
        hostile.hide_bare_repository();
        hostile.forget();
        hostile
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn git(&self, directory: &str, words: &[&str]) -> String {
        let mut command = Command::new("git");
        alone(&mut command);
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "a").env(format!("GIT_{who}_EMAIL"), "a@b");
        }
        command.args(["-c", "protocol.file.allow=always"]).args(words).current_dir(self.path(directory));
        let (_, printed, _) = run(&mut command);
        printed.trim().to_owned()
    }

    /// Stores an object of this text and returns its id.
    fn store(&self, kind: &str, text: &str) -> String {
        write(self.path("object"), text).unwrap();
        self.git("repository", &["hash-object", "-t", kind, "-w", "../object"])
    }

    fn commit(&self, file: &str, text: &str) {
        write(self.path("repository").join(file), text).unwrap();
        self.git("repository", &["add", "."]);
        self.git("repository", &["commit", "-qm", text]);
    }

    /// Commits a submodule, a merge with a conflict, a note and a stash.
    fn commit_history(&self) {
        let git = |words: &[&str]| self.git("repository", words);
        self.git("source", &["init", "-qb", "main"]);
        write(self.path("source/s.txt"), "one\n").unwrap();
        self.git("source", &["add", "."]);
        self.git("source", &["commit", "-qm", "source"]);
        git(&["init", "-qb", "main"]);
        self.commit("f.txt", "one\n");
        git(&["submodule", "add", "-q", "../source", "sub"]);
        self.commit("h.txt", "h\n");
        write(self.path("repository/sub/s.txt"), "two\n").unwrap();
        self.git("repository/sub", &["commit", "-qam", "two"]);
        git(&["commit", "-qam", "sub"]);
        git(&["tag", "moved"]);
        git(&["checkout", "-qb", "side"]);
        self.commit("f.txt", "two\n");
        git(&["checkout", "-q", "main"]);
        self.commit("f.txt", "three\n");
        git(&["merge", "-q", "side"]);
        self.commit("f.txt", "four\n");
        git(&["tag", "merged"]);
        git(&["notes", "add", "-m", "note"]);
        write(self.path("repository/f.txt"), "five\n").unwrap();
        git(&["stash"]);
    }

    /// Commits with a signature of each kind.
    fn commit_signatures(&self) {
        let tree = self.git("repository", &["rev-parse", "HEAD^{tree}"]);
        for (kind, first) in [("PGP SIGNATURE", "iQ=="), ("SSH SIGNATURE", "U1NI"), ("SIGNED MESSAGE", "MII=")] {
            let parent = self.git("repository", &["rev-parse", "HEAD"]);
            let commit = format!(
                "tree {tree}\nparent {parent}\nauthor a <a@b> 1700000000 +0000\ncommitter a <a@b> 1700000000 +0000\n\
                 gpgsig -----BEGIN {kind}-----\n \n {first}\n -----END {kind}-----\n\nsigned\n"
            );
            let signed = self.store("commit", &commit);
            self.git("repository", &["reset", "-q", "--hard", &signed]);
        }
    }

    /// Commits a file whose contents only the remote would have.
    fn commit_absent_blob(&self) {
        write(self.path("tree"), format!("100644 blob {}\tabsent.txt\n", "1".repeat(40))).unwrap();
        let mut command = Command::new("git");
        alone(&mut command).args(["mktree", "--missing"]).current_dir(self.path("repository"));
        let tree = command.stdin(std::fs::File::open(self.path("tree")).unwrap()).output().unwrap().stdout;
        let tree = String::from_utf8(tree).unwrap();
        let commit = self.git("repository", &["commit-tree", tree.trim(), "-m", "absent", "-p", "HEAD"]);
        self.git("repository", &["branch", "absent", &commit]);
    }

    /// Leaves the state of a rebase that stopped at a commit.
    fn stop_a_rebase(&self) {
        let stopped = self.git("repository", &["rev-parse", "merged"]);
        let state = self.path("repository/.git/rebase-merge");
        create_dir_all(&state).unwrap();
        let files = [("head-name", "refs/heads/main"), ("onto", &stopped), ("orig-head", &stopped)];
        for (name, text) in files.into_iter().chain([("stopped-sha", stopped.as_str()), ("git-rebase-todo", "")]) {
            write(state.join(name), format!("{text}\n")).unwrap();
        }
        self.git("repository", &["update-ref", "REBASE_HEAD", &stopped]);
    }

    /// Makes the note of a commit another commit, which `git notes show` prints with its patch.
    fn note_a_commit(&self) {
        let noted = self.git("repository", &["rev-parse", "merged"]);
        let bytes = (0..noted.len()).step_by(2).map(|at| u8::from_str_radix(&noted[at..at + 2], 16).unwrap());
        let tree: Vec<u8> = format!("100644 {noted}\0").into_bytes().into_iter().chain(bytes).collect();
        write(self.path("object"), tree).unwrap();
        let tree = self.git("repository", &["hash-object", "-t", "tree", "-w", "--literally", "../object"]);
        let commit = self.git("repository", &["commit-tree", &tree, "-m", "note"]);
        self.git("repository", &["update-ref", "refs/notes/commits", &commit]);
    }

    /// Changes files in the working tree and the index. One keeps its size, so that git has to compare what it holds.
    fn change_files(&self) {
        write(self.path("repository/staged.txt"), "staged\n").unwrap();
        self.git("repository", &["add", "staged.txt"]);
        write(self.path("repository/h.txt"), "k\n").unwrap();
        write(self.path("repository/untracked.txt"), "u\n").unwrap();
    }

    /// Names the traps in the config of a repository.
    fn set_traps(&self, git_directory: &str, repository: &str) {
        let directory = self.path(repository).join(git_directory);
        let mut config = std::fs::read_to_string(directory.join("config")).unwrap();
        for (section, key, name) in TRAPS {
            writeln!(config, "[{section}]\n {key} = {}", self.trap("programs", name).display()).unwrap();
        }
        for hook in ["post-index-change", "post-checkout", "reference-transaction", "pre-auto-gc"] {
            self.trap("hooks", hook);
        }
        writeln!(config, "[core]\n hooksPath = {}", self.path("hooks").display()).unwrap();
        writeln!(config, "[remote \"origin\"]\n url = {}\n promisor = true", self.path("bare.git").display()).unwrap();
        config.push_str(SETTINGS);
        write(directory.join("config"), config).unwrap();
        create_dir_all(directory.join("info")).unwrap();
        write(directory.join("info/attributes"), ATTRIBUTES).unwrap();
    }

    /// Writes a program that leaves a mark.
    pub(crate) fn trap(&self, directory: &str, name: &str) -> PathBuf {
        let path = self.path(directory).join(name);
        write(&path, format!("#!/bin/sh\necho > '{}/{name}'\nexit 1\n", self.path("marks").display())).unwrap();
        set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Hides a bare repository in the directory `docs` of a plain clone. It claims the files of the clone.
    fn hide_bare_repository(&self) {
        self.git("clone", &["init", "-qb", "main"]);
        std::fs::rename(self.path("bare.git"), self.path("clone/docs")).unwrap();
        let config = "[core]\n repositoryformatversion = 0\n bare = false\n worktree = ..\n";
        write(self.path("clone/docs/config"), config).unwrap();
        std::fs::copy(self.path("repository/.git/index"), self.path("clone/docs/index")).unwrap();
        write(self.path("clone/h.txt"), "k\n").unwrap();
        self.set_traps("docs", "clone");
    }

    /// Returns the names of the programs that ran since the last time.
    pub(crate) fn ran(&self) -> Vec<String> {
        let mut names: Vec<_> = read_dir(self.path("marks")).unwrap().map(|entry| entry.unwrap()).collect();
        names.sort_by_key(std::fs::DirEntry::file_name);
        names.into_iter().map(|entry| (remove_file(entry.path()), entry.file_name()).1.into_string().unwrap()).collect()
    }

    fn forget(&self) {
        self.ran();
    }
}

/// Keeps the settings of whoever runs the test out of git.
pub(crate) fn alone(command: &mut Command) -> &mut Command {
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null").env("GIT_PAGER", "cat")
}

fn config() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/git.yaml").display().to_string()
}

/// Returns the git tools of risk `read` under these options, as `climax export` prints them.
fn reading_tools(options: &[&str]) -> Vec<Value> {
    let (status, printed, errors) = run(climax().args(["export", "--only", "--config", &config()]).args(options));
    assert_eq!(status, 0, "{errors}");
    let exported: Value = serde_json::from_str(&printed).unwrap();
    exported["tools"].as_array().unwrap().iter().filter(|tool| tool["risk"] == "read").cloned().collect()
}

/// Returns a value for an arg that fits the repositories.
fn value(arg: &Value) -> Value {
    if let Some(first) = arg["enum"].as_array().and_then(|values| values.first()) {
        return first.get("value").unwrap_or(first).clone();
    }
    match (arg["type"].as_str().unwrap(), arg["name"].as_str().unwrap()) {
        ("boolean", _) => json!(true),
        ("integer" | "number", _) => json!(1),
        (_, "format") => json!("%H %G?"),
        (_, "sort") => json!("signature"),
        (_, "path" | "file") => json!("f.txt"),
        (_, "remote" | "repository") => json!("origin"),
        (_, "topic") => json!("log"),
        (_, "attribute") => json!("diff"),
        (_, "range") => json!("HEAD~1...HEAD"),
        _ if arg["place"] == "positional" => json!("HEAD"),
        _ => json!("f.txt"),
    }
}

/// The tools by which settings and options of git itself are tried, which stand before the words of every tool.
const BUSY: [&str; 5] = ["git_log", "git_show", "git_diff", "git_status", "git_grep"];

/// Returns arguments for a tool: those that it requires, then each optional one beside them, each value of an enum,
/// and each revision. Left out are args above risk `read`, and those of git itself in all but the busiest tools.
fn calls(tool: &Value) -> Vec<Map<String, Value>> {
    let is_busy = BUSY.contains(&tool["name"].as_str().unwrap());
    let of_git = |arg: &Value| arg["name"].as_str().unwrap().starts_with("set_");
    let args = tool["args"].as_array().unwrap();
    let required = args.iter().filter(|arg| arg["required"] == true);
    let required: Map<_, _> = required.map(|arg| (arg["name"].as_str().unwrap().to_owned(), value(arg))).collect();
    let with = |name: &Value, value: Value| {
        let mut more = required.clone();
        more.insert(name.as_str().unwrap().to_owned(), value);
        more
    };
    let mut found = vec![required.clone()];
    let optional = args.iter().filter(|arg| arg["place"] != "cwd" && !arg["risk"].is_string());
    let optional = optional.filter(|arg| is_busy || !of_git(arg));
    for arg in optional {
        let name = &arg["name"];
        for choice in arg["enum"].as_array().unwrap() {
            let choice = choice.get("value").unwrap_or(choice);
            let risk = arg["risk"].get(choice.as_str().unwrap_or_default()).unwrap_or(&arg["risk"]["else"]);
            if risk.is_null() || risk == "read" {
                found.push(with(name, choice.clone()));
            }
        }
        if arg["enum"].as_array().unwrap().is_empty() {
            found.push(with(name, value(arg)));
        }
        if matches!(name.as_str().unwrap(), "revision" | "object" | "commit" | "ref" | "branch") {
            for revision in REVISIONS {
                found.push(with(name, json!(revision)));
                found.extend(args.iter().filter(|other| other["name"] == "patch" || other["name"] == "format").map(
                    |other| {
                        let mut more = with(name, json!(revision));
                        more.insert(other["name"].as_str().unwrap().to_owned(), value(other));
                        more
                    },
                ));
            }
        }
    }
    found
}

#[test]
fn traps_are_set() {
    let hostile = Hostile::new();
    let expected = ["clean", "driver", "command", "fsmonitor", "man", "openpgp", "post-index-change", "ssh-keygen"];
    let expected: BTreeSet<_> = expected.into_iter().chain(["uploadpack", "x509"]).map(str::to_owned).collect();
    let mut sprung = BTreeSet::new();
    // A program cannot start while a process that another test starts still holds it open for writing.
    until("each trap to spring", || {
        for words in [
            "status",
            "diff HEAD",
            "log -p",
            "log -1 merged --diff-merges=remerge",
            "show absent",
            "help log",
            "ls-remote origin",
            "describe --dirty",
        ] {
            hostile.git("repository", &words.split(' ').collect::<Vec<_>>());
            sprung.extend(hostile.ran());
        }
        sprung.is_superset(&expected)
    });
    hostile.git("clone/docs", &["status"]);
    assert!(hostile.ran().contains(&"fsmonitor".to_owned()));
}

/// These start another git, which heeds text converters whatever the first one was told.
#[test]
fn git_commands_that_start_another_git_run_text_converters_and_only_read_in_a_cage() {
    let hostile = Hostile::new();
    let lines = [
        ("git_rebase_show_patch", "rebase --show-current-patch"),
        ("git_notes_show", "notes show merged"),
        ("git_range_diff", "range-diff merged~1..merged merged~2..merged"),
    ];
    for (tool, line) in lines {
        until(&format!("{line} to run a trap"), || {
            hostile.git("repository", &line.split(' ').collect::<Vec<_>>());
            hostile.ran().contains(&"textconv".to_owned())
        });
        assert!(reading_tools(&["--confine", "off"]).iter().all(|reading| reading["name"] != tool), "{tool}");
        let caged = |reading: &Value| reading["name"] != tool || reading["needs"]["cage"] == "read";
        assert!(reading_tools(&[]).iter().all(caged), "{tool}");
    }
    until("a submodule to run a trap", || {
        let words = ["show", "--no-textconv", "--no-ext-diff", "--submodule=diff", "moved"];
        hostile.git("repository", &words);
        !hostile.ran().is_empty()
    });
    let offers = |arg: &Value| arg["name"] == "submodule" && arg["enum"].as_array().unwrap().contains(&json!("diff"));
    assert!(reading_tools(&[]).iter().all(|tool| !tool["args"].as_array().unwrap().iter().any(offers)));
}

#[test]
fn reading_git_tools_run_no_program_that_a_repository_names() {
    find_traps(&[]);
}

/// The kernel has no part in it.
#[test]
fn reading_git_tools_run_no_program_that_a_repository_names_without_confinement() {
    find_traps(&["--confine", "off"]);
}

/// Returns the line of a call as somebody types it, which is without the words that the config adds. A tool that has to
/// be given its standard input has no line of one command, and a line that runs what the call runs needs no run of its own.
fn typed(index: &ToolIndex, name: &str, arguments: &Map<String, Value>) -> Option<String> {
    let tool = index.get(name)?;
    if tool.args().any(|arg| arg.place() == Place::Stdin && arg.required()) {
        return None;
    }
    let bound = bind(tool, arguments).ok()?;
    let added: Vec<&str> = tool.cli().always().chain(tool.always()).collect();
    let argv = plan(tool, &bound, &|_| None).argv;
    let words: Vec<&str> = argv.iter().map(String::as_str).filter(|word| !added.contains(word)).collect();
    let read = read_words(index, &words).ok().filter(|reading| reading.tool.name() == name);
    let runs =
        read.and_then(|reading| Some(reading.plan(&reading.bind(Input::Nothing).ok()?, &|_| None, &|_, _| None).argv));
    if runs.is_some_and(|runs| runs == argv) {
        return None;
    }
    Some(words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect::<Vec<_>>().join(" "))
}

fn find_traps(options: &[&str]) {
    let hostile = Hostile::new();
    let index = ToolIndex::from_configs(vec![Layer::compiled(&climax::CATALOG)]);
    let mut command = climax();
    let command =
        alone(&mut command).args(["run", "--only", "--meta", "call,run", "--config", &config()]).args(options);
    let mut server = Server::spawn(command);
    server.initialize("2025-06-18");
    let mut found = Vec::new();
    for tool in reading_tools(options) {
        let name = tool["name"].as_str().unwrap();
        for (number, arguments) in calls(&tool).into_iter().enumerate() {
            let everywhere = ["repository", "clone/docs", "repository/sub"];
            for directory in everywhere.into_iter().take(if number == 0 { 3 } else { 1 }) {
                let mut arguments = arguments.clone();
                arguments.insert("cwd".to_owned(), json!(hostile.path(directory)));
                server.call(name, Value::Object(arguments.clone()));
                found.extend(hostile.ran().into_iter().map(|trap| format!("{name} ran {trap}: {arguments:?}")));
                let Some(line) = typed(&index, name, &arguments) else { continue };
                let reply = server.tool("climax_run", json!({ "command": line, "cwd": hostile.path(directory) }));
                let code = &reply["structuredContent"]["error"]["code"];
                if code == "invalid_arguments" {
                    found.push(format!("{line} is not read: {}", reply["content"][0]["text"]));
                }
                found.extend(hostile.ran().into_iter().map(|trap| format!("{line} ran {trap}")));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
