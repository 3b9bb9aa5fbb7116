//! `climax_chain`, over MCP.

use climax::catalog::{Layer, ToolIndex};
use climax::mcp::Surface;
use serde_json::{Value, json};

use crate::client::{Client, Modern, meta, restricted, unrestricted};
use crate::support::text;

fn bundled() -> ToolIndex {
    ToolIndex::from_configs(vec![Layer::compiled(&climax::CATALOG)])
}

fn surface() -> Surface {
    meta(&["chain"])
}

async fn run(steps: Value) -> Value {
    let mut client = Client::open(unrestricted(bundled()), surface(), json!({})).await;
    client.tool("climax_chain", json!({ "steps": steps })).await
}

fn echo(words: Value) -> Value {
    json!({ "tool_name": "coreutils_echo", "args": { "text": words } })
}

#[tokio::test]
async fn later_steps_take_the_output_of_earlier_ones() {
    let result = run(json!([
        { "tool_name": "coreutils_seq", "args": { "last": 3 } },
        { "tool_name": "coreutils_wc", "args": { "text": { "$from": "/0/stdout" }, "lines": true } },
        echo(json!([{ "$from": "/1/stdout" }, { "$from": "/0/exit_code" }])),
    ]))
    .await;
    assert_eq!(text(&result), "[0 coreutils_seq: exit code 0, 6 bytes]\n[1 coreutils_wc: exit code 0, 2 bytes]\n\n3 0");
    let result = run(json!([echo(json!(r#"{"a": [1, "b"]}"#)), echo(json!({ "$from": "/0/json/a" }))])).await;
    assert!(text(&result).ends_with("\n\n1 b"), "{result}");
    let result = run(json!([
        { "name": "coreutils_printf_run", "arguments": {} },
    ]))
    .await;
    assert_eq!(result["isError"], true, "unknown tools are errors: {result}");
}

#[tokio::test]
async fn values_of_earlier_steps_are_checked_as_all_are() {
    let basename = json!({ "tool_name": "coreutils_basename", "args": { "path": ["/a/-e"] } });
    let result = run(json!([basename, echo(json!({ "$from": "/0/stdout" }))])).await;
    let error = &result["structuredContent"]["error"];
    assert_eq!(error["code"], "invalid_arguments", "{result}");
    assert!(text(&result).contains("'steps[1].args.text[0]': value '-e' would be read as an option"), "{result}");
    assert_eq!(error["details"].as_array().unwrap().last().unwrap()["step"], 1);
}

#[tokio::test]
async fn chains_end_at_the_first_error_and_say_what_was_done() {
    let result = run(json!([
        echo(json!("a")),
        { "tool_name": "coreutils_cat", "args": { "path": ["/nonexistent"] } },
        echo(json!("b")),
        echo(json!("c")),
    ]))
    .await;
    let shown = text(&result);
    assert!(
        shown.starts_with(
            "[0 coreutils_echo: exit code 0, 2 bytes]\na\n\n[1 coreutils_cat: failed; 2 other steps did not run]\n\n"
        ),
        "{shown}"
    );
    let error = &result["structuredContent"]["error"];
    assert_eq!(error["code"], "command_failed");
    let done = error["details"].as_array().unwrap().last().unwrap();
    assert_eq!(
        done["done"],
        json!([{ "tool": "coreutils_echo", "exit_code": 0, "stdout_bytes": 2, "stdout": "a", "stderr": "" }])
    );
}

#[tokio::test]
async fn refused_chains_count_the_steps_that_did_not_run() {
    let bad = json!({ "tool_name": "coreutils_seq", "args": { "last": "many" } });
    for (steps, others) in [
        (json!([bad]), "0 other steps"),
        (json!([echo(json!("a")), bad]), "1 other step"),
        (json!([echo(json!("a")), bad, echo(json!("b"))]), "2 other steps"),
    ] {
        let result = run(steps).await;
        assert!(text(&result).contains(&format!(" coreutils_seq: failed; {others} did not run]\n")), "{result}");
    }
}

#[tokio::test]
async fn references_to_nothing_name_the_step() {
    let result = run(json!([echo(json!("a")), echo(json!({ "$from": "/0/json/x" }))])).await;
    assert!(text(&result).contains("Argument 'steps[1].args': `\"/0/json/x\"` names nothing"), "{result}");
}

#[tokio::test]
async fn every_step_without_references_is_checked_before_the_first_runs() {
    let directory = tempfile::tempdir().unwrap();
    let made = directory.path().join("made");
    let touch = json!({ "tool_name": "coreutils_touch", "args": { "path": [made] } });
    for bad in [
        json!({ "tool_name": "coreutils_nothing" }),
        json!({ "tool_name": "coreutils_seq", "args": { "last": "many" } }),
        json!({ "args": {} }),
        json!("echo"),
        echo(json!({ "$from": "/1/stdout" })),
        echo(json!({ "$from": "/2/stdout" })),
        echo(json!({ "$from": "stdout" })),
        echo(json!({ "$from": 0 })),
        echo(json!({ "$from": "/0/stdout", "x": 1 })),
    ] {
        let result = run(json!([touch, bad])).await;
        assert_eq!(result["isError"], true, "{bad}");
        assert!(!made.exists(), "{bad}");
    }
    for steps in [json!([]), json!("x"), json!({}), json!(vec![touch.clone(); 33])] {
        assert_eq!(run(steps.clone()).await["isError"], true, "{steps}");
        assert!(!made.exists());
    }
    assert_eq!(run(json!([touch])).await["isError"], false);
    assert!(made.exists());
}

#[tokio::test]
async fn a_step_that_was_run_is_not_run_again_for_the_answer() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let log = log.to_str().unwrap();
    let policy =
        "default: enabled\napproval: {global: none, tools: {coreutils_basename: true, coreutils_dirname: true}}\n";
    let append =
        |text: Value| json!({ "tool_name": "coreutils_tee", "args": { "path": [log], "append": true, "text": text } });
    let steps = json!([
        append(json!("one\n")),
        { "tool_name": "coreutils_basename", "args": { "path": ["/a/b"] } },
        append(json!({ "$from": "/1/stdout" })),
        { "tool_name": "coreutils_dirname", "args": { "path": ["/c/d"] } },
        append(json!("last\n")),
    ]);
    let arguments = json!({ "steps": steps });
    let mut client = Modern(Client::connect(restricted(bundled(), policy), surface()));
    let asked = client.call("climax_chain", arguments.clone(), None).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert_eq!(std::fs::read_to_string(log).unwrap(), "one\n");
    // Another chain does not get the results, and the client may ask for this one anew.
    let other = json!({ "steps": [append(json!("other\n")), steps[1]] });
    let refused = client.answer("climax_chain", other, Some(("accept", &asked["requestState"]))).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let second = client.call("climax_chain", arguments.clone(), Some(("accept", &asked["requestState"]))).await;
    assert_eq!(second["resultType"], "input_required", "{second}");
    assert_eq!(std::fs::read_to_string(log).unwrap(), "one\nb\n");
    let replayed = client.answer("climax_chain", arguments.clone(), Some(("accept", &asked["requestState"]))).await;
    assert_eq!(replayed["error"]["code"], -32602, "an answer counts once: {replayed}");
    let done = client.call("climax_chain", arguments.clone(), Some(("accept", &second["requestState"]))).await;
    assert_ne!(done["isError"], true, "{done}");
    assert_eq!(std::fs::read_to_string(log).unwrap(), "one\nb\nlast\n");
    let declined = client.call("climax_chain", arguments.clone(), None).await;
    let declined = client.call("climax_chain", arguments, Some(("decline", &declined["requestState"]))).await;
    assert!(text(&declined).contains("denied by user"), "{declined}");
    assert_eq!(std::fs::read_to_string(log).unwrap(), "one\nb\nlast\none\n");
}
