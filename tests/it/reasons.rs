//! Reasons and remedies that are true: near misses that would be accepted, and all mistakes of a policy at once.

use climax::catalog::{Layer, ToolIndex};
use serde_json::{Value, json};

use crate::client::{Client, meta, unrestricted};
use crate::support::{climax, run};

fn bundled() -> ToolIndex {
    ToolIndex::from_configs(vec![Layer::compiled(&climax::CATALOG)])
}

#[tokio::test]
async fn near_misses_of_lines_would_be_accepted() {
    let mut client = Client::open(unrestricted(bundled()), meta(&["run"]), json!({})).await;
    for (line, near) in [
        ("qpdf -n x f", None),
        ("julia '{print $1}' f", None),
        ("gti log", Some("git")),
        ("gti log --grpah", Some("git")),
        ("git log --grpah", Some("--graph")),
        ("git log --max-cuont=3", Some("--max-count")),
        ("git comit -m x", Some("commit")),
    ] {
        let result = client.tool("climax_run", json!({ "command": line })).await;
        let remedy = result["structuredContent"]["error"]["details"][0]["remedy"].as_str().unwrap();
        match near {
            Some(near) => assert!(remedy.starts_with(&format!("did you mean `{near}`")), "{line}: {remedy}"),
            None => assert!(!remedy.contains("did you mean"), "{line}: {remedy}"),
        }
    }
}

#[test]
fn unknown_options_of_call_are_shown_as_arguments() {
    let complaint = |words: &[&str]| run(climax().args(["call", "git_log"]).args(words));
    for (option, pair) in [("--max-count=3", "`max_count=3`"), ("--oneline", "`oneline=VALUE`")] {
        let (status, _, stderr) = complaint(&[option]);
        assert!(status == 2 && stderr.contains(pair) && !stderr.contains("--max-output"), "{stderr}");
    }
    let (_, _, stderr) = complaint(&["--jsno"]);
    assert!(stderr.contains("--json"), "{stderr}");
}

#[test]
fn all_mistakes_of_a_policy_come_together() {
    let directory = tempfile::tempdir().unwrap();
    let policy = directory.path().join("policy.yaml");
    std::fs::write(
        &policy,
        "defualt: enabled\ntools:\n  git_lgo: {}\n  git_log: {args: {max_cuont: {max: 5}, path: {pattern: '['}}}\n  \
         git_psuh: 5\ndeny: [gh_nothing_like_it]\nprompts: [nothing]\n",
    )
    .unwrap();
    let server = climax().args(["run", "git", "--policy"]).arg(&policy).output().unwrap();
    let stderr = String::from_utf8(server.stderr).unwrap();
    let (status, _, found) = run(climax().args(["validate", "--policy"]).arg(&policy));
    assert_eq!((server.status.code(), status), (Some(1), 1), "{stderr}");
    for expected in [
        "defualt",
        "git_lgo",
        "max_cuont",
        "git_psuh",
        "gh_nothing_like_it",
        "nothing",
        "bad-pattern",
        "did you mean `git_log`",
    ] {
        assert!(found.contains(expected), "validate: {expected}: {found}");
        assert!(stderr.contains(expected), "run: {expected}: {stderr}");
    }
    let json = run(climax().args(["validate", "--json", "--policy"]).arg(&policy)).1;
    let json: Value = serde_json::from_str(&json).unwrap();
    let diagnostics = json["diagnostics"].as_array().unwrap();
    assert!(diagnostics.iter().all(|one| one["severity"] == "error"), "names are errors here: {json}");
}
