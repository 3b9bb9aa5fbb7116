//! Typed results: the JSON that programs print, as `structuredContent`.

use serde_json::{Value, json};

use crate::support::{Server, climax, fake_config, run, text};

const TOOLS: &str = r"
  - &json
    name: value
    description: Prints JSON
    command: exit
    exit_codes: {4: some are missing}
    args: [{name: code, positional: true, required: true}, {name: text, positional: true}]
    output: {mime: application/json, schema: {type: array, items: {type: object, required: [name], properties: {name: {type: string}}}}}
  - {<<: *json, name: lines, output: {mime: application/x-ndjson, schema: {type: integer}}}
  - {<<: *json, name: any, output: {mime: application/json}}
  - {name: large, description: Prints much, command: flood 9000000, output: {mime: application/json}}
  - {name: image, description: Prints a picture, command: exit 0 picture, output: {mime: image/png}}
";

fn server(options: &[&str]) -> (tempfile::NamedTempFile, Server) {
    let file = tempfile::Builder::new().suffix(".yaml").tempfile().unwrap();
    std::fs::write(file.path(), fake_config(TOOLS)).unwrap();
    let path = file.path().display().to_string();
    let server = Server::start(&[&["--config", &path], options].concat());
    (file, server)
}

fn value(server: &mut Server, tool: &str, code: &str, printed: &str) -> Value {
    server.call(tool, json!({ "code": code, "text": printed }))
}

#[test]
fn json_is_structured_content() {
    let (_file, mut server) = server(&[]);
    let result = value(&mut server, "value", "0", r#"[{"name": "a\u001b[31m\u202e"}]"#);
    assert_eq!(text(&result), r#"[{"name": "a\u001b[31m\u202e"}]"#);
    assert_eq!(result["structuredContent"], json!({ "json": [{ "name": "a\\u{202e}" }], "exit_code": 0 }));
    let answer = value(&mut server, "value", "4", "[]");
    assert_eq!(text(&answer), "[]\n\n[exit code: 4, some are missing]");
    assert_eq!(answer["structuredContent"], json!({ "json": [], "exit_code": 4, "answer": "some are missing" }));
    let lines = value(&mut server, "lines", "0", "1\n\n2\n");
    assert_eq!(lines["structuredContent"], json!({ "json": [1, 2], "exit_code": 0 }));
    let nothing = value(&mut server, "any", "0", "");
    assert_eq!((text(&nothing), &nothing["structuredContent"]), ("(no output)", &json!({ "exit_code": 0 })));
    let failure = value(&mut server, "any", "3", "{}");
    assert_eq!(failure["structuredContent"]["error"]["details"][0]["stdout"], "{}");
}

#[test]
fn output_without_a_value_stays_text_and_says_why() {
    let (_file, mut server) = server(&[]);
    for (tool, printed, reason) in [
        ("any", "no JSON", "standard output is not JSON: expected ident at line 1 column 2"),
        ("lines", "1\n{", "line 2 of standard output is not JSON: EOF while parsing an object at line 1 column 1"),
        ("lines", "1\n1.5", "standard output does not match its schema: /1: expected integer, found number"),
        ("value", "[{}]", "standard output does not match its schema: /0: expected a member `name`"),
    ] {
        let result = value(&mut server, tool, "0", printed);
        assert_eq!(text(&result), format!("{printed}\n\n[{reason}]"));
        let expected = json!({ "exit_code": 0, "output": printed, "reason": reason });
        assert_eq!(result["structuredContent"], expected);
        assert_eq!(result["isError"], false);
    }
    let large = server.call("large", json!({}));
    assert!(text(&large).ends_with("[standard output has 9000000 bytes; JSON is parsed up to 8 MiB]"));
    assert!(large["structuredContent"]["output"].as_str().unwrap().len() < 300_000);
}

#[test]
fn value_is_parsed_before_the_text_is_cut() {
    let (_file, mut server) = server(&["--max-output", "100"]);
    let printed = format!("[1,{}2]", " ".repeat(1000));
    let result = value(&mut server, "any", "0", &printed);
    assert!(text(&result).contains("bytes omitted"), "{result}");
    assert_eq!(result["structuredContent"], json!({ "json": [1, 2], "exit_code": 0 }));
}

#[test]
fn structures_are_no_longer_than_texts() {
    let (_file, mut server) = server(&["--max-output", "100"]);
    let result = value(&mut server, "any", "0", &json!("x".repeat(100_000)).to_string());
    let reason = "[the JSON has 100002 bytes and a result shows 100, so there is no JSON value here: ask for less, or read \
                  the stored output]";
    assert!(text(&result).ends_with(reason), "{result}");
    let structure = &result["structuredContent"];
    assert!(structure["json"].is_null() && structure["output"].as_str().unwrap().len() < 200, "{result}");
}

#[test]
fn integers_that_clients_would_round_are_no_numbers() {
    let (_file, mut server) = server(&[]);
    let json = |result: &Value| result["structuredContent"]["json"].clone();
    let exact = value(&mut server, "any", "0", r#"{"id": 9007199254740993, "n": [9007199254740991, -1e99, 0.5]}"#);
    assert_eq!(json(&exact)["id"], "9007199254740993");
    assert_eq!(json(&exact)["n"][0], 9_007_199_254_740_991_u64);
    assert!(json(&exact)["n"][1].is_number(), "{exact}");
    let huge = value(&mut server, "any", "0", "123456789012345678901234567890");
    assert_eq!(json(&huge), "123456789012345678901234567890");
    // The schema wants an integer, which it could not be.
    let out = value(&mut server, "lines", "0", "1\n9007199254740993");
    let reason = "there is no JSON value here, since clients would round 9007199254740993, an integer beyond 2^53";
    assert_eq!(text(&out), format!("1\n9007199254740993\n\n[{reason}]"));
    assert_eq!(out["structuredContent"], json!({ "exit_code": 0, "output": "1\n9007199254740993", "reason": reason }));
}

#[test]
fn schemas_are_published_in_classic_mode() {
    let (_file, mut server) = server(&["--classic", "coreutils"]);
    server.initialize("2025-06-18");
    let tools = server.request("tools/list", json!({}))["result"]["tools"].clone();
    let schema = |name: &str| {
        let tool = tools.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
        tool["outputSchema"].clone()
    };
    let items = json!({ "type": "object", "required": ["name"], "properties": { "name": { "type": "string" } } });
    assert_eq!(schema("value")["properties"]["json"], json!({ "type": "array", "items": items }));
    assert_eq!(schema("lines")["properties"]["json"], json!({ "type": "array", "items": { "type": "integer" } }));
    assert_eq!(schema("any"), Value::Null);
}

#[test]
fn json_of_a_call_on_the_command_line_has_values_and_media() {
    let (file, _server) = server(&[]);
    let call = |words: &[&str]| {
        let config = file.path().display().to_string();
        let (code, stdout, _) = run(climax().args(["call", "--json", "--config", &config]).args(words));
        assert_eq!(code, 0);
        serde_json::from_str::<Value>(&stdout).unwrap()
    };
    assert_eq!(call(&["any", "code=0", "text={\"a\": 1}"])["structured_content"]["json"], json!({ "a": 1 }));
    assert_eq!(call(&["image"])["media"], json!([{ "mime": "image/png", "bytes": 7, "base64": "cGljdHVyZQ==" }]));
}
