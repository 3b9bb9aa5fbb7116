//! The tools that clients see: `--meta`, `--call-name`, `climax_read`, and what the definitions carry.

use climax::mcp::{CallName, MetaSurface, MetaTool, Surface};
use serde_json::{Value, json};

use crate::client::{Client, extended, initialize, meta, modern_meta, unrestricted};
use crate::support::{Server, climax, fake_config, index, run, text};

const TOOLS: &str = "
  - {name: look, description: Shows words, command: argv, risk: read, args: [{name: word, positional: true}, {name: name}]}
  - {name: put, description: Puts words, command: argv, risk: write, args: [{name: word, positional: true}]}
  - {name: wipe, description: Deletes words, command: argv, risk: destructive}
  - {name: silent, description: Does something with words, command: argv}
";

async fn open(surface: Surface) -> Client {
    Client::open(unrestricted(index(&fake_config(TOOLS))), surface, json!({})).await
}

async fn definitions(surface: Surface) -> Vec<Value> {
    let list = open(surface).await.ask(1, "tools/list", &json!({})).await;
    list["result"]["tools"].as_array().unwrap().clone()
}

fn names(server: &mut Server) -> Vec<String> {
    let list = server.request("tools/list", json!({}));
    let tools = list["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_chosen_meta_tools_answer_and_no_others() {
    for (option, chosen) in [
        ("read,search", ["search", "read"].as_slice()),
        ("examples,search,describe,read,call", &["search", "call", "read", "describe", "examples"]),
        ("describe", &["describe"]),
    ] {
        let mut server = Server::start(&["--meta", option, "git"]);
        assert_eq!(names(&mut server), chosen.iter().map(|name| format!("climax_{name}")).collect::<Vec<_>>());
        for name in ["search", "call", "read", "describe", "examples", "run"] {
            let params = json!({ "name": format!("climax_{name}"), "arguments": {} });
            let error = server.request("tools/call", params)["error"].clone();
            if chosen.contains(&name) {
                assert_eq!(error, Value::Null, "{name} of {option}");
            } else {
                let expected = json!({ "code": -32602, "message": format!("Unknown tool: climax_{name}") });
                assert_eq!(error, expected, "{name} of {option}");
            }
        }
    }
}

#[test]
fn an_unknown_meta_tool_is_a_usage_error_that_lists_the_names() {
    let listed = "search, call, read, run, describe, examples";
    let (status, _, stderr) = run(climax().args(["--meta", "search,reed"]));
    assert_eq!((status, stderr.contains("'reed'"), stderr.contains(listed)), (2, true, true), "{stderr}");
    let (status, _, stderr) = run(climax().env("CLIMAX_META", "search,reed"));
    assert_eq!((status, stderr.contains("CLIMAX_META"), stderr.contains(listed)), (2, true, true), "{stderr}");
    for other in ["--extended", "--classic"] {
        assert_eq!(run(climax().args(["--meta", "search", other])).0, 2, "{other}");
    }
    assert_eq!(run(climax().args(["--classic", "--call-name", "tool"])).0, 2);
}

#[test]
fn the_environment_chooses_meta_tools_where_no_option_does() {
    let listed = |args: &[&str]| {
        let mut server = Server::spawn(climax().env("CLIMAX_META", "search,read").arg("jq").args(args));
        server.initialize("2025-11-25");
        names(&mut server)
    };
    assert_eq!(listed(&[]), ["climax_search", "climax_read"]);
    assert_eq!(listed(&["--meta", "call"]), ["climax_call"]);
    assert_eq!(listed(&["--extended"]).len(), 5);
    assert_eq!(listed(&["--classic"])[0], "jq_query_file");
}

#[tokio::test]
async fn climax_read_calls_tools_that_state_to_read_and_refuses_others() {
    let mut client = open(meta(&["search", "read", "call"])).await;
    let request = |tool: &str| json!({ "tool_name": tool, "args": { "word": "hi" } });
    let [read, call] =
        [client.tool("climax_read", request("look")).await, client.tool("climax_call", request("look")).await];
    assert_eq!((text(&read), &read), ("<hi>", &call));
    let mut refused = Vec::new();
    for tool in ["put", "wipe", "silent", "lok"] {
        let result = client.tool("climax_read", request(tool)).await;
        assert_eq!(result["isError"], true);
        refused.push(format!("{}\n{}", text(&result), result["structuredContent"]));
    }
    let mut alone = open(meta(&["read"])).await;
    refused.push(text(&alone.tool("climax_read", request("put")).await).to_owned());
    insta::assert_snapshot!(refused.join("\n\n"));
}

#[tokio::test]
async fn search_results_state_the_risk_where_climax_read_is_served() {
    let query = json!({ "query": "words" });
    let mut client = open(meta(&["search", "read"])).await;
    let found: Value = serde_json::from_str(text(&client.tool("climax_search", query.clone()).await)).unwrap();
    let mut risks: Vec<_> =
        found["results"].as_array().unwrap().iter().map(|one| (&one["tool_name"], &one["risk"])).collect();
    risks.sort_by_key(|(name, _)| name.as_str());
    let expected =
        [("look", json!("read")), ("put", json!("write")), ("silent", Value::Null), ("wipe", json!("destructive"))];
    assert!(risks.iter().map(|(name, risk)| (name.as_str().unwrap(), (*risk).clone())).eq(expected), "{risks:?}");
    let result = open(Surface::default()).await.tool("climax_search", query).await;
    assert!(!text(&result).contains("risk"), "{result}");
}

#[tokio::test]
async fn later_results_show_what_a_call_cannot_do_without_and_an_exact_name_shows_all() {
    let tool = |name: &str| {
        format!(
            "
  - name: {name}
    description: Paints walls
    command: argv
    exactly_one: [[roll, brush]]
    ordered: [first, then]
    args:
      - {{name: wall, positional: true, required: true}}
      - {{name: roll, flag: --roll, type: boolean}}
      - {{name: brush, flag: --brush, type: boolean}}
      - {{name: color, flag: --color}}
      - {{name: gloss, flag: --gloss, shown: false}}
      - {{name: first, flag: --first}}
      - {{name: then, flag: --then, shown: false}}"
        )
    };
    let tools: String = ["paint_a", "paint_b", "paint_c", "paint_d"].map(tool).concat();
    let mut client = Client::open(unrestricted(index(&fake_config(&tools))), meta(&["search"]), json!({})).await;
    let mut shown = async |arguments: Value| {
        let found = client.tool("climax_search", arguments).await;
        let found: Value = serde_json::from_str(text(&found)).unwrap();
        let args = |entry: &Value| {
            let schema = &entry["input_schema"];
            let keys = |object: &Value| -> Vec<String> {
                object.as_object().into_iter().flat_map(|all| all.keys().cloned()).collect()
            };
            let properties = &schema["properties"];
            json!([schema["description"], keys(properties), keys(&properties["steps"]["items"]["properties"])])
        };
        found["results"].as_array().unwrap().iter().map(args).collect::<Vec<Value>>()
    };

    let rule = "Give exactly one of roll, brush.";
    let whole = |at: &str| {
        json!([
            format!("2 more arguments: search for paint_{at}. {rule}"),
            ["wall", "roll", "brush", "color", "steps"],
            ["first"]
        ])
    };
    let brief =
        |at: &str| json!([format!("4 more arguments: search for paint_{at}. {rule}"), ["wall", "roll", "brush"], []]);
    assert_eq!(shown(json!({ "query": "paint walls" })).await, [whole("a"), whole("b"), brief("c"), brief("d")]);
    assert_eq!(shown(json!({ "query": "paint walls", "offset": 1 })).await, [whole("b"), brief("c"), brief("d")]);
    let filtered = shown(json!({ "cli": "fake" })).await;
    assert_eq!(filtered, [whole("a"), whole("b"), whole("c"), whole("d")]);
    let all = json!([rule, ["wall", "roll", "brush", "color", "gloss", "steps"], ["first", "then"]]);
    assert_eq!(shown(json!({ "query": "paint_c" })).await[0], all);
}

#[tokio::test]
async fn definitions_of_all_meta_tools() {
    let all = ["search", "call", "read", "describe", "examples", "check"];
    let tools = definitions(meta(&all)).await;
    for tool in &tools {
        assert_eq!(tool["_meta"], json!({ "anthropic/alwaysLoad": true }), "{tool}");
        assert!(tool["title"].is_string(), "{tool}");
    }
    let hints = |tool: &Value| {
        let hint = |name: &str| tool["annotations"][name].clone();
        format!("{}: {} {} {}", tool["name"], hint("readOnlyHint"), hint("destructiveHint"), hint("openWorldHint"))
    };
    insta::assert_snapshot!(tools.iter().map(hints).collect::<Vec<_>>().join("\n"), @r#"
    "climax_search": true null false
    "climax_call": null true true
    "climax_read": true null true
    "climax_describe": true null false
    "climax_examples": true null false
    "climax_check": true null false
    "#);
}

#[tokio::test]
async fn the_call_name_is_published_and_all_spellings_are_read() {
    for (call_name, published) in
        [(CallName::ToolName, "tool_name"), (CallName::Tool, "tool"), (CallName::Name, "name")]
    {
        let tools = ["call", "read", "examples"];
        let surface = || {
            Surface::Meta(
                MetaSurface::of(tools.iter().filter_map(|word| MetaTool::of_word(word))).with_call_name(call_name),
            )
        };
        for tool in definitions(surface()).await {
            // climax_read takes a command line too.
            let is_read = tool["name"] == "climax_read";
            let required = if is_read { Value::Null } else { json!([published]) };
            assert_eq!(tool["inputSchema"]["required"], required, "{tool}");
            assert!(tool["inputSchema"]["properties"][published].is_object(), "{tool}");
            assert_eq!(
                tool["inputSchema"]["properties"].as_object().unwrap().len(),
                2 + usize::from(is_read),
                "{tool}"
            );
        }
        let mut client = open(surface()).await;
        for accepted in ["tool_name", "tool", "name"] {
            let result = client.tool("climax_call", json!({ accepted: "look", "args": { "word": "hi" } })).await;
            assert_eq!(text(&result), "<hi>", "{accepted}");
        }
        let missing = client.tool("climax_call", json!({ "args": {} })).await;
        assert!(text(&missing).contains(&format!("Missing required argument '{published}'")), "{missing}");
        let examples = client.tool("climax_examples", json!({ published: "wipe" })).await;
        assert_eq!(text(&examples), json!({ "examples": [{ published: "wipe", "args": {} }] }).to_string());
    }
    let list = Server::start(&["--call-name", "tool", "jq"]).request("tools/list", json!({}));
    assert_eq!(list["result"]["tools"][1]["inputSchema"]["required"], json!(["tool"]));
}

#[tokio::test]
async fn the_server_names_itself_and_shows_its_icon_on_initialize_alone() {
    let mut client = Client::connect(unrestricted(index(&fake_config(TOOLS))), Surface::default());
    let info = client.ask(1, "initialize", &initialize("2025-11-25")).await["result"]["serverInfo"].clone();
    assert_eq!((&info["name"], &info["title"]), (&json!("climax"), &json!("climax: command-line programs")));
    let icon = info["icons"][0]["src"].as_str().unwrap();
    assert!(icon.starts_with("data:image/svg+xml;base64,") && icon.len() < 400, "{icon}");
    let mut client = Client::connect(unrestricted(index(&fake_config(TOOLS))), Surface::default());
    let discovered = client.ask(1, "server/discover", &json!({ "_meta": modern_meta() })).await.to_string();
    assert!(discovered.contains("climax: command-line programs") && !discovered.contains("svg"), "{discovered}");
}

#[tokio::test]
async fn instructions_name_the_meta_tools_that_are_served() {
    let instructions = async |surface: Surface| {
        let mut client = Client::connect(unrestricted(index(&fake_config(TOOLS))), surface);
        let answer = client.ask(1, "initialize", &initialize("2025-11-25")).await;
        answer["result"]["instructions"].as_str().unwrap().to_owned()
    };
    let mut all = Vec::new();
    for tools in ["search,call", "search,read,call", "search,read", "search,describe", "call"] {
        let tools: Vec<&str> = tools.split(',').collect();
        all.push(instructions(meta(&tools)).await);
    }
    assert_eq!(all[0], instructions(extended()).await);
    all.push(instructions(Surface::Classic).await);
    insta::assert_snapshot!(all.join("\n\n"));
}
