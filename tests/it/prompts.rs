//! Prompts: lists, messages with outputs of tools, forms and completions.

use climax::mcp::Surface;
use serde_json::{Value, json};

use crate::client::{Client, modern_meta, restricted, unrestricted};
use crate::support::{fake_config, index};

const TOOLS: &str = "
  - {name: show, description: Shows, command: argv, risk: read, args: [{name: what, positional: true}]}
  - {name: picture, description: Draws, command: bytes, risk: read, output: {mime: image/png}}
  - {name: broken, description: Fails, command: exit 3 sorry, risk: read}
  - {name: remove, description: Removes, command: argv, risk: destructive}
prompts:
  - name: review
    title: Review it
    description: Review a change
    args:
      - {name: base, description: From where, required: true, enum: [main, master, next]}
      - {name: focus}
    messages:
      - \"Review all since {base}. {{Mind}} {focus}\"
      - {tool: show, args: {what: '--from {base}'}}
      - {role: assistant, text: Which part?}
  - {name: look, description: Look at a picture, messages: [{tool: picture}, Look.]}
  - {name: fail, description: See what fails, messages: [{tool: broken}]}
";

async fn client() -> Client {
    Client::open(unrestricted(index(&fake_config(TOOLS))), Surface::default(), json!({})).await
}

async fn get(client: &mut Client, name: &str, arguments: Value) -> Value {
    client.ask(1, "prompts/get", &json!({ "name": name, "arguments": arguments })).await
}

#[tokio::test]
async fn prompts_are_listed_with_their_arguments() {
    let mut client = client().await;
    let list = client.ask(1, "prompts/list", &json!({})).await;
    let review = json!({ "name": "review", "title": "Review it", "description": "Review a change", "arguments": [
        { "name": "base", "description": "From where", "required": true },
        { "name": "focus", "required": false },
    ] });
    assert_eq!(list["result"]["prompts"][0], review);
    assert_eq!(list["result"]["prompts"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn prompts_hold_texts_and_outputs_of_tools() {
    let mut client = client().await;
    let filled = get(&mut client, "review", json!({ "base": "main", "focus": "{base}" })).await;
    let text = |role: &str, text: &str| json!({ "role": role, "content": { "type": "text", "text": text } });
    // A value cannot become an option of the program.
    assert_eq!(filled["error"]["code"], -32602, "{filled}");

    let picture = get(&mut client, "look", json!({})).await;
    assert_eq!(picture["result"]["messages"][0]["content"]["type"], "image", "{picture}");
    assert_eq!(picture["result"]["messages"][1], text("user", "Look."));

    let failed = get(&mut client, "fail", json!({})).await;
    assert_eq!(failed["error"]["message"], "broken failed: sorry\n\n[exit code: 3]", "{failed}");
}

#[tokio::test]
async fn values_replace_their_placeholders_and_are_not_expanded() {
    let tools = TOOLS.replace("--from {base}", "from {base}");
    let mut client = Client::open(unrestricted(index(&fake_config(&tools))), Surface::default(), json!({})).await;
    let filled = get(&mut client, "review", json!({ "base": "main", "focus": "{base}" })).await;
    let text = |role: &str, text: &str| json!({ "role": role, "content": { "type": "text", "text": text } });
    let messages = json!([
        text("user", "Review all since main. {Mind} {base}"),
        text("user", "<from main>"),
        text("assistant", "Which part?"),
    ]);
    assert_eq!(filled["result"]["messages"], messages, "{filled}");
}

#[tokio::test]
async fn invalid_prompt_requests_name_the_mistake() {
    let mut client = client().await;
    for (name, arguments, expected) in [
        ("reviwe", json!({}), "did you mean review?"),
        ("review", json!({}), "needs base"),
        ("review", json!({ "base": "evil" }), "must be one of: main, master, next"),
        ("review", json!({ "base": ["main"] }), "must be a string"),
    ] {
        let answer = get(&mut client, name, arguments).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(expected), "{answer}");
    }
}

#[tokio::test]
async fn missing_arguments_are_elicited() {
    let tools = TOOLS.replace("--from {base}", "from {base}");
    let toolbox = || unrestricted(index(&fake_config(&tools)));
    let mut client = Client::open(toolbox(), Surface::default(), json!({ "elicitation": {} })).await;
    let get = json!({ "jsonrpc": "2.0", "id": 5, "method": "prompts/get", "params": { "name": "review" } });
    let elicitation = client.exchange(&get.to_string()).await;
    let field = json!({ "type": "string", "description": "From where", "enum": ["main", "master", "next"] });
    assert_eq!(elicitation["params"]["requestedSchema"]["properties"]["base"], field, "{elicitation}");
    let response = json!({ "jsonrpc": "2.0", "id": elicitation["id"],
                         "result": { "action": "accept", "content": { "base": "next" } } });
    let filled = client.exchange(&response.to_string()).await;
    assert_eq!(filled["result"]["messages"][1]["content"]["text"], "<from next>", "{filled}");

    let mut client = Client::connect(toolbox(), Surface::default());
    let mut params = json!({ "name": "review", "_meta": modern_meta() });
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": {} });
    let result = client.ask(1, "prompts/get", &params).await["result"].clone();
    assert_eq!(result["resultType"], "input_required", "{result}");
    params["inputResponses"] = json!({ "arguments": { "action": "accept", "content": { "base": "main" } } });
    params["requestState"] = result["requestState"].clone();
    let filled = client.ask(2, "prompts/get", &params).await;
    assert_eq!(filled["result"]["messages"][1]["content"]["text"], "<from main>", "{filled}");
}

#[tokio::test]
async fn arguments_with_known_values_are_completed() {
    let mut client = client().await;
    let mut complete = async |reference: Value, argument: &str, value: &str| {
        let params = json!({ "ref": reference, "argument": { "name": argument, "value": value } });
        client.ask(1, "completion/complete", &params).await
    };
    let prompt = || json!({ "type": "ref/prompt", "name": "review" });
    let found = complete(prompt(), "base", "MA").await;
    assert_eq!(found["result"]["completion"]["values"], json!(["main", "master"]), "{found}");
    assert_eq!(complete(prompt(), "focus", "x").await["result"]["completion"]["values"], json!([]));
    assert_eq!(complete(prompt(), "bsae", "").await["error"]["code"], -32602);
    assert_eq!(complete(json!({ "type": "ref/resource", "uri": "x:y" }), "a", "").await["error"]["code"], -32602);
}

#[tokio::test]
async fn prompts_of_hidden_tools_are_hidden() {
    let served = async |policy: &str| {
        let toolbox = restricted(index(&fake_config(TOOLS)), policy);
        let mut client = Client::open(toolbox, Surface::default(), json!({})).await;
        let list = client.ask(1, "prompts/list", &json!({})).await;
        let all = list["result"]["prompts"].as_array().cloned().unwrap_or_default();
        (client, all.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>())
    };
    let tools = "tools: {picture: {}, remove: {}}";
    assert!(
        served(&format!("default: disabled\n{tools}")).await.1.is_empty(),
        "the text of a prompt may name hidden tools"
    );
    assert_eq!(served("default: enabled\napproval: {tools: {show: true}}").await.1, ["look", "fail"]);
    let (mut client, names) = served(&format!("default: disabled\n{tools}\nprompts: [look, review]")).await;
    assert_eq!(names, ["look"]);
    assert!(
        get(&mut client, "review", json!({ "base": "main" })).await["error"]["message"]
            .as_str()
            .unwrap()
            .starts_with("Unknown prompt")
    );
}

#[tokio::test]
async fn a_catalog_without_prompts_declares_no_capability() {
    let toolbox = unrestricted(index(&fake_config("  - {name: t, description: T}\n")));
    let mut client = Client::connect(toolbox, Surface::default());
    let info = client.ask(0, "initialize", &crate::client::initialize("2025-11-25")).await;
    assert!(info["result"]["capabilities"]["prompts"].is_null(), "{info}");
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    assert_eq!(client.ask(1, "prompts/list", &json!({})).await["error"]["code"], -32601);
}

#[tokio::test]
async fn cancelling_a_prompt_cancels_its_elicitation() {
    let toolbox = unrestricted(index(&fake_config(TOOLS)));
    let mut client = Client::open(toolbox, Surface::default(), json!({ "elicitation": {} })).await;
    let get = json!({ "jsonrpc": "2.0", "id": 5, "method": "prompts/get", "params": { "name": "review" } });
    let elicitation = client.exchange(&get.to_string()).await;
    assert_eq!(elicitation["method"], "elicitation/create");
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#).await;
    let cancelled = client.receive().await;
    assert_eq!(cancelled["params"]["requestId"], elicitation["id"], "{cancelled}");
}

#[tokio::test]
async fn forms_set_only_missing_arguments() {
    let tools = TOOLS.replace("--from {base}", "from {base}");
    let toolbox = unrestricted(index(&fake_config(&tools)));
    let mut client = Client::open(toolbox, Surface::default(), json!({ "elicitation": {} })).await;
    let get = json!({ "jsonrpc": "2.0", "id": 5, "method": "prompts/get",
                      "params": { "name": "review", "arguments": { "focus": "given" } } });
    let elicitation = client.exchange(&get.to_string()).await;
    let response = json!({ "jsonrpc": "2.0", "id": elicitation["id"],
                         "result": { "action": "accept", "content": { "base": "next", "focus": "other" } } });
    let filled = client.exchange(&response.to_string()).await;
    assert_eq!(filled["result"]["messages"][0]["content"]["text"], "Review all since next. {Mind} given", "{filled}");
}
