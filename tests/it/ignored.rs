//! Unknown arguments: which are refused, and where those that are ignored are named.

use climax::mcp::Surface;
use serde_json::{Value, json};

use crate::client::{Client, meta, unrestricted};
use crate::support::{climax, fake_config, index, run, text};

const TOOLS: &str = "
  - {name: put, description: Puts words, command: argv, risk: write, args: [{name: word, positional: true}, {name: max_count, type: integer}]}
  - {name: plain, description: Prints, command: exit 0 ok, risk: read}
  - {name: fail, description: Fails, command: exit 3 no}
  - {name: typed, description: Prints JSON, command: 'exit 0 {}', risk: read, output: {mime: application/json}}
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
    // Without it, the program would do its work elsewhere.
    let no_directory = "Unknown argument 'cwd': the tool takes no directory to run in; give absolute paths";
    assert_eq!(refused(json!({ "cwd": "/elsewhere" })).await, no_directory);
    let other_name = refusal(json!({ "toolName": "put" })).await;
    assert!(other_name.contains("Unknown argument 'toolName': did you mean 'tool_name'?"), "{other_name}");
}

#[tokio::test]
async fn lines_do_not_run_without_what_their_arguments_say() {
    for (name, meant) in [
        ("workdir", "cwd"),
        ("working_directory", "cwd"),
        ("CWD", "cwd"),
        ("input", "stdin"),
        ("timeout_ms", "timeout"),
        ("stdinn", "stdin"),
    ] {
        let mut client = open(meta(&["search", "call", "run"])).await;
        let result = client.tool("climax_run", json!({ "command": "true", name: "/elsewhere" })).await;
        let said = text(&result).to_owned();
        let expected = format!("Unknown argument '{name}': did you mean '{meant}'?");
        assert!(result["isError"] == true && said.contains(&expected), "{said}");
    }
}

#[tokio::test]
async fn results_name_the_arguments_that_were_ignored() {
    let arguments = json!({ "word": "a", "zebra": 1, "yak": null });
    let mut classic = open(Surface::Classic).await;
    let direct = classic.tool("put", arguments.clone()).await;
    assert_eq!(text(&direct), "<a>\n\n[ignored: 'zebra' is no argument of put]");
    assert_eq!(direct["_meta"], json!({ "climax/ignored": ["zebra"] }));
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

#[tokio::test]
async fn structures_name_the_arguments_that_were_ignored() {
    let mut client = open(Surface::Classic).await;
    let failed = client.tool("fail", json!({ "zebra": 1, "yak": 2 })).await;
    assert_eq!(text(&failed), "no\n\n[exit code: 3]\n\n[ignored: 'zebra', 'yak' are no arguments of fail]");
    let details = &failed["structuredContent"]["error"]["details"];
    assert_eq!(details[1], json!({ "ignored": ["'zebra', 'yak' are no arguments of fail"] }));
    let typed = client.tool("typed", json!({ "zebra": 1 })).await;
    assert_eq!(typed["structuredContent"]["ignored"], json!(["'zebra' is no argument of typed"]));
    // What is refused is not ignored.
    let refused = client.tool("put", json!({ "max_cuont": 1, "zebra": 1 })).await;
    assert_eq!(refused["_meta"]["climax/ignored"], json!(["zebra"]));
}

#[tokio::test]
async fn every_way_to_call_names_what_it_ignores() {
    let tools = ["call", "read", "run", "chain"];
    let mut client = Client::open(unrestricted(index(&fake_config(TOOLS))), meta(&tools), json!({})).await;
    let call = json!({ "tool_name": "typed", "args": { "zebra": 1 } });
    let own = "'zebra' is no argument of typed";
    for (tool, arguments, expected, names) in [
        ("climax_call", call.clone(), own, json!(["zebra"])),
        ("climax_read", call.clone(), own, json!(["zebra"])),
        ("climax_chain", json!({ "steps": [call, call, { "tool_name": "put" }] }), own, json!(["zebra"])),
        (
            "climax_run",
            json!({ "command": format!("{} exit 0 ok", crate::support::fakecli().display()), "zebra": 5 }),
            "'zebra' is no argument of climax_run",
            json!(["zebra"]),
        ),
    ] {
        let result = client.tool(tool, arguments).await;
        assert_ne!(result["isError"], true, "{result}");
        assert!(text(&result).ends_with(&format!("\n\n[ignored: {expected}]")), "{tool}: {result}");
        assert_eq!(result["_meta"]["climax/ignored"], names, "{tool}");
    }
}

#[test]
fn climax_call_refuses_arguments_that_the_tool_does_not_have() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fake.yaml");
    std::fs::write(&path, fake_config(TOOLS)).unwrap();
    let call = |args: &[&str]| run(climax().args(["call", "--config"]).arg(&path).args(args));
    let (status, stdout, _) = call(&["put", "word=a", "zebra=1", "max_cuont=2"]);
    let expected = "Argument validation failed:\n  - Unknown argument 'max_cuont': did you mean 'max_count'?\n  \
                    - Unknown argument 'zebra': the tool has word, max_count\n";
    assert_eq!((status, stdout.as_str()), (1, expected));
    let (status, stdout, _) = call(&["--dry-run", "fail", "zebra=1"]);
    assert!(status == 1 && stdout.contains("Unknown argument 'zebra': the tool has no arguments"), "{stdout}");
    assert_eq!(call(&["put", "word=a"]), (0, "<a>\n".to_owned(), String::new()));
    assert_eq!(call(&["ask", "secret=x"]).2, "");
}
