//! Extended mode: pages, descriptions, examples.

use serde_json::{Value, json};

use crate::support::{Server, fake_config, text};

fn parsed(result: &Value) -> Value {
    assert_eq!(result["isError"], false, "{result}");
    serde_json::from_str(text(result)).unwrap()
}

#[test]
fn extended_mode_lists_five_tools_and_the_default_mode_two() {
    let list = |args: &[&str]| {
        let answer = Server::start(args).request("tools/list", json!({}));
        let tools = answer["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        list(&["--extended"]),
        ["climax_search", "climax_call", "climax_describe", "climax_examples", "climax_chain"]
    );
    assert_eq!(list(&[]), ["climax_search", "climax_call"]);
}

#[test]
fn pages_cover_all_results_once() {
    let mut server = Server::start(&["--extended", "git"]);
    let mut names: Vec<String> = Vec::new();
    let mut arguments = json!({ "query": "", "limit": 20, "detail": "brief" });
    loop {
        let page = parsed(&server.tool("climax_search", arguments.clone()));
        names.extend(
            page["results"].as_array().unwrap().iter().map(|tool| tool["tool_name"].as_str().unwrap().to_owned()),
        );
        assert!(page["results"][0].get("input_schema").is_none());
        if page["next_cursor"].is_null() {
            assert_eq!(page["total"], names.len());
            break;
        }
        arguments["cursor"] = page["next_cursor"].clone();
    }
    let unique: std::collections::HashSet<_> = names.iter().collect();
    assert_eq!((unique.len(), names.len() > 50), (names.len(), true));

    let mut page = |arguments: Value| parsed(&server.tool("climax_search", arguments));
    let first = page(json!({ "query": "", "limit": 1, "offset": 3 }));
    let second = page(json!({ "query": "", "limit": 1, "offset": 2, "cursor": first["next_cursor"] }));
    assert_eq!(
        (&first["results"][0]["tool_name"], &second["results"][0]["tool_name"]),
        (&json!(names[3]), &json!(names[6]))
    );
}

#[test]
fn cursors_are_valid_for_their_search_and_catalog_also_after_a_restart() {
    let mut server = Server::start(&["--extended", "git"]);
    let page = parsed(&server.tool("climax_search", json!({ "query": "commit", "limit": 1 })));
    let cursor = page["next_cursor"].as_str().unwrap().to_owned();
    let again = json!({ "query": "commit", "limit": 1, "cursor": cursor });
    let mut other = Server::start(&["--extended", "git"]);
    assert_eq!(
        parsed(&server.tool("climax_search", again.clone())),
        parsed(&other.tool("climax_search", again.clone()))
    );
    let code = |server: &mut Server, arguments: Value| {
        let answer = server.request("tools/call", json!({ "name": "climax_search", "arguments": arguments }));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        answer["error"]["data"]["code"].as_str().unwrap().to_owned()
    };
    let mut garbled = cursor.clone().into_bytes();
    garbled[3] ^= 1;
    for text in ["", "zzz", "ä", &String::from_utf8(garbled).unwrap(), &cursor[1..]] {
        assert_eq!(
            code(&mut server, json!({ "query": "commit", "limit": 1, "cursor": text })),
            "invalid_cursor",
            "{text}"
        );
    }
    assert_eq!(code(&mut server, json!({ "query": "branch", "cursor": cursor })), "invalid_cursor");
    assert_eq!(code(&mut server, json!({ "cursor": cursor })), "invalid_cursor");
    let mut changed = Server::start(&["--extended", "git", "jq"]);
    assert_eq!(code(&mut changed, again), "stale_cursor");
}

#[test]
fn unmatched_words_are_named() {
    let mut server = Server::start(&["--extended"]);
    let page = parsed(&server.tool("climax_search", json!({ "query": "list the zorblax pods" })));
    assert_eq!(page["unmatched_words"], json!(["zorblax"]));
    assert_eq!(page["catalog_digest"].as_str().unwrap().len(), 64);
}

#[test]
fn unknown_names_have_errors_beside_the_descriptions_of_others() {
    let mut server = Server::start(&["--extended", "git"]);
    let described =
        parsed(&server.tool("climax_describe", json!({ "tools": ["git_log", "git_lgo"], "detail": "full" })));
    let log = &described["tools"][0];
    assert_eq!((&log["risk"], &log["installed"], &log["argv"][0]), (&json!("read"), &json!(true), &json!("git")));
    assert!(log["input_schema"]["properties"].is_object() && log["timeout_seconds"].is_number());
    assert_eq!(described["tools"][1]["error"]["suggestions"][0], "git_log");
    let summary = parsed(&server.tool("climax_describe", json!({ "tools": "git_log", "detail": "summary" })));
    assert!(summary["tools"][0].get("input_schema").is_none());
    for arguments in [
        json!({}),
        json!({ "tools": [] }),
        json!({ "tools": vec!["x"; 11] }),
        json!({ "tools": ["git_log"], "detail": "all" }),
    ] {
        let rejected = server.tool("climax_describe", arguments);
        assert!(text(&rejected).starts_with("Argument validation failed:"), "{rejected}");
    }
}

#[test]
fn examples_are_calls_that_succeed() {
    let tools = "  - {name: show, description: x, command: argv, args: [{name: n, type: integer, required: true}, {name: e, enum: [a, b]}]}\n";
    let file = tempfile::Builder::new().suffix(".yaml").tempfile().unwrap();
    std::fs::write(file.path(), fake_config(tools)).unwrap();
    let mut server = Server::start(&["--extended", "--config", file.path().to_str().unwrap()]);
    let result = parsed(&server.tool("climax_examples", json!({ "tool_name": "show" })));
    let examples = result["examples"].as_array().unwrap().clone();
    assert_eq!(examples.len(), 2);
    for example in examples {
        assert_eq!(server.tool("climax_call", example)["isError"], false);
    }
    let unknown = server.tool("climax_examples", json!({ "tool_name": "shwo" }));
    assert_eq!(
        (text(&unknown), unknown["structuredContent"]["error"]["code"].as_str()),
        ("Unknown tool: shwo\nDid you mean:\n  - show", Some("unknown_tool"))
    );
}
