//! Unknown arguments: which are refused, and where those that are ignored are named.

use climax::mcp::Surface;
use serde_json::{Value, json};

use crate::client::{Client, unrestricted};
use crate::support::{climax, fake_config, index, run, text};

const TOOLS: &str = "
  - {name: put, description: Puts words, command: argv, risk: write, args: [{name: word, positional: true}, {name: max_count, type: integer}]}
  - {name: ask, description: Asks, command: argv, risk: read, args: [{name: secret}], ask: [{name: s, message: Which?, args: [secret]}]}
";

async fn open(surface: Surface) -> Client {
    Client::open(unrestricted(index(&fake_config(TOOLS))), surface, json!({})).await
}

async fn refusal(arguments: Value) -> String {
    let result = open(Surface::default()).await.tool("climax_call", arguments.clone()).await;
    assert_eq!(result["isError"], true, "{arguments}");
    let text = text(&result).strip_prefix("Argument validation failed:\n  - ").unwrap_or_default().to_owned();
    assert_eq!(result["structuredContent"]["error"]["details"][0]["message"], text.lines().next().unwrap());
    text
}

#[tokio::test]
async fn arguments_beside_args_are_refused() {
    for (arguments, expected) in [
        (json!({ "args": {}, "max_count": 3 }), "Unknown argument 'max_count': did you mean 'args.max_count'?"),
        (
            json!({ "args": { "word": "a" }, "max_count": 3 }),
            "Unknown argument 'max_count': did you mean 'args.max_count'?",
        ),
        (json!({ "max_count": 3 }), "Unknown argument 'max_count': did you mean 'args.max_count'?"),
        (json!({ "reason": "because" }), "Unknown argument 'reason': did you mean 'args.reason'?"),
        (json!({ "parameters": { "word": "a" } }), "Unknown argument 'parameters': did you mean 'args'?"),
        (json!({ "args": {}, "arguments": { "word": "a" } }), "Unknown argument 'arguments': did you mean 'args'?"),
        (json!({ "args": { "word": "a" }, "max_cuont": 3 }), "Unknown argument 'max_cuont': did you mean 'max_count'?"),
    ] {
        let mut request = json!({ "tool_name": "put" });
        request.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
        assert_eq!(refusal(request.clone()).await, expected, "{request}");
    }
}

#[tokio::test]
async fn near_misses_and_impossible_dry_runs_are_refused() {
    let refused = async |args: Value| refusal(json!({ "tool_name": "put", "args": args })).await;
    assert_eq!(refused(json!({ "max_cuont": 3 })).await, "Unknown argument 'max_cuont': did you mean 'max_count'?");
    let no_dry_run = "Unknown argument 'dry_run': the tool has no dry run, so nothing was run";
    assert_eq!(refused(json!({ "dry_run": true })).await, no_dry_run);
}

#[tokio::test]
async fn results_name_the_arguments_that_were_ignored() {
    let arguments = json!({ "word": "a", "zebra": 1, "yak": null });
    let mut classic = open(Surface::Classic).await;
    let direct = classic.tool("put", arguments.clone()).await;
    assert_eq!((text(&direct), &direct["_meta"]), ("<a>", &json!({ "climax/ignored": ["zebra"] })));
    let mut client = open(Surface::default()).await;
    assert_eq!(client.tool("climax_call", json!({ "tool_name": "put", "args": arguments })).await, direct);
    let beside = json!({ "tool_name": "put", "args": { "word": "a" }, "zebra": "x" });
    assert_eq!(client.tool("climax_call", beside).await, direct);
    let many: serde_json::Map<_, _> = (0..100).map(|number| (format!("unknown{number}"), json!(1))).collect();
    let named = classic.tool("put", many.into()).await["_meta"]["climax/ignored"].as_array().unwrap().len();
    assert_eq!(named, 32);
    assert!(classic.tool("put", json!({ "word": "a" })).await.get("_meta").is_none());
}

/// Otherwise an agent could find out which args the user is asked for.
#[tokio::test]
async fn args_of_forms_are_named_as_ignored_like_any_unknown_name() {
    let result = open(Surface::Classic).await.tool("ask", json!({ "secret": "x", "zebra": 1 })).await;
    assert_eq!(result["_meta"]["climax/ignored"], json!(["secret", "zebra"]));
}

#[test]
fn climax_call_warns_of_arguments_that_it_ignores() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fake.yaml");
    std::fs::write(&path, fake_config(TOOLS)).unwrap();
    let call = |args: &[&str]| run(climax().args(["call", "--config"]).arg(&path).args(args));
    let warning = "climax: ignored, because `put` has no such arguments: `zebra`, `yak`\n";
    assert_eq!(call(&["put", "word=a", "zebra=1", "yak=2"]), (0, "<a>\n".to_owned(), warning.to_owned()));
    assert_eq!(call(&["ask", "secret=x"]).2, "");
}
