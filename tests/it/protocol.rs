//! The protocol, from JSON-RPC requests to responses, over an in-memory pipe.

use climax::call::Toolbox;
use climax::mcp::Surface;
use climax::mcp::decode::MAX_LINE_BYTES;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use crate::client::{Client, MODERN, initialize, modern_meta, unrestricted};
use crate::support::{fake_config, index};

fn toolbox() -> Toolbox {
    let tools = "  - {name: t, description: Prints its words, command: argv, args: [{name: word, positional: true}]}\n  \
                 - {name: w, description: Writes, command: argv, risk: write}\n";
    unrestricted(index(&fake_config(tools)))
}

fn connect(surface: Surface) -> Client {
    Client::connect(toolbox(), surface)
}

async fn open(surface: Surface) -> Client {
    Client::open(toolbox(), surface, json!({})).await
}

#[tokio::test]
async fn initialize_negotiates_the_revision() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = connect(Surface::default());
        let answer = client.ask(1, "initialize", &initialize(revision)).await;
        assert_eq!(answer["result"]["protocolVersion"], revision);
        assert_eq!(answer["result"]["serverInfo"]["name"], "climax");
        let list = client.ask(2, "tools/list", &json!({})).await;
        assert_eq!(list["result"].as_object().unwrap().keys().collect::<Vec<_>>(), ["tools"]);
    }
    let mut client = connect(Surface::default());
    let answer = client.ask(1, "initialize", &initialize("2099-01-01")).await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
}

#[tokio::test]
async fn revision_2026_07_28_needs_no_initialize() {
    let mut client = connect(Surface::default());
    let discovered = client.ask(1, "server/discover", &json!({ "_meta": modern_meta() })).await;
    assert!(discovered["result"]["supportedVersions"].as_array().unwrap().contains(&json!(MODERN)), "{discovered}");
    let list = client.ask(2, "tools/list", &json!({ "_meta": modern_meta() })).await;
    let result = &list["result"];
    assert_eq!((&result["resultType"], &result["cacheScope"]), (&json!("complete"), &json!("private")));
    assert!(result["ttlMs"].as_u64().unwrap() > 0);
    let arguments = json!({ "tool_name": "t", "args": { "word": "hello" } });
    let called = client
        .ask(3, "tools/call", &json!({ "_meta": modern_meta(), "name": "climax_call", "arguments": arguments }))
        .await;
    assert_eq!(called["result"]["content"][0]["text"], "<hello>");
    let wrong = json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2031-01-01", "io.modelcontextprotocol/clientCapabilities": {},
    }});
    let rejected = client.ask(4, "tools/list", &wrong).await;
    assert_eq!(rejected["error"]["code"], -32022);
    let rejected = client.ask(5, "initialize", &json!({ "_meta": modern_meta() })).await;
    assert_eq!(rejected["error"]["code"], -32601);
}

#[tokio::test]
async fn default_mode_lists_the_two_meta_tools() {
    let list = open(Surface::default()).await.ask(1, "tools/list", &json!({})).await;
    insta::assert_snapshot!(serde_json::to_string_pretty(&list["result"]["tools"]).unwrap());
}

#[tokio::test]
async fn classic_mode_lists_every_tool_and_no_meta_tool() {
    let mut client = open(Surface::Classic).await;
    let list = client.ask(1, "tools/list", &json!({})).await;
    insta::assert_snapshot!(serde_json::to_string_pretty(&list["result"]["tools"]).unwrap());
    let answer = client.ask(2, "tools/call", &json!({ "name": "climax_call", "arguments": {} })).await;
    assert_eq!(
        (&answer["error"]["code"], &answer["error"]["message"]),
        (&json!(-32602), &json!("Unknown tool: climax_call"))
    );
    assert_eq!(client.tool("t", json!({ "word": "direct" })).await["content"][0]["text"], "<direct>");
}

#[tokio::test]
async fn default_mode_rejects_direct_calls() {
    let mut client = open(Surface::default()).await;
    let answer = client.ask(1, "tools/call", &json!({ "name": "t" })).await;
    assert_eq!((&answer["error"]["code"], &answer["error"]["message"]), (&json!(-32602), &json!("Unknown tool: t")));
}

#[tokio::test]
async fn invalid_meta_tool_arguments_are_tool_errors() {
    let mut client = open(Surface::default()).await;
    let mut results = Vec::new();
    for (tool, arguments) in [
        ("climax_call", json!({})),
        ("climax_call", json!({ "tool_name": ["t"], "args": "[1]" })),
        ("climax_call", json!({ "tool_name": "t", "args": 5 })),
        ("climax_call", json!({ "tool_name": "tt" })),
        ("climax_call", json!({ "tool_name": "t", "args": { "wrod": 1, "word": ["a"] } })),
        ("climax_search", json!({ "limit": "ten", "query": {} })),
    ] {
        let result = client.tool(tool, arguments.clone()).await;
        assert_eq!(result["isError"], true, "{arguments}");
        results.push(format!(
            "{tool} {arguments}\n{}\n{}",
            result["content"][0]["text"].as_str().unwrap(),
            result["structuredContent"]
        ));
    }
    insta::assert_snapshot!(results.join("\n\n"));
}

#[tokio::test]
async fn nested_arguments_can_be_a_json_string() {
    let mut client = open(Surface::default()).await;
    let result = client.tool("climax_call", json!({ "tool_name": "t", "args": "{\"word\": \"hi\"}" })).await;
    assert_eq!(result["content"][0]["text"], "<hi>");
}

#[tokio::test]
async fn numbers_of_any_size_are_read_in_any_place() {
    let mut client = Client::open(
        unrestricted(index(&fake_config(
            "  - name: t\n    description: Prints\n    command: argv\n    args:\n      \
             - {name: word, positional: true}\n      - {name: count, type: integer, flag: -c}\n",
        ))),
        Surface::default(),
        json!({}),
    )
    .await;
    let digits = "9".repeat(400);
    for number in ["9223372036854775808", "18446744073709551616", "123456789012345678901234567890", &digits] {
        let mut call = async |params: &str| {
            let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{params}}}}}"#);
            let answer = client.exchange(&line).await;
            answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
        };
        let run = |rest: &str| format!(r#""name":"climax_call","arguments":{{"tool_name":"t","args":{{{rest}}}}}"#);
        let word = call(&run(&format!(r#""word":{number}"#))).await;
        assert_eq!(word, format!("<{number}>"));
        for ignored in [format!(r#""x":{number}"#), format!(r#""x":[{{"y":-{number}}}]"#)] {
            assert_eq!(call(&format!(r#"{},"_meta":{{{ignored}}}"#, run(r#""word":"w""#))).await, "<w>");
            assert_eq!(call(&format!("{},{ignored}", run(r#""word":"w""#))).await, "<w>");
        }
        let refused = call(&run(&format!(r#""count":{number}"#))).await;
        assert!(
            refused.starts_with("Argument validation failed:\n  - Argument 'count': cannot convert '"),
            "{refused}"
        );
        assert!(refused.contains(&number[..18]) && refused.len() < 320, "{refused}");
        let search =
            |sign: &str| format!(r#""name":"climax_search","arguments":{{"cli":"fake","limit":{sign}{number}}}"#);
        assert!(call(&search("")).await.contains("\"tool_name\":\"t\""));
        assert!(call(&search("-")).await.contains("\"results\":[]"));
    }
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","x":1e400,"params":{"_meta":{"y":123456789012345678901234567890}}}"#;
    assert!(client.exchange(list).await["result"]["tools"].is_array());
}

#[tokio::test]
async fn lone_surrogates_are_replacement_characters() {
    let mut client = open(Surface::default()).await;
    for (word, read) in [
        (r"\ud800", "\u{fffd}"),
        (r"a\uDC00b", "a\u{fffd}b"),
        (r"\udc00\ud800", "\u{fffd}\u{fffd}"),
        (r"\ud83d\ude00", "\u{1f600}"),
    ] {
        let call = |arguments: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":"{word}","method":"tools/call","params":{{"_meta":{{"{word}":"{word}"}},"name":"climax_call","arguments":{arguments}}}}}"#
            )
        };
        let nested = format!(r#"{{"word":"{word}","{word}":1}}"#);
        for args in [nested.clone(), json!(nested).to_string()] {
            let answer = client.exchange(&call(&format!(r#"{{"tool_name":"t","args":{args}}}"#))).await;
            let expected = format!("<{read}>\n\n[ignored: '{read}' is no argument of t]");
            assert_eq!(answer["result"]["content"][0]["text"], expected, "{answer}");
            assert_eq!(answer["id"], read);
        }
    }
}

#[tokio::test]
async fn search_results_have_the_form_of_the_contract() {
    let mut client = open(Surface::default()).await;
    let mut results = Vec::new();
    for arguments in [
        json!({}),
        json!({ "limit": 0 }),
        json!({ "query": "writes" }),
        json!({ "query": "", "limit": "1" }),
        json!({ "query": "nothing like it" }),
        json!({ "cli": "FAKE", "limit": -5 }),
        json!({ "query": null, "category": null }),
    ] {
        let result = client.tool("climax_search", arguments.clone()).await;
        assert_eq!(result["isError"], false, "{arguments}");
        results.push(format!("{arguments}\n{}", result["content"][0]["text"].as_str().unwrap()));
    }
    insta::assert_snapshot!(results.join("\n"));
}

#[tokio::test]
async fn malformed_lines_get_error_responses() {
    let mut client = open(Surface::default()).await;
    let mut results = Vec::new();
    for line in [
        "{not json",
        "[]",
        "5",
        r#"{"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":2}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"no/such/method"}"#,
        r#"{"jsonrpc":"2.0","id":4,"method":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":5}}"#,
        r#"{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"t","arguments":[]}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":8,"method":"initialize","params":{}}"#,
    ] {
        results.push(format!("{line}\n{}", client.exchange(line).await));
    }
    let long = "x".repeat(MAX_LINE_BYTES + 1);
    results.push(format!("a line of {} bytes\n{}", long.len(), client.exchange(&long).await));
    client.send("").await;
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":5}"#).await;
    client.send(r#"{"jsonrpc":"2.0","id":77,"result":5}"#).await;
    client.send(r#"{"jsonrpc":"2.0","id":78,"error":5}"#).await;
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/unheard-of"}"#).await;
    assert_eq!(client.ask(99, "ping", &json!({})).await["result"], json!({}));
    insta::assert_snapshot!(results.join("\n"));
}

#[tokio::test]
async fn requests_before_initialize_are_rejected() {
    let mut client = connect(Surface::default());
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    let early = client.ask(1, "tools/list", &json!({})).await;
    assert_eq!(early["error"]["code"], -32602);
    assert!(early["error"]["message"].as_str().unwrap().contains("initialize first"), "{early}");
    assert_eq!(client.ask(2, "ping", &json!({})).await["result"], json!({}));
    assert!(client.ask(3, "initialize", &initialize("2025-06-18")).await["error"].is_null());
    assert!(client.ask(4, "tools/list", &json!({})).await["error"].is_null());
}

#[tokio::test]
async fn clients_can_retry_after_an_unsupported_revision() {
    let mut client = connect(Surface::default());
    for version in ["2099-01-01", MODERN] {
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": version });
        assert!(client.ask(1, "tools/list", &json!({ "_meta": meta })).await["error"].is_object());
        client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#).await;
        client.send(r#"{"jsonrpc":"2.0","id":3,"result":{}}"#).await;
    }
    assert!(client.ask(2, "tools/list", &json!({ "_meta": modern_meta() })).await["error"].is_null());
}

#[tokio::test]
async fn errors_before_initialize_are_sent_before_the_end_of_input() {
    let mut client = connect(Surface::default());
    client.send("garbage").await;
    client.input.shutdown().await.unwrap();
    assert_eq!(client.receive().await["error"]["code"], -32700);
    client.task.await.unwrap().unwrap();
}

#[tokio::test]
async fn methods_without_a_capability_are_not_found() {
    let mut client = open(Surface::default()).await;
    for method in ["prompts/list", "completion/complete"] {
        assert_eq!(client.ask(1, method, &json!({})).await["error"]["code"], -32601, "{method}");
    }
    assert_eq!(client.ask(1, "tools/list", &json!({ "cursor": "x" })).await["error"]["code"], -32602);
}

#[tokio::test]
async fn the_last_line_needs_no_newline_and_the_server_ends_with_its_input() {
    let mut client = open(Surface::default()).await;
    client.input.write_all(br#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#).await.unwrap();
    client.input.shutdown().await.unwrap();
    assert_eq!(client.receive().await["id"], 5);
    assert!(client.output.next_line().await.unwrap().is_none());
    client.task.await.unwrap().unwrap();
}
