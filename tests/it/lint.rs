//! `climax validate`: advice, glob patterns, token limits, explanations.

use std::collections::BTreeSet;

use climax::CATALOG;
use climax::catalog::{ArgView, Layer, ResolvedTool, ToolIndex};
use serde_json::Value;

use crate::support::{climax, run};

struct Dir(tempfile::TempDir);

impl Dir {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self(dir)
    }

    fn validate(&self, args: &[&str]) -> (i32, String, String) {
        run(climax().current_dir(self.0.path()).arg("validate").args(args))
    }
}

const FINE: &str = "command: x\ntools: [{name: show, description: Show it}]\n";
const RISKY: &str = "command: x\ntools: [{name: x_delete, description: Delete it, args: [{name: a}]}]\n";

#[test]
fn lint_gives_advice_and_strict_fails_on_it() {
    let dir = Dir::new(&[("a.yaml", RISKY)]);
    assert_eq!(dir.validate(&["a.yaml", "--strict"]), (0, "valid: 1 tool, 0 warnings\n".into(), String::new()));
    let (status, stdout, stderr) = dir.validate(&["a.yaml", "--lint"]);
    assert_eq!((status, stdout.as_str()), (0, "valid: 1 tool, 2 warnings\n"));
    assert!(stderr.contains("warning[lint/missing-risk]") && stderr.contains("a.yaml:2:16"), "{stderr}");
    assert_eq!(dir.validate(&["a.yaml", "--lint", "--strict"]).0, 1);
}

#[test]
fn advice_is_silenced_by_option_and_by_config() {
    let dir = Dir::new(&[
        ("a.yaml", RISKY),
        ("b.yaml", &format!("x-allow: [lint/missing-risk, lint/arg-description]\n{RISKY}")),
    ]);
    let strict = |more: &[&str]| dir.validate(&[&["a.yaml", "--lint", "--strict"], more].concat());
    assert_eq!(strict(&["--allow", "lint/missing-risk"]).0, 1);
    assert_eq!(strict(&["--allow", "lint/missing-risk", "--allow", "lint/arg-description"]).0, 0);
    assert_eq!(dir.validate(&["b.yaml", "--lint", "--strict"]).0, 0);
    let (status, _, stderr) = strict(&["--allow", "lint/mising-risk"]);
    assert_eq!((status, stderr.contains("did you mean `lint/missing-risk`?")), (2, true), "{stderr}");
    let (status, _, stderr) = strict(&["--allow", "syntax"]);
    assert_eq!((status, stderr.contains("errors cannot be left out")), (2, true), "{stderr}");
}

/// The bundled configs serve as examples.
#[test]
fn bundled_configs_have_no_lint_warnings() {
    let (status, stdout, stderr) =
        run(climax().current_dir(env!("CARGO_MANIFEST_DIR")).args(["validate", "--lint", "--strict"]));
    assert_eq!((status, stderr.as_str()), (0, ""), "{stdout}");
}

/// A policy may hide any tool, and a hidden tool leaves no trace.
#[test]
fn no_bundled_description_names_a_tool_of_any_cli() {
    let index = ToolIndex::from_configs(vec![Layer::compiled(&CATALOG)]);
    // Names without `_` could be words: there are none.
    let names: BTreeSet<_> = index.tools().map(ResolvedTool::name).filter(|name| name.contains('_')).collect();
    assert_eq!(names.len(), index.tools().count());
    let mut wrong = Vec::new();
    for tool in index.tools() {
        let of_args = tool.args().map(ArgView::description);
        for text in [tool.description(), tool.cli().description()].into_iter().chain(tool.phrases()).chain(of_args) {
            let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            wrong.extend(words.filter(|word| names.contains(word)).map(|word| format!("{}: {word}", tool.name())));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The words of `always` that change neither risk nor what a pipe could read: a word for what they keep away, a CLI, and
/// its words.
const HARMLESS: &[(&str, &str, &[&str])] = &[
    ("prompt", "cargo", &["--no-confirm"]),
    ("colour", "coreutils", &["--color=never"]),
    ("accident", "coreutils", &["--preserve-root"]),
    ("accident", "coreutils", &["--preserve-root=all"]),
    ("other requests", "curl", &["--globoff"]),
    ("other protocols", "curl", &["--proto", "=http,https"]),
    ("other protocols", "curl", &["--proto-redir", "=http,https"]),
    ("colour", "diff", &["--color=never"]),
    ("terminal", "docker", &["-T"]),
    ("banner", "ffmpeg", &["-hide_banner"]),
    ("prompt", "ffmpeg", &["-nostdin"]),
    ("other protocols", "ffmpeg", &["-protocol_whitelist", "file,http,https,tcp,tls,httpproxy,crypto,data"]),
    ("colour", "gh", &["--color=never"]),
    ("colour", "git", &["--no-color"]),
    ("columns of a terminal", "git", &["--no-column"]),
    ("editor", "git", &["--no-edit"]),
    ("other programs", "git", &["--no-ext-diff"]),
    ("other programs", "git", &["--no-textconv"]),
    ("prompt", "gnupg", &["--batch"]),
    ("prompt", "gnupg", &["--no-tty"]),
    ("processes that stay", "gnupg", &["--no-autostart"]),
    ("other hosts", "gnupg", &["--no-auto-key-retrieve"]),
    ("writes", "gnupg", &["--no-auto-check-trustdb"]),
    ("writes", "gnupg", &["--lock-never"]),
    ("a lock while keys are written", "gnupg", &["--lock-once"]),
    ("colour", "grep", &["--color=never"]),
    ("pager", "journalctl", &["--no-pager"]),
    ("writes", "mysql", &["--init-command=SET SESSION TRANSACTION READ ONLY"]),
    ("files that the server asks for", "mysql", &["--skip-local-infile"]),
    ("pager", "mysql", &["--skip-pager"]),
    ("time to complete names", "mysql", &["--skip-auto-rehash"]),
    ("another session without its settings", "mysql", &["--skip-reconnect"]),
    ("other programs", "psql", &["--no-psqlrc"]),
    ("prompt", "psql", &["--no-password"]),
    ("other programs", "sed", &["--sandbox"]),
    ("other programs", "sqlite3", &["-init", "/dev/null"]),
    ("prompt", "sqlite3", &["-batch"]),
    ("other programs", "sqlite3", &["-safe"]),
    ("writes", "sqlite3", &["-readonly"]),
    ("maps of memory, which there are none of anyway", "sqlite3", &["-mmap", "0"]),
    ("pager", "systemctl", &["--no-pager"]),
    ("a screen that is drawn again", "netadmin", &["--report"]),
    ("writes", "storage", &["--cache-file=/dev/null"]),
    ("prompt", "storage", &["--script"]),
    ("prompt", "systemctl", &["--no-ask-password"]),
    ("a screen that is drawn again", "systemd", &["--batch"]),
    ("other programs", "systemd", &["--man=no"]),
    ("a proxy that a project names", "npm", &["--proxy=null", "--https-proxy=null"]),
    ("other programs", "tar", &["--force-local"]),
    ("a warning about the cage, which makes files read-only", "textutils", &["--read-only=ignore"]),
    ("prompt", "terraform", &["-input=false"]),
    ("colour", "terraform", &["-no-color"]),
    ("a file in the home directory", "wget", &["--no-hsts"]),
];

/// Returns the words that remain when those that are harmless for a CLI are taken from the front, again and again.
fn unknown_words<'a>(cli: &str, words: &'a [&'a str]) -> &'a [&'a str] {
    let known = HARMLESS.iter().find(|(_, of, known)| *of == cli && words.starts_with(known));
    known.map_or(words, |(_, _, known)| unknown_words(cli, &words[known.len()..]))
}

#[test]
fn words_that_every_call_of_a_bundled_tool_has_change_nothing_that_a_pipe_could_read() {
    let index = ToolIndex::from_configs(vec![Layer::compiled(&CATALOG)]);
    let mut wrong = Vec::new();
    for tool in index.tools() {
        let of_config: Vec<_> = tool.cli().always().collect();
        let of_tool: Vec<_> = tool.always().collect();
        for words in [of_config, of_tool] {
            let rest = unknown_words(tool.cli().name(), &words);
            wrong.extend(rest.first().map(|word| format!("{}: {word}", tool.name())));
        }
    }
    assert!(wrong.is_empty(), "make these defaults of args, or say why they are harmless: {wrong:#?}");
}

#[test]
fn every_bundled_tool_has_phrases() {
    let index = ToolIndex::from_configs(vec![Layer::compiled(&CATALOG)]);
    let without: Vec<_> = index.tools().filter(|tool| tool.phrases().len() == 0).map(ResolvedTool::name).collect();
    assert!(without.is_empty(), "no phrase in users' words: {without:?}");
}

#[test]
fn patterns_select_files() {
    let dir = Dir::new(&[
        ("configs/a.yaml", FINE),
        ("configs/below/deep/b.yaml", &FINE.replace("show", "show_b")),
        ("configs/.hidden.yaml", "["),
        ("configs/README.md", "["),
        ("odd[1].yaml", &FINE.replace("show", "show_odd")),
    ]);
    let tools = |pattern: &str| {
        let (status, stdout, stderr) = dir.validate(&["--json", pattern]);
        let found: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"));
        (status, found["tools"].as_u64().unwrap_or(0))
    };
    assert_eq!(tools("configs/**/*.yaml"), (0, 2));
    assert_eq!(tools("configs/*.yaml"), (0, 1));
    assert_eq!(tools("configs/below/*/?.y[am]ml"), (0, 1));
    assert_eq!(tools("odd[1].yaml"), (0, 1), "a file of that name goes before a pattern");
    let (status, _, stderr) = dir.validate(&["configs/a.yaml", "config/**/*.yaml"]);
    assert_eq!((status, stderr.contains("no file matches the pattern")), (1, true), "{stderr}");
    let (status, _, stderr) = dir.validate(&["a**.yaml"]);
    assert_eq!((status, stderr.contains("no pattern of files")), (1, true), "{stderr}");
}

#[test]
fn max_tokens_fails_over_the_limit() {
    let dir = Dir::new(&[("a.yaml", FINE)]);
    let estimate = |args: &[&str]| {
        let (status, _, stderr) = dir.validate(args);
        let text = stderr.split("about ").nth(1).and_then(|rest| rest.split(' ').next());
        (status, text.map(|text| text.parse::<usize>().unwrap()))
    };
    let (status, Some(tokens)) = estimate(&["a.yaml", "--max-tokens", "1"]) else { panic!("no estimate") };
    assert_eq!(status, 1);
    assert!((20..80).contains(&tokens), "{tokens}");
    assert_eq!(estimate(&["a.yaml", "--max-tokens", &tokens.to_string()]), (0, None));
    assert_eq!(estimate(&["a.yaml", "--max-tokens", &(tokens - 1).to_string()]), (1, Some(tokens)));
    let (_, Some(with_jq)) = estimate(&["a.yaml", "jq", "--max-tokens", "1"]) else { panic!("no estimate") };
    assert!(with_jq > 10 * tokens, "{with_jq}");
    let (_, stdout, stderr) = dir.validate(&["git", "--max-tokens", "1"]);
    assert_eq!(stdout, "invalid: 1 error, 0 warnings\n", "and not valid too");
    assert!(stderr.contains("error[over-budget]") && stderr.contains("estimated from"), "{stderr}");
    let number_behind = |words: &str| -> usize {
        let rest = stderr.split(words).nth(1).unwrap_or_else(|| panic!("{words}: {stderr}"));
        rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
    };
    let (whole, part) = (number_behind("takes about "), number_behind("most of them: git "));
    assert!(part <= whole && part > whole * 9 / 10, "{part} of {whole}");
}

#[test]
fn codes_are_explained() {
    let dir = Dir::new(&[]);
    let (status, stdout, stderr) = dir.validate(&["--explain", "lint/missing-risk"]);
    assert_eq!((status, stderr.as_str()), (0, ""));
    insta::assert_snapshot!(stdout);
    assert!(dir.validate(&["--explain", "unknown-key"]).1.contains("An error cannot be silenced."));
    let (status, _, stderr) = dir.validate(&["--explain", "unknwon-key"]);
    assert_eq!((status, stderr.contains("did you mean `unknown-key`?")), (2, true), "{stderr}");
}

#[test]
fn validate_and_run_warn_of_two_files_with_one_cli_name() {
    let dir = Dir::new(&[
        ("git.yaml", "command: git\ntools: [{name: git_extra, description: Show more}]\n"),
        ("more.yaml", "name: git\ncommand: git\ntools: [{name: git_more, description: Show yet more}]\n"),
    ]);
    let (status, _, stderr) = dir.validate(&["."]);
    assert_eq!(status, 0);
    assert!(stderr.contains("warning[duplicate-cli]") && stderr.contains("git.yaml, named after its file"), "{stderr}");
    assert!(stderr.contains("more.yaml:1:7"), "{stderr}");
    let served = run(climax().current_dir(dir.0.path()).args(["--config", ".", "--only"]));
    assert_eq!((served.0, served.2), (0, format!("{stderr}climax: serving 2 tools of git\n")));
}
