//! The index against its contract (`docs/contract.md`, "Tool index"), and against a naive search.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use climax_catalog::{Catalog, Filter, Layer, Source, ToolIndex, compile_over};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

const GIT: &str = r"
name: git-tools
description: MCP tools for Git
command: git
category: vcs
tags: [version-control, Commits]
tools:
  - {name: git_status, description: Show the working tree status}
  - name: git_commit
    description: Record changes
    args: [{name: message, required: true, description: Commit message}]
";
const DOCKER: &str = r"
command: docker
category: Containers
tools:
  - {name: docker_ps, description: List containers}
  - {name: docker_commit, description: Create an image from a container's changes. Straße}
";

fn catalog(files: &[(&str, &str)]) -> Catalog {
    let sources: Vec<_> =
        files.iter().map(|(path, text)| Source::new(path, text.as_bytes().to_vec()).unwrap()).collect();
    compile_over(&sources, &|_| false).unwrap().catalog
}

fn index(layers: &[&[(&str, &str)]]) -> ToolIndex {
    ToolIndex::from_configs(layers.iter().map(|files| Layer::loaded(catalog(files))).collect())
}

fn names(index: &ToolIndex, filter: Filter<'_>, limit: usize) -> Vec<String> {
    index.search(filter, limit).iter().map(|entry| entry.tool_name().to_owned()).collect()
}

fn query(text: &str) -> Filter<'_> {
    Filter { query: Some(text), ..Filter::default() }
}

fn both() -> ToolIndex {
    index(&[&[("git.yaml", GIT), ("docker.yaml", DOCKER)]])
}

#[test]
fn query_matches_every_field_case_insensitively() {
    let index = both();
    assert_eq!(names(&index, query("COMMIT"), 10), ["git_status", "git_commit", "docker_commit"]);
    assert_eq!(names(&index, query("working tree"), 10), ["git_status"]);
    assert_eq!(names(&index, query("git-tools"), 10), ["git_status", "git_commit"]);
    assert_eq!(names(&index, query("containers"), 10), ["docker_ps", "docker_commit"]);
    assert_eq!(names(&index, query("STRASSE"), 10), Vec::<String>::new());
    assert_eq!(names(&index, query("straße"), 10), ["docker_commit"]);
}

#[test]
fn query_is_literal_text_within_one_field() {
    let index = both();
    assert_eq!(names(&index, query(".*"), 10), Vec::<String>::new());
    assert_eq!(names(&index, query("git_status show"), 10), Vec::<String>::new());
    assert_eq!(names(&index, query("git_status\0show"), 10), Vec::<String>::new());
    assert_eq!(names(&index, query("\0"), 10), Vec::<String>::new());
}

#[test]
fn all_filters_must_match() {
    let index = both();
    let filter = Filter { query: Some("commit"), category: Some("VCS"), cli: None };
    assert_eq!(names(&index, filter, 10), ["git_status", "git_commit"]);
    assert_eq!(names(&index, Filter { cli: Some("DOCKER"), ..filter }, 10), Vec::<String>::new());
    assert_eq!(names(&index, Filter { cli: Some("GIT-tools"), ..Filter::default() }, 1), ["git_status"]);
    assert_eq!(names(&index, Filter { cli: Some("git"), ..Filter::default() }, 1), Vec::<String>::new());
    assert_eq!(names(&index, Filter { category: Some(""), ..Filter::default() }, 9), Vec::<String>::new());
}

#[test]
fn search_respects_the_limit_and_without_filter_returns_all() {
    let index = both();
    assert_eq!(names(&index, Filter::default(), 3).len(), 3);
    assert_eq!(names(&index, Filter::default(), 0).len(), 0);
    assert_eq!(names(&index, query(""), 10).len(), 4);
}

#[test]
fn entry_has_the_keys_of_the_contract() {
    let index = both();
    let commit = index.get("git_commit").unwrap().entry();
    let expected = concat!(
        r#"{"tool_name":"git_commit","description":"Record changes","cli_name":"git-tools","category":"vcs","#,
        r#""tags":["version-control","Commits"],"input_schema":{"type":"object","properties":{"message":{"type":"string","#,
        r#""description":"Commit message"}},"required":["message"]}}"#
    );
    assert_eq!(commit.as_json(), expected);
    assert!(expected.contains(commit.input_schema()) && commit.input_schema().ends_with(r#"["message"]}"#));
    assert_eq!(commit.tags().collect::<Vec<_>>(), ["version-control", "Commits"]);
    let plain = catalog(&[("x.yaml", "command: x\ntools: [{name: x, description: X}]")]);
    let index = ToolIndex::from_configs(vec![Layer::loaded(plain)]);
    let entry = index.get("x").unwrap().entry();
    assert!(entry.as_json().contains(r#""cli_name":"x","category":null,"tags":[],"#));
    assert_eq!(entry.input_schema(), r#"{"type":"object","properties":{}}"#);
}

#[test]
fn later_layer_replaces_tools_of_the_same_name() {
    let over = "command: other\ntools: [{name: git_status, description: Mine}, {name: new, description: New}]";
    let index = index(&[&[("git.yaml", GIT), ("docker.yaml", DOCKER)], &[("over.yaml", over)]]);
    assert_eq!(names(&index, query(""), 10), ["git_commit", "docker_ps", "docker_commit", "git_status", "new"]);
    assert_eq!(names(&index, query("working tree"), 10), Vec::<String>::new());
    assert_eq!(index.get("git_status").unwrap().description(), "Mine");
    let counts: Vec<_> = index.summary().map(|s| (s.cli.name().to_owned(), s.tool_count)).collect();
    assert_eq!(counts, [("git-tools".to_owned(), 1), ("docker".to_owned(), 2), ("over".to_owned(), 2)]);
}

#[test]
fn selection_serves_only_its_clis_in_its_order() {
    let layer = || Layer::loaded(catalog(&[("git.yaml", GIT), ("docker.yaml", DOCKER)]));
    let index = ToolIndex::from_configs(vec![layer().only(vec![1])]);
    assert_eq!(names(&index, query(""), 10), ["docker_ps", "docker_commit"]);
    assert!(index.get("git_commit").is_none());
    assert_eq!(index.summary().count(), 1);
    let index = ToolIndex::from_configs(vec![layer().only(vec![1, 0])]);
    assert_eq!(names(&index, query("commit"), 10), ["docker_commit", "git_status", "git_commit"]);
}

#[test]
fn promised_risk_is_the_highest_of_served_tools() {
    let risky =
        "command: x\ntools: [{name: a, description: A, risk: destructive}, {name: b, description: B, risk: write}]";
    let tame = "command: y\ntools: [{name: a, description: A, risk: read}]";
    let unwritten = "command: y\ntools: [{name: a, description: A}]";
    let of = |layers: &[&[(&str, &str)]]| index(layers).promised_risk().as_str();
    assert_eq!(of(&[&[("x.yaml", risky)]]), "destructive");
    assert_eq!(of(&[&[("x.yaml", risky)], &[("y.yaml", tame)]]), "write");
    assert_eq!(of(&[&[("y.yaml", tame)]]), "read");
    assert_eq!(of(&[&[("y.yaml", unwritten)]]), "write");
}

#[test]
fn unselected_tool_replaces_no_other() {
    let first = Layer::loaded(catalog(&[("a.yaml", "command: a\ntools: [{name: same, description: First}]")]));
    let second =
        catalog(&[("b.yaml", "command: b\ntools: [{name: same, description: Second}]"), ("docker.yaml", DOCKER)]);
    let index = ToolIndex::from_configs(vec![first, Layer::loaded(second).only(vec![1])]);
    assert_eq!(index.get("same").unwrap().description(), "First");
}

/// Keeps the seeds of failures. proptest looks for a place beside `lib.rs` or `main.rs`, and there is none here.
fn config() -> ProptestConfig {
    let seeds = FileFailurePersistence::Direct("tests/proptest-regressions/index.txt");
    ProptestConfig { failure_persistence: Some(Box::new(seeds)), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn search_agrees_with_a_naive_search(
        fields in prop::collection::vec(("[a-c_]{1,6}", "[a-cÄ ]{1,8}x", prop::collection::vec("[a-c]{0,3}", 0..3)), 1..8),
        wanted in "[a-cÄ_]{0,3}",
    ) {
        let mut files = Vec::new();
        for (at, (name, description, tags)) in fields.iter().enumerate() {
            files.push((format!("{at}.yaml"), format!("name: cli\ncommand: x\ntags: {tags:?}\ntools: [{{name: \"{at}{name}\", description: \"{description}\"}}]")));
        }
        let borrowed: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let index = index(&[&borrowed]);
        let wanted = wanted.to_lowercase();
        let expected: Vec<String> = fields.iter().enumerate().filter(|(at, (name, description, tags))| {
            let name = format!("{at}{name}");
            [&name, description, &"cli".to_owned()].into_iter().chain(tags).any(|field| field.to_lowercase().contains(&wanted))
        }).map(|(at, (name, ..))| format!("{at}{name}")).collect();
        prop_assert_eq!(names(&index, query(&wanted), 100), expected);
    }
}

#[test]
fn prompts_and_resources_follow_the_served_tools() {
    let first = "command: a\ntools: [{name: t, description: T, risk: read, resource: 'a:t'}]\n\
                 prompts: [{name: p, description: P, messages: [{tool: t}]}]\n";
    let asking =
        "command: b\ntools: [{name: t, description: T, args: [{name: x}], ask: [{name: q, message: M, args: [x]}]}]\n";
    let moved = "command: b\ntools: [{name: t, description: T, risk: read, resource: 'a:t'}]\n";
    let bare = "command: c\ntools: []\nprompts: [{name: bare, description: B, messages: [B]}]\n";
    let prompts = |index: &ToolIndex| index.prompts().iter().map(|prompt| prompt.name.clone()).collect::<Vec<_>>();
    let uris =
        |index: &ToolIndex| index.resources().filter_map(|tool| tool.resource().map(str::to_owned)).collect::<Vec<_>>();

    let alone = index(&[&[("a.yaml", first), ("c.yaml", bare)]]);
    assert_eq!((prompts(&alone), uris(&alone)), (vec!["p".into(), "bare".into()], vec!["a:t".into()]));
    // A prompt is served only with the tool that it was written for.
    let replaced = index(&[&[("a.yaml", first)], &[("b.yaml", asking)]]);
    assert_eq!((prompts(&replaced), uris(&replaced)), (vec![], Vec::<String>::new()));
    // A tool that replaces another may have the same URI, in one catalog or over another.
    for layers in [&[&[("a.yaml", first), ("b.yaml", moved)][..]][..], &[&[("a.yaml", first)], &[("b.yaml", moved)]]] {
        let both = index(layers);
        assert_eq!(both.resource("a:t").unwrap().0.cli().name(), "b");
        assert_eq!(uris(&both).len(), 1);
    }
}
