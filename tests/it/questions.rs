//! `ask`: args whose values come from the user. The agent can neither see nor set them.

use climax::mcp::Surface;
use serde_json::{Map, Value, json};

use crate::client::{Client, extended, meta, modern_meta, restricted, unrestricted};
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
    Client::open(unrestricted(index(&fake_config(TOOLS))), Surface::default(), capabilities).await
}

/// Calls `deploy` and answers each elicitation with the next of `answers`. Returns the elicitations and the result.
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

const CHOICES: &str = "
  - name: deploy
    description: Deploys
    command: argv
    risk: write
    args:
      - {name: size, required: true, enum: [{value: s, title: Small}, l]}
      - {name: zones, list: true, enum: [{value: a, title: East}, {value: b, title: West}]}
      - {name: plain, list: ',', enum: [x, y]}
    ask:
      - {name: what, message: What?, args: [size, zones, plain]}
";

#[tokio::test]
async fn forms_have_titles_and_several_choices() {
    let toolbox = || unrestricted(index(&fake_config(CHOICES)));
    let answer = accept(&json!({ "size": "l", "zones": ["a", "b"], "plain": ["y"] }));
    let mut client = Client::open(toolbox(), Surface::default(), json!({ "elicitation": {} })).await;
    let (questions, result) = call(&mut client, json!({}), &[answer]).await;
    assert_eq!(text(&result), "<--size>\n<l>\n<--zones>\n<a>\n<--zones>\n<b>\n<--plain>\n<y>", "{result}");
    let properties = json!({
        "size": { "type": "string", "oneOf": [{ "const": "s", "title": "Small" }, { "const": "l", "title": "l" }] },
        "zones": {
            "type": "array",
            "items": { "anyOf": [{ "const": "a", "title": "East" }, { "const": "b", "title": "West" }] },
        },
        "plain": { "type": "array", "items": { "type": "string", "enum": ["x", "y"] } },
    });
    assert_eq!(questions[0]["requestedSchema"]["properties"], properties);
    let (_, result) = call(&mut client, json!({}), &[accept(&json!({ "size": "m" }))]).await;
    assert_eq!(result["structuredContent"]["error"]["code"], "approval_denied", "{result}");
}

#[tokio::test]
async fn forms_set_args_that_the_agent_cannot_see() {
    let mut client = legacy(json!({ "elicitation": {} })).await;
    let found = client.tool("climax_search", json!({ "query": "deploy" })).await;
    let found: Value = serde_json::from_str(text(&found)).unwrap();
    let schema =
        json!({ "type": "object", "properties": { "service": { "type": "string" } }, "required": ["service"] });
    assert_eq!(found["results"][0]["input_schema"], schema);

    let answers = [accept(&json!({ "place": "there", "count": 3, "service": "evil" })), accept(&json!({}))];
    // Values of the agent for these args are ignored.
    let (questions, result) =
        call(&mut client, json!({ "service": "api", "place": "here", "ticket": "made-up" }), &answers).await;
    let ignored = "[ignored: 'place', 'ticket' are no arguments of deploy]";
    assert_eq!(text(&result), format!("<api>\n<there>\n<--count>\n<3>\n\n{ignored}"), "{result}");
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
async fn calls_without_a_valid_answer_do_not_run() {
    let mut client = legacy(json!({ "elicitation": {} })).await;
    for action in ["decline", "cancel"] {
        let (_, result) = call(&mut client, json!({ "service": "api" }), &[json!({ "action": action })]).await;
        assert_eq!(result["structuredContent"]["error"]["code"], "approval_denied", "{result}");
    }
    // The agent gets the names of the args, not the values of the user. The next form is not shown.
    let wrong = [accept(&json!({ "place": "s3cret" }))];
    let (_, result) = call(&mut client, json!({ "service": "api" }), &wrong).await;
    assert_eq!(text(&result), "Not run: what the user has given for `where` cannot be used (place)");
    assert_eq!(result["structuredContent"]["error"]["code"], "approval_denied", "{result}");
    // A call with invalid arguments shows no form.
    let (questions, result) = call(&mut client, json!({ "service": "--all" }), &[]).await;
    assert!(questions.is_empty(), "{questions:?}");
    assert_eq!(result["structuredContent"]["error"]["code"], "invalid_arguments", "{result}");
}

#[tokio::test]
async fn clients_without_elicitation_get_an_error() {
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

#[tokio::test]
async fn missing_forms_are_one_error_in_calls_and_chains() {
    let surface = || meta(&["call", "chain"]);
    let deploy = json!({ "tool_name": "deploy", "args": { "service": "api" } });
    let reference = json!({ "tool_name": "deploy", "args": { "service": { "$from": "/0/stdout" } } });
    for (tool, arguments) in [
        ("climax_call", deploy.clone()),
        ("climax_chain", json!({ "steps": [deploy] })),
        ("climax_chain", json!({ "steps": [{ "tool_name": "look" }, reference] })),
    ] {
        let config = format!("{TOOLS}  - {{name: look, description: Looks, command: argv x}}\n");
        let toolbox = || unrestricted(index(&fake_config(&config)));
        let mut modern = Client::connect(toolbox(), surface());
        let params = json!({ "name": tool, "arguments": arguments, "_meta": modern_meta() });
        let refused = modern.ask(1, "tools/call", &params).await;
        assert_eq!(refused["error"]["code"], -32021, "{arguments}: {refused}");

        let mut legacy = Client::open(toolbox(), surface(), json!({})).await;
        let result = legacy.tool(tool, arguments).await;
        assert_eq!(result["structuredContent"]["error"]["code"], "approval_denied", "{result}");
    }
}

/// A client of 2026-07-28, which sends its request again with answers.
struct Modern {
    client: Client,
    capabilities: Value,
}

impl Modern {
    fn new() -> Self {
        Self::of(Client::connect(unrestricted(index(&fake_config(TOOLS))), Surface::Classic))
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
async fn modern_clients_answer_forms_round_by_round() {
    let mut client = Modern::new();
    let first = client.call(None).await["result"].clone();
    let has_form = |result: &Value, form: &str| !result["inputRequests"][form].is_null();
    assert!(has_form(&first, "where"), "{first}");
    let place = || json!({ "where": accept(&json!({ "place": "here" })) });
    let second = client.call(Some((place(), &first["requestState"]))).await["result"].clone();
    assert!(has_form(&second, "why"), "{second}");
    let ticket = || json!({ "why": accept(&json!({ "ticket": "T-1" })) });
    let done = client.call(Some((ticket(), &second["requestState"]))).await["result"].clone();
    assert_eq!(text(&done), "<api>\n<here>\n<--count>\n<2>\n<--ticket>\n<T-1>");

    // A state is valid once, and for its call only.
    let again = client.call(Some((ticket(), &second["requestState"]))).await["result"].clone();
    assert!(has_form(&again, "where"), "{again}");
    let other = client.call_for("web", Some((place(), &again["requestState"]))).await;
    assert_eq!(other["error"]["code"], -32602, "{other}");
}

#[tokio::test]
async fn approvals_show_the_values_of_forms() {
    let policy = "default: enabled\napproval: {global: write}\n";
    let toolbox = restricted(index(&fake_config(TOOLS)), policy);
    let mut client = Modern::of(Client::connect(toolbox, Surface::Classic));
    let place = || json!({ "where": accept(&json!({ "place": "here" })) });
    let ticket = |approval: Value| json!({ "why": accept(&json!({ "ticket": "T-1" })), "approval": approval });
    let mut rounds = async |approval: Value| {
        let first = client.call(None).await["result"]["requestState"].clone();
        let second = client.call(Some((place(), &first))).await["result"]["requestState"].clone();
        client.call(Some((ticket(approval), &second))).await["result"].clone()
    };
    let pending = rounds(Value::Null).await;
    let question =
        pending["inputRequests"]["approval"]["params"]["message"].as_str().unwrap_or_else(|| panic!("{pending}"));
    assert!(question.contains("api here --count 2 --ticket T-1"), "{question}");
    // The state of a form is no state of an approval.
    let hasty = rounds(json!({ "action": "accept" })).await;
    assert_eq!(hasty["resultType"], "input_required", "{hasty}");
    let approval = json!({ "approval": { "action": "accept" } });
    let done = client.call(Some((approval, &pending["requestState"]))).await["result"].clone();
    assert_eq!(text(&done), "<api>\n<here>\n<--count>\n<2>\n<--ticket>\n<T-1>", "{done}");
}

#[tokio::test]
async fn agents_do_not_learn_of_args_of_forms() {
    let toolbox = || unrestricted(index(&fake_config(TOOLS)));
    let mut client = Client::open(toolbox(), extended(), json!({})).await;
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
async fn forms_have_the_bounds_of_the_policy() {
    let policy = "default: enabled\napproval: {global: none}\ntools: {deploy: {args: {count: {min: 1, max: 9}}}}\n";
    let toolbox = restricted(index(&fake_config(TOOLS)), policy);
    let mut client = Client::open(toolbox, Surface::default(), json!({ "elicitation": {} })).await;
    let wrong = [accept(&json!({ "place": "here", "count": 10 }))];
    let (questions, result) = call(&mut client, json!({ "service": "api" }), &wrong).await;
    assert_eq!(questions.len(), 1, "{result}");
    let count = &questions[0]["requestedSchema"]["properties"]["count"];
    assert_eq!((&count["minimum"], &count["maximum"]), (&json!(1), &json!(9)), "{count}");
    assert!(text(&result).ends_with("cannot be used (count)"), "{result}");
}

#[test]
fn the_command_line_takes_values_of_forms_as_arguments() {
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
    assert!(!err.contains("add place"), "the arguments of the agent are checked first: {err}");
}

#[test]
fn bind_ignores_args_of_forms() {
    let index = index(&fake_config(TOOLS));
    let arguments: Map<String, Value> = json!({ "service": "a", "place": "here" }).as_object().unwrap().clone();
    let bound = climax::call::arguments::bind(index.get("deploy").unwrap(), &arguments).unwrap();
    assert_eq!(bound.iter().map(|(arg, _)| arg.name()).collect::<Vec<_>>(), ["service"]);
}
