//! Approval: which calls need it, the text of the question, and what an answer is valid for.

use std::sync::Arc;

use climax::call::Toolbox;
use climax::catalog::ResolvedTool;
use climax::mcp::{Changes, Surface, tool_list};
use climax::serving::snapshot::Publisher;
use serde_json::{Value, json};

use crate::client::{Client, Modern, modern_meta, restricted};
use crate::support::{fake_config, index, text};

const TOOLS: &str = "
  - name: remove
    description: Removes
    command: argv removed
    risk: destructive
    confirm_message: 'Remove {what} ({title}) from {place}, {how}?'
    resolve: {title: {command: argv looked-up, args: {item_id: 'id-{what}', way: '{how}'}}}
    args: [{name: what, required: true}, {name: place, default: here}, {name: how}]
  - name: push
    description: Pushes
    command: argv pushed
    risk: write
    args: [{name: text, stdin: true}, {name: to, positional: true}]
  - {name: look, description: Looks, command: argv looked}
";

const POLICY: &str = "default: enabled\napproval: {global: write}\n";

fn toolbox(policy: &str) -> Toolbox {
    restricted(index(&fake_config(TOOLS)), policy)
}

async fn legacy(policy: &str) -> Client {
    Client::open(toolbox(policy), Surface::Classic, json!({ "elicitation": {} })).await
}

/// Calls a tool and answers the elicitation with `action`. Returns the params of the elicitation, and the result.
async fn call_and_answer(client: &mut Client, tool: &str, arguments: Value, action: &str) -> (Value, Value) {
    let call = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": { "name": tool, "arguments": arguments } });
    let question = client.exchange(&call.to_string()).await;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": action } });
    let result = client.exchange(&answer.to_string()).await;
    assert_eq!(result["id"], 5, "{result}");
    (question["params"].clone(), result["result"].clone())
}

#[tokio::test]
async fn only_approved_calls_run() {
    let mut client = legacy(POLICY).await;
    let (question, result) = call_and_answer(&mut client, "remove", json!({ "what": "x" }), "accept").await;
    assert_eq!(question["mode"], "form");
    assert_eq!(question["requestedSchema"]["type"], "object");
    assert_eq!(text(&result), "<removed>\n<--what>\n<x>\n<--place>\n<here>");
    for action in ["decline", "cancel"] {
        let (_, result) = call_and_answer(&mut client, "remove", json!({ "what": "x" }), action).await;
        assert_eq!(text(&result), "Tool execution denied by user: remove");
        assert_eq!(result["structuredContent"]["error"]["code"], "approval_denied");
    }
}

#[tokio::test]
async fn questions_show_arguments_defaults_and_looked_up_names() {
    let mut client = legacy(POLICY).await;
    let mut question = async |tool: &str, arguments: Value| {
        call_and_answer(&mut client, tool, arguments, "decline").await.0["message"].as_str().unwrap().to_owned()
    };
    let fakecli = crate::support::fakecli().display().to_string();
    let questions = [
        question("remove", json!({ "what": "x", "how": "fast" })).await,
        question("remove", json!({ "what": "x\nPlease approve\u{202e}" })).await,
        question("push", json!({ "to": "it's there", "text": "a\nb" })).await,
    ];
    insta::assert_snapshot!(questions.join("\n---\n").replace(&fakecli, "FAKECLI"));
}

#[tokio::test]
async fn failed_look_ups_are_marked_in_the_question() {
    let yaml = fake_config(
        "  - {name: t, description: T, command: argv, risk: write, confirm_message: '{a}{b}', \
         resolve: {a: {command: exit 1 text}, b: {command: sleep, timeout: 0.1}}}\n",
    );
    let mut client =
        Client::open(restricted(index(&yaml), POLICY), Surface::Classic, json!({ "elicitation": {} })).await;
    let (question, _) = call_and_answer(&mut client, "t", json!({}), "decline").await;
    assert!(question["message"].as_str().unwrap().starts_with("<unresolved:a><unresolved:b>\n"), "{question}");
}

#[tokio::test]
async fn look_ups_have_the_global_args_of_calls() {
    let yaml = format!(
        "global_args: [{{name: account, default: second}}]\n{}",
        fake_config(
            "  - {name: t, description: T, command: argv, risk: write, confirm_message: 'Remove {title}', \
             resolve: {title: {command: argv title, args: {id: '7'}}}}\n",
        )
    );
    let mut client =
        Client::open(restricted(index(&yaml), POLICY), Surface::Classic, json!({ "elicitation": {} })).await;
    let (question, _) = call_and_answer(&mut client, "t", json!({}), "decline").await;
    let expected = r"Remove <title>\n<--id>\n<7>\n<--account>\n<second>";
    assert!(question["message"].as_str().unwrap().starts_with(expected), "{question}");
}

#[tokio::test]
async fn clients_without_elicitation_get_the_headless_rule() {
    const DENIED: &str =
        "Tool execution needs approval, and this client cannot ask anybody: push (policy: approval.headless is deny)";
    for (capabilities, policy, expected) in [
        (json!({}), POLICY, DENIED),
        (json!({ "elicitation": { "url": {} } }), POLICY, DENIED),
        (json!({}), "default: enabled\napproval: {headless: approve}", "<pushed>\n<x>"),
    ] {
        let mut client = Client::open(toolbox(policy), Surface::Classic, capabilities).await;
        assert_eq!(text(&client.tool("push", json!({ "to": "x" })).await), expected);
        let mut client = Client::connect(toolbox(policy), Surface::Classic);
        let params = json!({ "name": "push", "arguments": { "to": "x" }, "_meta": modern_meta() });
        assert_eq!(text(&client.ask(1, "tools/call", &params).await["result"]), expected);
    }
}

#[tokio::test]
async fn the_policy_decides_which_tools_need_approval() {
    for (approval, expected) in [
        ("approval: {global: none}", &[][..]),
        ("approval: {global: destructive}", &["remove"]),
        ("", &["remove", "push"]),
        ("approval: {global: all}", &["remove", "push", "look"]),
        ("approval: {global: all, tools: {push: false}}", &["remove", "look"]),
        (
            "approval: {global: none, tools: {look: true, push: true}}\ntools: {push: {require_approval: false}}",
            &["look"],
        ),
    ] {
        let toolbox = toolbox(&format!("default: enabled\n{approval}"));
        let names: Vec<&str> =
            toolbox.index.tools().filter(|tool| toolbox.policy.needs_approval(*tool)).map(ResolvedTool::name).collect();
        assert_eq!(names, expected, "{approval}");
    }
}

#[tokio::test]
async fn modern_clients_send_the_call_again_with_the_answer() {
    let mut client = Modern(Client::connect(toolbox(POLICY), Surface::Classic));
    let pending = client.call("push", json!({ "to": "x" }), None).await;
    assert_eq!(pending["resultType"], "input_required", "{pending}");
    assert_eq!(pending["inputRequests"]["approval"]["method"], "elicitation/create");
    assert!(pending["inputRequests"]["approval"]["params"]["message"].as_str().unwrap().contains("pushed x"));
    let result = client.call("push", json!({ "to": "x" }), Some(("accept", &pending["requestState"]))).await;
    assert_eq!(text(&result), "<pushed>\n<x>");
    let pending = client.call("push", json!({ "to": "x" }), None).await;
    let result = client.call("push", json!({ "to": "x" }), Some(("decline", &pending["requestState"]))).await;
    assert_eq!(text(&result), "Tool execution denied by user: push");
}

#[tokio::test]
async fn approvals_are_valid_for_one_call_once() {
    let mut client = Modern(Client::connect(toolbox(POLICY), Surface::Classic));
    let state = client.call("push", json!({ "to": "x" }), None).await["requestState"].clone();
    let mut assert_rejected = async |tool: &str, arguments: Value, state: &Value| {
        let answer = client.answer(tool, arguments, Some(("accept", state))).await;
        assert_eq!(answer["error"]["code"], -32602, "{tool}: {answer}");
    };
    assert_rejected("push", json!({ "to": "y" }), &state).await;
    assert_rejected("push", json!({ "to": "x", "text": "more" }), &state).await;
    assert_rejected("remove", json!({ "what": "x" }), &state).await;
    let mut forged = state.as_str().unwrap().to_owned();
    forged.pop();
    assert_rejected("push", json!({ "to": "x" }), &json!(forged)).await;
    assert_rejected("push", json!({ "to": "x" }), &json!("rs1.AAAA.AAAA")).await;
    let mut other = Modern(Client::connect(toolbox(POLICY), Surface::Classic));
    let foreign = other.call("push", json!({ "to": "x" }), None).await["requestState"].clone();
    assert_rejected("push", json!({ "to": "x" }), &foreign).await;
    let first = client.call("push", json!({ "to": "x" }), Some(("accept", &state))).await;
    assert_eq!(text(&first), "<pushed>\n<x>");
    let again = client.call("push", json!({ "to": "x" }), Some(("accept", &state))).await;
    assert_eq!(again["resultType"], "input_required", "{again}");
}

#[tokio::test]
async fn cancelling_a_call_cancels_its_elicitation() {
    let mut client = legacy(POLICY).await;
    let call =
        json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": { "name": "push", "arguments": {} } });
    let question = client.exchange(&call.to_string()).await;
    assert_eq!(question["method"], "elicitation/create");
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#).await;
    let cancelled = client.receive().await;
    assert_eq!(cancelled["method"], "notifications/cancelled", "{cancelled}");
    assert_eq!(cancelled["params"]["requestId"], question["id"]);
    // A cancelled request gets no response. The next one does.
    let listed = client.ask(6, "tools/list", &json!({})).await;
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn approvals_are_valid_for_the_command_line_of_the_question() {
    let toolbox = |command: &str, risk: &str| {
        let tools = format!("  - {{name: t, description: T, command: argv {command}, risk: {risk}}}\n");
        Arc::new(restricted(index(&fake_config(&tools)), POLICY))
    };
    let (publisher, live) = Publisher::new(toolbox("harmless", "write"));
    let mut client = Client::connect_live(live, Surface::Classic, Changes::Silent);
    let mut params = json!({ "name": "t", "arguments": {}, "_meta": modern_meta() });
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": {} });
    for other in [toolbox("everything", "write"), toolbox("everything", "destructive")] {
        let pending = client.ask(1, "tools/call", &params).await["result"].clone();
        publisher.publish(other, |toolbox| tool_list(&toolbox.index, &Surface::Classic));
        let mut answer = params.clone();
        answer["inputResponses"] = json!({ "approval": { "action": "accept" } });
        answer["requestState"] = pending["requestState"].clone();
        let again = client.ask(2, "tools/call", &answer).await["result"].clone();
        let question = again["inputRequests"]["approval"]["params"]["message"].as_str();
        assert!(question.unwrap_or_else(|| panic!("{again}")).contains("everything"), "{again}");
    }
}

#[test]
fn the_headless_rule_holds_on_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    std::fs::write(path("fake.yaml"), fake_config(TOOLS)).unwrap();
    for (headless, expected) in [("deny", 1), ("approve", 0)] {
        std::fs::write(path("policy.yaml"), format!("default: enabled\napproval: {{headless: {headless}}}")).unwrap();
        let mut climax = crate::support::climax();
        climax.args(["call", "push", "to=x", "--config"]).arg(path("fake.yaml"));
        let (code, out, _) = crate::support::run(climax.arg("--policy").arg(path("policy.yaml")));
        assert_eq!(code, expected, "{headless}: {out}");
    }
}
