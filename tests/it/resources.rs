//! Resources and media: images, audio, links to stored outputs, outputs of tools, subscriptions.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use climax::mcp::{MetaSurface, Surface};
use serde_json::{Value, json};

use crate::client::{Client, modern_meta, restricted, unrestricted};
use crate::support::{self, fake_config};

/// A client of revision 2025-11-25 for these tools of fakecli.
async fn client(tools: &str) -> Client {
    let index = support::index(&fake_config(tools));
    Client::open(unrestricted(index), Surface::Classic, json!({})).await
}

async fn call(client: &mut Client, tool: &str) -> Value {
    client.ask(1, "tools/call", &json!({ "name": tool, "arguments": {} })).await["result"].clone()
}

async fn read(client: &mut Client, uri: &str) -> Value {
    client.ask(2, "resources/read", &json!({ "uri": uri })).await
}

#[tokio::test]
async fn images_and_audio_have_their_own_blocks() {
    let mut client = client(
        "  - {name: picture, description: x, command: bytes, output: {mime: image/png}}\n  \
           - {name: sound, description: x, command: bytes, output: {mime: audio/wav}}\n  \
           - {name: broken, description: x, command: exit 3 sorry, output: {mime: image/png}}\n  \
           - {name: noisy, description: x, command: both, output: {mime: image/png}}\n  \
           - {name: endless, description: x, command: flood 9000000, output: {mime: image/png}}\n",
    )
    .await;
    let data = BASE64_STANDARD.encode(b"a\xff\xfeb\n");
    for (tool, kind, mime) in [("picture", "image", "image/png"), ("sound", "audio", "audio/wav")] {
        let result = call(&mut client, tool).await;
        assert_eq!(result["content"], json!([{ "type": kind, "data": data, "mimeType": mime }]), "{result}");
    }
    let failed = call(&mut client, "broken").await;
    assert_eq!(failed["content"], json!([{ "type": "text", "text": "sorry\n\n[exit code: 3]" }]));
    let noisy = call(&mut client, "noisy").await;
    assert_eq!(noisy["content"][1], json!({ "type": "text", "text": "[stderr]\nerr" }), "{noisy}");
    let endless = call(&mut client, "endless").await;
    assert_eq!(endless["structuredContent"]["error"]["code"], "output_limit", "{endless}");
}

#[tokio::test]
async fn long_outputs_are_stored_and_can_be_read_in_parts() {
    let mut client = client("  - {name: long, description: x, command: flood 1000000}\n").await;
    let result = call(&mut client, "long").await;
    assert!(result["content"][0]["text"].as_str().unwrap().contains("bytes omitted"));
    let link = &result["content"][1];
    assert_eq!((&link["type"], &link["size"]), (&json!("resource_link"), &json!(1_000_000)), "{link}");
    let uri = link["uri"].as_str().unwrap();
    let mut whole = String::new();
    loop {
        let part = read(&mut client, &format!("{uri}?offset={}", whole.len())).await;
        let text = part["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{part}"));
        if text.is_empty() {
            break;
        }
        assert!(text.len() <= 256 << 10);
        whole.push_str(text);
    }
    assert_eq!(whole.len(), 1_000_000);
    let part = read(&mut client, &format!("{uri}?offset=500000&length=10")).await;
    assert_eq!(part["result"]["contents"][0]["text"], whole[500_000..500_010]);
    let wrong = read(&mut client, &format!("{uri}?page=2")).await;
    assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
    assert_eq!(read(&mut client, "climax://output/00").await["error"]["code"], -32002);
}

#[tokio::test]
async fn the_rest_of_a_long_output_is_read_by_a_call() {
    let index = support::index(&fake_config("  - {name: long, description: x, command: flood 100000}\n"));
    let mut client = Client::open(unrestricted(index), Surface::Meta(MetaSurface::default()), json!({})).await;
    let call = json!({ "name": "climax_call", "arguments": { "tool_name": "long" } });
    let result = client.ask(1, "tools/call", &call).await["result"].clone();
    assert!(result["content"][0]["text"].as_str().unwrap().len() < 33 << 10, "32 KiB are shown");
    let hint = result["content"].as_array().unwrap().last().unwrap()["text"].as_str().unwrap();
    assert!(hint.contains(r#"climax_call {"tool_name":"climax_output""#) && hint.contains("100000"), "{hint}");
}

#[tokio::test]
async fn short_outputs_are_not_stored() {
    let mut client = client("  - {name: short, description: x, command: flood 1000}\n").await;
    assert_eq!(call(&mut client, "short").await["content"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn clis_can_be_read() {
    let mut client = client("  - {name: one, description: The first}\n").await;
    let list = client.ask(1, "resources/list", &json!({})).await;
    let uri = "climax://cli/fake";
    assert_eq!(list["result"]["resources"], json!([{ "uri": uri, "name": "fake", "mimeType": "application/json" }]));
    let read = read(&mut client, uri).await;
    let contents: Value = serde_json::from_str(read["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(contents["results"][0]["tool_name"], "one");
    let wrong = client.ask(3, "resources/list", &json!({ "cursor": "7" })).await;
    assert_eq!(wrong["error"]["code"], -32602);
}

#[test]
fn the_command_line_prints_media_as_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fake.yaml");
    let config = fake_config("  - {name: picture, description: x, command: bytes, output: {mime: image/png}}\n");
    std::fs::write(&path, config).unwrap();
    let output = support::climax().args(["call", "picture", "--config"]).arg(&path).output().unwrap();
    assert_eq!(output.stdout, b"a\xff\xfeb\n");
}

const RESOURCES: &str = "
  - {name: status, title: Status, description: The status, command: argv clean, risk: read, resource: 'fake:status'}
  - name: log
    description: A log
    command: argv
    risk: read
    resource: 'fake://{repo}/log'
    args: [{name: repo, required: true, positional: true}, {name: count, type: integer}]
  - name: page
    description: A page
    command: bytes
    output: {mime: application/pdf}
    risk: read
    resource: 'fake:page/{number}'
    args: [{name: number, type: integer, required: true}]
  - {name: broken, description: Fails, command: exit 3 sorry, risk: read, resource: 'fake:broken'}
  - {name: sheet, description: A sheet, command: argv a;b, output: {mime: text/csv}}
  - {name: commit, description: Commits, command: argv, risk: write}
";

#[tokio::test]
async fn outputs_of_tools_can_be_read_by_uri() {
    let mut client = client(RESOURCES).await;
    let list = client.ask(1, "resources/list", &json!({})).await["result"]["resources"].clone();
    let status = json!({ "uri": "fake:status", "name": "status", "title": "Status", "description": "The status", "mimeType": "text/plain" });
    assert_eq!(list[1], status);
    assert_eq!(list.as_array().unwrap().len(), 3, "{list}");
    let templates = client.ask(1, "resources/templates/list", &json!({})).await["result"]["resourceTemplates"].clone();
    assert_eq!(templates[1]["uriTemplate"], "fake://{repo}/log", "{templates}");

    let contents = async |client: &mut Client, uri: &str| read(client, uri).await["result"]["contents"][0].clone();
    let text = |uri: &str, text: &str| json!({ "uri": uri, "mimeType": "text/plain", "text": text });
    assert_eq!(contents(&mut client, "fake:status").await, text("fake:status", "<clean>"));
    let uri = "fake://a%2Fb%20c/log";
    assert_eq!(contents(&mut client, uri).await, text(uri, "<a/b c>"));
    let page = contents(&mut client, "fake:page/7").await;
    assert_eq!(page["blob"], BASE64_STANDARD.encode(b"a\xff\xfeb\n"), "{page}");
}

#[tokio::test]
async fn unreadable_resources_are_errors() {
    let mut client = client(RESOURCES).await;
    for uri in ["fake:nothing", "fake:page/seven", "fake://-rf/log", "fake://a/b/log", "fake://%00/log", "other:status"]
    {
        assert_eq!(read(&mut client, uri).await["error"]["code"], -32002, "{uri}");
    }
    let seven = read(&mut client, "fake:page/seven").await;
    let why = "(Argument 'number': cannot convert 'seven' to integer)";
    assert!(seven["error"]["message"].as_str().unwrap().ends_with(why), "{seven}");
    let broken = read(&mut client, "fake:broken").await;
    assert_eq!(broken["error"]["code"], -32603);
    assert!(broken["error"]["message"].as_str().unwrap().contains("sorry"), "{broken}");
}

#[tokio::test]
async fn other_media_are_embedded_resources() {
    let mut client = client(RESOURCES).await;
    let page = client.tool("page", json!({ "number": 7 })).await["content"][0].clone();
    assert_eq!((&page["type"], &page["resource"]["uri"]), (&json!("resource"), &json!("fake:page/7")), "{page}");
    // Media of a tool without `resource` are stored.
    let sheet = client.tool("sheet", json!({})).await["content"][0].clone();
    assert_eq!(sheet["resource"]["mimeType"], "text/csv", "{sheet}");
    let uri = sheet["resource"]["uri"].as_str().unwrap();
    let again = read(&mut client, uri).await;
    assert_eq!(again["result"]["contents"][0]["text"], sheet["resource"]["text"], "{again}");
}

#[tokio::test]
async fn subscribers_are_notified_when_a_tool_of_the_cli_has_written() {
    let mut client = client(RESOURCES).await;
    for uri in ["fake:status", "climax://cli/fake"] {
        let answer = client.ask(1, "resources/subscribe", &json!({ "uri": uri })).await;
        assert_eq!(answer["result"], json!({}), "{answer}");
    }
    let unknown = client.ask(2, "resources/subscribe", &json!({ "uri": "fake:nothing" })).await;
    assert_eq!(unknown["error"]["code"], -32002);
    client.tool("log", json!({ "repo": "a" })).await;
    assert_eq!(
        client.ask(2, "ping", &json!({})).await["result"],
        json!({}),
        "a call of risk `read` notifies of nothing"
    );
    let call = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "name": "commit" } });
    let mut messages = [client.exchange(&call.to_string()).await, client.receive().await];
    messages.sort_by_key(|message| message["id"].is_null());
    let updated =
        json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": { "uri": "fake:status" } });
    assert_eq!(messages[1], updated);
    client.ask(4, "resources/unsubscribe", &json!({ "uri": "fake:status" })).await;
    client.tool("commit", json!({})).await;
    assert_eq!(client.ask(5, "ping", &json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn listen_acknowledges_the_accepted_filter() {
    let mut client = Client::connect(unrestricted(support::index(&fake_config(RESOURCES))), Surface::Classic);
    let long = format!("fake:page/{}", "7".repeat(10_000));
    let uris = json!(["fake:nothing", "fake:status", long, "fake:status", "climax://cli/fake"]);
    let filter = json!({ "toolsListChanged": true, "resourceSubscriptions": uris });
    let params = json!({ "notifications": filter, "_meta": modern_meta() });
    let listen = json!({ "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params });
    let acknowledged = client.exchange(&listen.to_string()).await;
    let accepted = &acknowledged["params"]["notifications"];
    let expected = json!(["fake:status", "fake:status", "climax://cli/fake"]);
    assert_eq!(accepted["resourceSubscriptions"], expected, "{acknowledged}");
    assert_ne!(accepted["toolsListChanged"], true, "the list never changes");
    let params = json!({ "name": "commit", "_meta": modern_meta() });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
    let messages = [client.exchange(&call.to_string()).await, client.receive().await];
    let updated = messages.iter().find(|message| message["id"].is_null()).unwrap_or_else(|| panic!("{messages:?}"));
    assert_eq!(updated["params"]["uri"], "fake:status", "{updated}");
    let params = json!({ "name": "status", "_meta": modern_meta() });
    assert!(client.ask(3, "tools/call", &params).await["result"].is_object(), "the notification comes once");
}

#[tokio::test]
async fn fixed_uris_go_before_templates() {
    let tools = "  - {name: any, description: A, command: argv any, risk: read, resource: 'fake:x/{n}', args: [{name: n, positional: true}]}\n  \
                   - {name: me, description: M, command: argv me, risk: read, resource: 'fake:x/me'}\n";
    let mut client = client(tools).await;
    assert_eq!(read(&mut client, "fake:x/me").await["result"]["contents"][0]["text"], "<me>");
    assert_eq!(read(&mut client, "fake:x/you").await["result"]["contents"][0]["text"], "<any>\n<you>");
}

#[tokio::test]
async fn reading_needs_the_approval_of_the_tool() {
    let policy = "default: enabled\napproval: {global: all, headless: deny}\n";
    let toolbox = || restricted(support::index(&fake_config(RESOURCES)), policy);
    let mut client = Client::open(toolbox(), Surface::Classic, json!({})).await;
    assert_eq!(read(&mut client, "fake:status").await["error"]["code"], -32603);
    let mut client = Client::open(toolbox(), Surface::Classic, json!({ "elicitation": {} })).await;
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": { "uri": "fake:status" } });
    let question = client.exchange(&request.to_string()).await;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "accept" } });
    assert_eq!(client.exchange(&answer.to_string()).await["result"]["contents"][0]["text"], "<clean>");
}

#[tokio::test]
async fn resources_without_a_media_type_show_what_a_person_sees() {
    let mut client = client(
        "  - {name: plain, description: x, command: argv, risk: read, resource: 'plain://{word}', \
         args: [{name: word, positional: true, required: true}]}\n  \
           - {name: media, description: x, command: argv, risk: read, resource: 'media://{word}', output: {mime: text/markdown}, \
         args: [{name: word, positional: true, required: true}]}\n",
    )
    .await;
    for (uri, text) in [("plain://%1B%5B31mred", "<red>"), ("media://%1B%5B31mred", "<\u{1b}[31mred>")] {
        let answer = read(&mut client, uri).await;
        assert_eq!(answer["result"]["contents"][0]["text"], text, "{answer}");
    }
}
