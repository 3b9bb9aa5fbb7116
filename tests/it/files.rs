//! Result files: files that programs write for their results.

use std::path::Path;

use climax::mcp::Surface;
use serde_json::{Value, json};

use crate::client::{Client, modern_meta, restricted, unrestricted};
use crate::support::{fake_config, index, run, text};

const TOOLS: &str = "
  - name: make
    description: Makes files
    command: make
    risk: write
    args:
      - {name: what, positional: true, required: true}
      - {name: picture, positional: true, output: {mime: image/png, file: chart.png}}
      - {name: table, positional: true, output: {mime: text/csv}}
  - {name: fail, description: Fails, command: exit 3, args: [{name: picture, positional: true, output: {mime: image/png}}]}
";

async fn make(what: &str) -> Value {
    let toolbox = unrestricted(index(&fake_config(TOOLS)));
    let mut client = Client::open(toolbox, Surface::Classic, json!({})).await;
    client.tool("make", json!({ "what": what, "picture": "/tmp/mine.png", "table": 1 })).await
}

/// Returns the path that fakecli received.
fn path(result: &Value) -> &Path {
    let said = result["content"].as_array().unwrap().iter().find_map(|block| block["text"].as_str()).unwrap();
    Path::new(said.lines().next().unwrap().strip_prefix("made ").unwrap_or_else(|| panic!("{result}")))
}

#[tokio::test]
async fn written_file_is_in_the_result_and_removed() {
    let result = make("not really a picture").await;
    let content = result["content"].as_array().unwrap();
    let kinds: Vec<&Value> = content.iter().map(|block| &block["type"]).collect();
    assert_eq!(kinds, ["image", "resource", "text"], "{result}");
    assert_eq!((&content[0]["mimeType"], &content[1]["resource"]["text"]), (&json!("image/png"), &json!("a,b\n")));
    let path = path(&result);
    assert!(path.ends_with("chart.png") && !path.starts_with("/tmp/mine.png"), "{path:?}");
    assert!(!path.parent().unwrap().exists(), "{path:?}");
}

#[tokio::test]
async fn links_and_special_files_are_not_read() {
    for what in ["link", "pipe", "none"] {
        let result = make(what).await;
        let kinds: Vec<&Value> = result["content"].as_array().unwrap().iter().map(|block| &block["type"]).collect();
        assert_eq!(kinds, ["resource", "text"], "{what}: {result}");
        let said = result["content"][1]["text"].as_str().unwrap();
        assert!(said.contains("chart.png was not written"), "{said}");
    }
    let result = make("large").await;
    assert_eq!(result["structuredContent"]["error"]["code"], "output_limit", "{result}");
}

#[tokio::test]
async fn replaced_directory_is_not_read() {
    let tools = "
  - name: make
    description: Makes files
    command: make
    args:
      - {name: what, positional: true}
      - {name: passwd, positional: true, output: {mime: text/plain}}
";
    let mut client = Client::open(unrestricted(index(&fake_config(tools))), Surface::Classic, json!({})).await;
    let result = client.tool("make", json!({ "what": "moved" })).await;
    let content = result["content"].as_array().unwrap();
    assert_eq!(content.len(), 1, "{result}");
    let dir = path(&result).parent().unwrap().to_owned();
    assert!(Path::new("/etc/passwd").exists());
    std::fs::remove_file(&dir).ok();
    std::fs::remove_dir_all(dir.with_extension("away")).unwrap();
}

#[tokio::test]
async fn failed_call_has_no_files() {
    let mut client = Client::open(unrestricted(index(&fake_config(TOOLS))), Surface::Classic, json!({})).await;
    let result = client.tool("fail", json!({})).await;
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(result["content"].as_array().unwrap().len(), 1, "{result}");
}

#[tokio::test]
async fn approval_does_not_depend_on_the_directory_of_files() {
    let toolbox = restricted(index(&fake_config(TOOLS)), "default: enabled\napproval: {global: write}\n");
    let mut client = Client::connect(toolbox, Surface::Classic);
    let mut params = json!({ "name": "make", "arguments": { "what": "x" }, "_meta": modern_meta() });
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": {} });
    let asked = client.ask(1, "tools/call", &params).await["result"].clone();
    params["inputResponses"] = json!({ "approval": { "action": "accept" } });
    params["requestState"] = asked["requestState"].clone();
    let result = client.ask(2, "tools/call", &params).await["result"].clone();
    assert_eq!(result["content"][0]["type"], "image", "{result}");
}

#[test]
fn command_line_prints_or_lists_files() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("fake.yaml");
    std::fs::write(&config, fake_config(TOOLS)).unwrap();
    let mut climax = crate::support::climax();
    let (code, out, _) = run(climax.args(["call", "make", "what=abc", "--config"]).arg(&config));
    assert_eq!(
        (code, out.lines().take(2).collect::<Vec<_>>()),
        (0, vec!["(image/png, 3 bytes)", "(text/csv, 4 bytes)"])
    );
}

#[tokio::test]
async fn agent_cannot_set_the_path_of_files() {
    let index = index(&fake_config(TOOLS));
    let schema: Value = serde_json::from_str(index.get("make").unwrap().input_schema()).unwrap();
    assert_eq!(schema["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), ["what"]);
    let result = make("x").await;
    assert!(text(&json!({ "content": [result["content"][2]] })).starts_with("made /"), "{result}");
}
