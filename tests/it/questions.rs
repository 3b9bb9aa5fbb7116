//! `ask`: args that the user gives, which the agent neither sees nor chooses.

use climax::mcp::Mode;
use serde_json::{Map, Value, json};

use crate::client::{Client, modern_meta, restricted, unrestricted};
use crate::support::{self, fake_config, index, run, text};

const TOOLS: &str = "
  - name: deploy
    description: Deploys
    command: argv
    risk: write
    args:
      - {name: service, required: true, positional: true}
      - {name: place, required: true, positional: true, enum: [here, there]}
      - {name: count, type: integer, default: 2, description: How many}
      - {name: ticket, description: Why}
    ask:
      - {name: where, message: Where to?, args: [place, count]}
      - {name: why, message: Which ticket?, args: [ticket]}
";

fn accept(content: &Value) -> Value {
    json!({ "action": "accept", "content": content })
}

async fn legacy(capabilities: Value) -> Client {
    Client::open(unrestricted(index(&fake_config(TOOLS))), Mode::Meta, capabilities).await
}

/// Calls with these arguments, and answers each question with the next answer: the questions and the result.
async fn call(client: &mut Client, args: Value, answers: &[Value]) -> (Vec<Value>, Value) {
    let call = json!({ "tool_name": "deploy", "args": args });
    let call = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call",
                       "params": { "name": "climax_call", "arguments": call } });
    let mut message = client.exchange(&call.to_string()).await;
    let mut questions = Vec::new();
    let mut answers = answers.iter();
    while message["method"] == "elicitation/create" {
        questions.push(message["params"].clone());
        let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": answers.next().expect("an answer") });
        message = client.exchange(&answer.to_string()).await;
    }
    (questions, message["result"].clone())
}

#[tokio::test]
async fn the_user_fills_in_what_the_agent_does_not_see() {
    let mut client = legacy(json!({ "elicitation": {} })).await;
    let found = client.tool("climax_search", json!({ "query": "deploy" })).await;
    let found: Value = serde_json::from_str(text(&found)).unwrap();
    let schema =
        json!({ "type": "object", "properties": { "service": { "type": "string" } }, "required": ["service"] });
    assert_eq!(found["results"][0]["input_schema"], schema);

    let answers = [accept(&json!({ "place": "there", "count": 3, "service": "evil" })), accept(&json!({}))];
    // What the agent says in the user's place does not count.
    let (questions, result) =
        call(&mut client, json!({ "service": "api", "place": "here", "ticket": "made-up" }), &answers).await;
    assert_eq!(text(&result), "<api>\n<there>\n<--count>\n<3>", "{result}");
    assert_eq!(questions[0]["message"], "Where to?\n\nfor deploy service=api");
    let form = json!({
        "type": "object",
        "properties": {
            "place": { "type": "string", "enum": ["here", "there"] },
            "count": { "type": "integer", "description": "How many", "default": 2 },
        },
        "required": ["place"],
    });
    assert_eq!(questions[0]["requestedSchema"], form);
    assert!(questions[1]["message"].as_str().unwrap().starts_with("Which ticket?\n"));
}

#[tokio::test]
async fn nothing_runs_without_an_answer_that_is_right() {
    let mut client = legacy(json!({ "elicitation": {} })).await;
    for action in ["decline", "cancel"] {
        let (_, result) = call(&mut client, json!({ "service": "api" }), &[json!({ "action": action })]).await;
        assert_eq!(result["structuredContent"]["error"]["code"], "approval_denied", "{result}");
    }
    // The agent is told that something is wrong, and not what the user said; nor is the user asked on.
    let wrong = [accept(&json!({ "place": "s3cret" }))];
    let (_, result) = call(&mut client, json!({ "service": "api" }), &wrong).await;
    assert_eq!(text(&result), "Not run: what the user has given for `where` cannot be used (place)");
    assert_eq!(result["structuredContent"]["error"]["code"], "approval_denied", "{result}");
    // Nobody is bothered with a call that cannot run anyway.
    let (questions, result) = call(&mut client, json!({ "service": "--all" }), &[]).await;
    assert!(questions.is_empty(), "{questions:?}");
    assert_eq!(result["structuredContent"]["error"]["code"], "invalid_arguments", "{result}");
}

#[tokio::test]
async fn a_client_that_cannot_ask_is_told_so() {
    let mut client = legacy(json!({})).await;
    let (_, result) = call(&mut client, json!({ "service": "api" }), &[]).await;
    let error = &result["structuredContent"]["error"];
    assert_eq!(error["code"], "approval_denied");
    assert!(error["message"].as_str().unwrap().contains("elicitation"), "{error}");

    let mut client = Modern::new();
    client.capabilities = json!({});
    let error = client.call(None).await["error"].clone();
    assert_eq!(error["code"], -32021, "{error}");
    assert_eq!(error["data"]["requiredCapabilities"], json!({ "elicitation": {} }));
}

/// A client of 2026-07-28, which sends its request again with answers.
struct Modern {
    client: Client,
    capabilities: Value,
}

impl Modern {
    fn new() -> Self {
        Self::of(Client::connect(unrestricted(index(&fake_config(TOOLS))), Mode::Classic))
    }

    fn of(client: Client) -> Self {
        Self { client, capabilities: json!({ "elicitation": { "form": {} } }) }
    }

    async fn call(&mut self, answers: Option<(Value, &Value)>) -> Value {
        self.call_for("api", answers).await
    }

    async fn call_for(&mut self, service: &str, answers: Option<(Value, &Value)>) -> Value {
        let mut params = json!({ "name": "deploy", "arguments": { "service": service }, "_meta": modern_meta() });
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        if let Some((answers, state)) = answers {
            params["inputResponses"] = answers;
            params["requestState"] = state.clone();
        }
        self.client.ask(7, "tools/call", &params).await
    }
}

#[tokio::test]
async fn a_modern_client_is_asked_round_by_round() {
    let mut client = Modern::new();
    let first = client.call(None).await["result"].clone();
    let asks = |result: &Value, form: &str| !result["inputRequests"][form].is_null();
    assert!(asks(&first, "where"), "{first}");
    let place = || json!({ "where": accept(&json!({ "place": "here" })) });
    let second = client.call(Some((place(), &first["requestState"]))).await["result"].clone();
    assert!(asks(&second, "why"), "{second}");
    let ticket = || json!({ "why": accept(&json!({ "ticket": "T-1" })) });
    let done = client.call(Some((ticket(), &second["requestState"]))).await["result"].clone();
    assert_eq!(text(&done), "<api>\n<here>\n<--count>\n<2>\n<--ticket>\n<T-1>");

    // An answer is good once, and for the call that it was asked for.
    let again = client.call(Some((ticket(), &second["requestState"]))).await["result"].clone();
    assert!(asks(&again, "where"), "{again}");
    let other = client.call_for("web", Some((place(), &again["requestState"]))).await;
    assert_eq!(other["error"]["code"], -32602, "{other}");
}

#[tokio::test]
async fn what_was_filled_in_is_approved_with_the_rest() {
    let policy = "default: enabled\napproval: {global: write}\n";
    let toolbox = restricted(index(&fake_config(TOOLS)), policy);
    let mut client = Modern::of(Client::connect(toolbox, Mode::Classic));
    let place = || json!({ "where": accept(&json!({ "place": "here" })) });
    let ticket = |approval: Value| json!({ "why": accept(&json!({ "ticket": "T-1" })), "approval": approval });
    let mut rounds = async |approval: Value| {
        let first = client.call(None).await["result"]["requestState"].clone();
        let second = client.call(Some((place(), &first))).await["result"]["requestState"].clone();
        client.call(Some((ticket(approval), &second))).await["result"].clone()
    };
    let asked = rounds(Value::Null).await;
    let question =
        asked["inputRequests"]["approval"]["params"]["message"].as_str().unwrap_or_else(|| panic!("{asked}"));
    assert!(question.contains("api here --count 2 --ticket T-1"), "{question}");
    // The state of a form approves nothing.
    let hasty = rounds(json!({ "action": "accept" })).await;
    assert_eq!(hasty["resultType"], "input_required", "{hasty}");
    let approval = json!({ "approval": { "action": "accept" } });
    let done = client.call(Some((approval, &asked["requestState"]))).await["result"].clone();
    assert_eq!(text(&done), "<api>\n<here>\n<--count>\n<2>\n<--ticket>\n<T-1>", "{done}");
}

#[tokio::test]
async fn nobody_is_taught_what_the_user_gives() {
    let toolbox = || unrestricted(index(&fake_config(TOOLS)));
    let mut client = Client::open(toolbox(), Mode::Extended, json!({})).await;
    let brief = client.tool("climax_search", json!({ "cli": "fake", "detail": "brief" })).await;
    assert!(text(&brief).contains(r#""required":["service"]"#), "{brief}");
    let examples = client.tool("climax_examples", json!({ "tool_name": "deploy", "max": 5 })).await;
    assert_eq!(text(&examples), r#"{"examples":[{"tool_name":"deploy","args":{"service":"example-service"}}]}"#);
    let failed = client.tool("climax_call", json!({ "tool_name": "deploy", "args": { "plce": 1 } })).await;
    assert_eq!(failed["structuredContent"]["error"]["suggestions"], json!([]), "{failed}");
    let found = client.tool("climax_search", json!({ "query": "ticket" })).await;
    assert!(text(&found).contains(r#""results":[]"#), "{found}");
}

#[tokio::test]
async fn a_form_has_the_bounds_of_the_policy() {
    let policy = "default: enabled\napproval: {global: none}\ntools: {deploy: {args: {count: {min: 1, max: 9}}}}\n";
    let toolbox = restricted(index(&fake_config(TOOLS)), policy);
    let mut client = Client::open(toolbox, Mode::Meta, json!({ "elicitation": {} })).await;
    let wrong = [accept(&json!({ "place": "here", "count": 10 }))];
    let (questions, result) = call(&mut client, json!({ "service": "api" }), &wrong).await;
    assert_eq!(questions.len(), 1, "{result}");
    let count = &questions[0]["requestedSchema"]["properties"]["count"];
    assert_eq!((&count["minimum"], &count["maximum"]), (&json!(1), &json!(9)), "{count}");
    assert!(text(&result).ends_with("cannot be used (count)"), "{result}");
}

#[test]
fn the_command_line_takes_the_user_s_values_from_the_user() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fake.yaml");
    std::fs::write(&path, fake_config(TOOLS)).unwrap();
    let call = |args: &[&str]| run(support::climax().args(["call", "deploy", "--config"]).arg(&path).args(args));
    let (code, out, _) = call(&["service=api", "place=here"]);
    assert_eq!((code, out.as_str()), (0, "<api>\n<here>\n<--count>\n<2>\n"));
    let (code, out, err) = call(&["service=api"]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(err.ends_with("add place=VALUE to the command line\n"), "{err}");
    let (_, _, err) = call(&[]);
    assert!(!err.contains("add place"), "the agent's part goes first: {err}");
}

#[test]
fn the_agent_s_part_is_bound_alone() {
    let index = index(&fake_config(TOOLS));
    let arguments: Map<String, Value> = json!({ "service": "a", "place": "here" }).as_object().unwrap().clone();
    let bound = climax::call::arguments::bind(index.get("deploy").unwrap(), &arguments).unwrap();
    assert_eq!(bound.iter().map(|(arg, _)| arg.name()).collect::<Vec<_>>(), ["service"]);
}
