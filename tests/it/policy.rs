//! Policies: hidden tools, denied arguments, compiled-in policies.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use climax::call::Toolbox;
use climax::call::arguments::{bind, check};
use climax::catalog::policy::{self, Executor, Headless};
use climax::catalog::{Catalog, Layer, Source, ToolIndex, compile};
use climax::exec::Limits;
use climax::exec::Runner;
use climax::mcp::Surface;
use climax::serving::load::{LoadError, LoadedTools, Wanted, load_tools};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::client::{Client, extended, meta, read_policy, restricted, unrestricted};
use crate::support::{Server, catalog, climax, fake_config, index, text};

const TOOLS: &str = "
  - {name: say, description: Prints words, command: argv, args: [{name: word, positional: true}, {name: count, type: integer, default: 7}, {name: on, type: boolean}]}
  - {name: secret, description: Prints zebras, command: argv, risk: destructive}
";

async fn open(policy: &str, surface: Surface) -> Client {
    Client::open(restricted(index(&fake_config(TOOLS)), policy), surface, json!({})).await
}

#[tokio::test]
async fn policy_is_checked_after_all_other_checks() {
    let policy = "
tools:
  say:
    args:
      word: {pattern: '[a-z]+', allow_leading_dash: true}
      count: {min: 2, max: 8}
";
    let mut client = open(policy, Surface::default()).await;
    let mut call = async |args: Value| {
        let result = client.tool("climax_call", json!({ "tool_name": "say", "args": args })).await;
        let code = result["structuredContent"]["error"]["code"].as_str().unwrap_or("ok").to_owned();
        format!("{code}: {}", text(&result))
    };
    let said = [
        call(json!({ "word": "fine" })).await,
        call(json!({ "word": "fine\n" })).await,
        call(json!({ "word": "-x", "count": 9 })).await,
        call(json!({ "word": "UPPER", "count": 1 })).await,
        call(json!({ "word": "UPPER", "count": "many" })).await,
        call(json!({})).await,
    ];
    insta::assert_snapshot!(said.join("\n\n"));
}

#[tokio::test]
async fn defaults_are_checked() {
    let mut client = open("tools: {say: {args: {count: {max: 5}}}}", Surface::Classic).await;
    assert_eq!(
        text(&client.tool("say", json!({})).await),
        "Policy validation failed:\n  - Argument 'count': value 7 exceeds maximum 5"
    );
    assert_eq!(text(&client.tool("say", json!({ "count": 5 })).await), "<--count>\n<5>");
}

#[tokio::test]
async fn length_of_values_is_limited() {
    let mut client = open("default: enabled", Surface::Classic).await;
    let long = client.tool("say", json!({ "word": "x".repeat(131_072) })).await;
    assert_eq!(
        text(&long),
        "Argument validation failed:\n  - Argument 'word': value is 131072 bytes long, the most is 131071"
    );
}

#[tokio::test]
async fn published_schema_contains_the_rules() {
    let policy = "
tools:
  say:
    description: Greets
    args:
      word: {pattern: a|b}
      count: {min: -1.5, max: 10}
";
    let mut client = open(policy, Surface::Classic).await;
    let classic = client.ask(1, "tools/list", &json!({})).await["result"]["tools"].clone();
    let mut client = open(policy, extended()).await;
    let found = client.tool("climax_search", json!({ "query": "greets" })).await;
    let found: Value = serde_json::from_str(text(&found)).unwrap();
    assert_eq!(found["results"][0]["input_schema"], classic[0]["inputSchema"]);
    insta::assert_snapshot!(serde_json::to_string_pretty(&classic).unwrap());
    // Words that the policy replaced find nothing.
    for words in ["prints", "zebras"] {
        let found = client.tool("climax_search", json!({ "query": words })).await;
        assert!(text(&found).contains("\"results\":[]"), "{}", text(&found));
    }
}

#[tokio::test]
async fn pattern_that_javascript_refuses_is_in_the_description() {
    let mut client = open("tools: {say: {args: {word: {pattern: '(?i)main'}}}}", Surface::Classic).await;
    let tools = client.ask(1, "tools/list", &json!({})).await["result"]["tools"].clone();
    let described = "The value matches the regular expression `(?i)main`.";
    assert_eq!(tools[0]["inputSchema"]["properties"]["word"], json!({ "type": "string", "description": described }));
    assert_eq!(text(&client.tool("say", json!({ "word": "MAIN" })).await), "<MAIN>\n<--count>\n<7>");
    let refused = client.tool("say", json!({ "word": "next" })).await;
    assert_eq!(refused["structuredContent"]["error"]["code"], "policy_denied");
}

/// A server in a directory of its own, with a tool whose `cwd` the policy confines to `allowed` in that directory.
fn confined(start_in: &str, config_dir: Option<&str>) -> (tempfile::TempDir, Server) {
    let dir = tempfile::tempdir().unwrap();
    for part in ["allowed", "other"] {
        std::fs::create_dir(dir.path().join(part)).unwrap();
    }
    let path = |name: &str| dir.path().join(name).canonicalize().unwrap();
    let tool = "  - {name: where, description: W, command: cwd, args: [{name: dir, cwd: true}]}\n";
    let working_dir = config_dir.map(|own| format!("working_dir: {own}\n")).unwrap_or_default();
    std::fs::write(dir.path().join("fake.yaml"), fake_config(tool) + &working_dir).unwrap();
    let policy = format!("tools: {{where: {{args: {{dir: {{pattern: '{}'}}}}}}}}\n", path("allowed").display());
    std::fs::write(dir.path().join("policy.yaml"), policy).unwrap();
    let mut command = climax();
    command.current_dir(path(start_in)).args(["--config", "../fake.yaml", "--policy", "../policy.yaml"]);
    let mut server = Server::spawn(&mut command);
    server.initialize("2025-06-18");
    (dir, server)
}

#[test]
fn rule_for_a_directory_applies_to_a_call_that_gives_none() {
    let (dir, mut server) = confined("other", None);
    let [allowed, other] = ["allowed", "other"].map(|part| dir.path().join(part).canonicalize().unwrap());
    let refused = server.call("where", json!({}));
    assert_eq!(refused["structuredContent"]["error"]["code"], "policy_denied", "{refused}");
    let said = text(&refused);
    assert!(said.contains(&format!("value '{}' does not match", other.display())), "{said}");
    assert!(said.contains("it is the directory of calls without 'dir', so give 'dir'"), "{said}");
    assert_eq!(text(&server.call("where", json!({ "dir": allowed }))), allowed.to_str().unwrap());

    let (dir, mut server) = confined("allowed", None);
    let allowed = dir.path().join("allowed").canonicalize().unwrap();
    assert_eq!(text(&server.call("where", json!({}))), allowed.to_str().unwrap());

    let (dir, mut server) = confined("allowed", Some("../other"));
    assert_eq!(server.call("where", json!({}))["structuredContent"]["error"]["code"], "policy_denied", "{dir:?}");
}

#[test]
fn bounds_hold_for_the_exact_number() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let tool = "  - {name: take, description: T, command: argv, args: [{name: n, type: number, flag: '--n='}]}\n";
    std::fs::write(path("fake.yaml"), fake_config(tool)).unwrap();
    std::fs::write(path("policy.yaml"), "tools: {take: {args: {n: {min: 0, max: 0.1}}}}\n").unwrap();
    let mut server = Server::start(&["--config", &path("fake.yaml"), "--policy", &path("policy.yaml")]);
    for (number, problem) in [
        ("-1e-400", Some("value -1e-400 is below minimum 0")),
        ("0.1000000000000000000001", Some("exceeds maximum 0.1")),
        ("0.1", None),
        ("1e-400", None),
    ] {
        let result = server.call("take", json!({ "n": serde_json::from_str::<Value>(number).unwrap() }));
        match problem {
            Some(problem) => assert!(text(&result).contains(problem), "{number}: {result}"),
            None => assert_eq!(text(&result), format!("<--n={number}>")),
        }
    }
}

#[test]
fn rules_for_unknown_names_are_warnings_with_suggestions() {
    let policy = "
tools:
  sya: {}
  say:
    args:
      wrod: {pattern: x}
      on: {min: 1}
      count: {max: 3}
  nothing-like-it: {}
approval: {tools: {secrets: true}}
";
    let applied = read_policy(policy).apply(index(&fake_config(TOOLS)), &|_| false).unwrap();
    insta::assert_snapshot!(applied.warnings.render(climax::catalog::Style::Plain));
}

/// CLIs with their tools. Descriptions have few different words, so that searches find many tools.
fn clis() -> impl Strategy<Value = Vec<Vec<Vec<usize>>>> {
    let tool = proptest::collection::vec(0..WORDS.len(), 1..5);
    proptest::collection::vec(proptest::collection::vec(tool, 1..5), 1..4)
}

const WORDS: &[&str] = &["list", "branch", "remove", "files", "remote", "show", "log", "zebra", "commit", "quokka"];

/// Builds the index of the CLIs with the tools that `is_included` selects.
fn built(clis: &[Vec<Vec<usize>>], is_included: impl Fn(&str) -> bool) -> ToolIndex {
    let mut sources = Vec::new();
    for (at, tools) in clis.iter().enumerate() {
        let mut yaml = format!("name: cli{at}\ncommand: 'true'\ntags: [tag{at}]\ntools:\n");
        let mut count = 0;
        let mut prompts = String::new();
        for (number, words) in tools.iter().enumerate() {
            let words: Vec<&str> = words.iter().map(|word| WORDS[*word]).collect();
            let name = format!("{}_{at}_{number}", words[0]);
            if is_included(&name) {
                count += 1;
                let risk = ["read", "write", "destructive"][number % 3];
                let words = words.join(" ");
                let resource = if risk == "read" { format!(", resource: 'x:{name}'") } else { String::new() };
                let _ = writeln!(yaml, "  - {{name: {name}, description: {words}, risk: {risk}{resource}}}");
                if risk == "read" {
                    let _ =
                        writeln!(prompts, "  - {{name: p_{name}, description: {words}, messages: [{{tool: {name}}}]}}");
                }
            }
        }
        if !prompts.is_empty() {
            let _ = write!(yaml, "prompts:\n{prompts}");
        }
        if count > 0 {
            sources.push(Source::new(&format!("cli{at}.yaml"), yaml.into_bytes()).unwrap());
        }
    }
    ToolIndex::from_configs(vec![Layer::loaded(compile(&sources).unwrap().catalog)])
}

/// Returns the responses to all requests that could reveal a tool.
async fn answers(mut client: Client, surface: &Surface, names: &[String]) -> Vec<Value> {
    let initialize =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "0" } });
    let mut answers = vec![client.ask(1, "initialize", &initialize).await];
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    answers.push(client.ask(2, "tools/list", &json!({})).await);
    for list in ["resources/list", "resources/templates/list", "prompts/list"] {
        answers.push(client.ask(7, list, &json!({})).await);
    }
    for name in names {
        answers.push(client.ask(8, "resources/read", &json!({ "uri": format!("x:{name}") })).await);
        for method in ["resources/subscribe", "resources/unsubscribe"] {
            answers.push(client.ask(8, method, &json!({ "uri": format!("x:{name}") })).await);
        }
        answers.push(client.ask(9, "prompts/get", &json!({ "name": format!("p_{name}") })).await);
        let direct = if *surface == Surface::Classic { name.as_str() } else { "climax_call" };
        let call = json!({ "name": direct, "arguments": { "tool_name": format!("{name}x") } });
        answers.push(client.ask(3, "tools/call", &call).await);
        for (tool, arguments) in [
            ("climax_describe", json!({ "tools": [name], "detail": "full" })),
            ("climax_examples", json!({ "tool_name": name })),
            ("climax_read", json!({ "tool_name": name })),
            ("climax_read", json!({ "command": format!("{name} x") })),
            ("climax_run", json!({ "command": format!("true | {name}") })),
            ("climax_run", json!({ "command": "true" })),
            ("climax_chain", json!({ "steps": [{ "tool_name": name, "args": { "x": 1 } }] })),
            ("climax_search", json!({ "query": name })),
        ] {
            answers.push(client.ask(4, "tools/call", &json!({ "name": tool, "arguments": arguments })).await);
        }
    }
    for query in
        WORDS.iter().map(|word| (*word).to_owned()).chain(["remove a branch", "show zebra log"].map(String::from))
    {
        let search = json!({ "name": "climax_search", "arguments": { "query": query, "limit": 3 } });
        answers.push(client.ask(5, "tools/call", &search).await);
    }
    for filter in [json!({}), json!({ "cli": "cli0" }), json!({ "query": "" }), json!({ "query": "tag1" })] {
        answers.push(client.ask(6, "tools/call", &json!({ "name": "climax_search", "arguments": filter })).await);
    }
    answers
}

/// Writes a policy that permits these tools, in one of four forms.
fn form_of(form: u8, permitted: &BTreeSet<String>, hidden: &[&str]) -> String {
    let list = |names: &mut dyn Iterator<Item = &str>| names.collect::<Vec<_>>().join(", ");
    let permitted = list(&mut permitted.iter().map(String::as_str));
    let hidden = list(&mut hidden.iter().copied());
    let rules = match form {
        0 => format!("default: disabled\ntools: {{{}}}\n", permitted.replace(", ", ": {}, ") + ": {}"),
        1 => format!("default: disabled\nallow: [{permitted}]\n"),
        2 => format!("default: enabled\ndeny: [{hidden}]\n"),
        _ => format!("default: disabled\nallow: ['*_*', {{cli: cli0}}]\ndeny: [{hidden}]\n"),
    };
    format!("approval: {{global: none}}\nlines: {{unknown: read}}\n{rules}")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A client gets the same responses for a hidden tool as for an absent one.
    #[test]
    fn hidden_tools_are_indistinguishable_from_absent_ones(
        clis in clis(),
        choice in proptest::collection::vec(any::<bool>(), 16),
        form in 0..4_u8,
        surface in prop_oneof![Just(Surface::default()), Just(meta(&["search", "call", "read", "run", "describe", "examples", "chain"])), Just(extended()), Just(Surface::Classic)],
    ) {
        let names: Vec<String> = built(&clis, |_| true).tools().map(|tool| tool.name().to_owned()).collect();
        let permitted: BTreeSet<String> =
            names.iter().zip(choice.iter().cycle()).filter(|(_, chosen)| **chosen).map(|(name, _)| name.clone()).collect();
        prop_assume!(!permitted.is_empty());
        let hidden: Vec<&str> = names.iter().map(String::as_str).filter(|name| !permitted.contains(*name)).collect();
        let mut policy = form_of(form, &permitted, &hidden);
        let _ = writeln!(policy, "prompts: [{}]", names.iter().map(|name| format!("p_{name}")).collect::<Vec<_>>().join(", "));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (seen, expected) = runtime.block_on(async {
            let under_policy = Client::connect(restricted(built(&clis, |_| true), &policy), surface.clone());
            let without = Client::connect(unrestricted(built(&clis, |name| permitted.contains(name))), surface.clone());
            (answers(under_policy, &surface, &names).await, answers(without, &surface, &names).await)
        });
        prop_assert_eq!(seen, expected);
    }
}

/// Makes a catalog with a compiled-in policy.
fn compiled_in(policy: &str) -> &'static Catalog {
    let catalog = catalog(&fake_config(TOOLS));
    let source = Source::new("policy.yaml", policy.as_bytes().to_vec()).unwrap();
    Box::leak(Box::new(policy::read(&source).unwrap().compile_in(catalog).unwrap().catalog))
}

/// Loads its tools at run time, with the content of a config and of a policy file.
fn at_run_time(
    catalog: &'static Catalog,
    config: Option<&str>,
    policy: Option<&str>,
) -> Result<LoadedTools, LoadError> {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        std::fs::write(dir.path().join(name), text).unwrap();
        dir.path().join(name)
    };
    let configs: Vec<_> = config.into_iter().map(|text| write("more.yaml", text)).collect();
    let policy = policy.map(|text| write("policy.yaml", text));
    let wanted = Wanted { configs, ..Wanted::default() };
    load_tools(catalog, &wanted, policy.as_deref()).map(|loaded| loaded.served)
}

const MORE: &str = "name: more\ncommand: 'true'\ntools: [{name: added, description: A, risk: write}]\n";

#[tokio::test]
async fn compiled_in_policy_applies_without_a_file() {
    let catalog = compiled_in("tools: {say: {args: {count: {max: 5}}}}\napproval: {global: all}");
    assert_eq!(catalog.tools.len(), 1, "what it hides is not compiled in");
    let LoadedTools { index, policy } = at_run_time(catalog, None, None).unwrap();
    assert!(policy.needs_approval(index.get("say").unwrap()));
    let runner = Runner::new(policy.executor().clone(), Limits::default(), 1);
    let mut client = Client::open(Toolbox::new(index, policy, runner, None), Surface::Classic, json!({})).await;
    assert!(text(&client.tool("say", json!({})).await).contains("exceeds maximum 5"));
    assert_eq!(
        text(&client.tool("say", json!({ "count": 1 })).await),
        "Tool execution needs approval, and this client cannot ask anybody: say (policy: approval.headless is deny)"
    );
}

#[test]
fn policy_at_run_time_only_narrows_the_compiled_in_one() {
    let catalog = compiled_in(
        "tools: {say: {args: {word: {pattern: '[a-z]*', allow_leading_dash: true}, count: {min: 2, max: 8}}}}\n\
         approval: {global: none, tools: {say: true}}",
    );
    let wide = "default: enabled\napproval: {global: none, headless: approve, tools: {say: false}}\n\
                tools: {secret: {}, say: {args: {word: {pattern: '.*[bc].*'}, count: {min: 1, max: 5}}}}";
    let LoadedTools { index, policy } = at_run_time(catalog, None, Some(wide)).unwrap();
    let say = index.get("say").unwrap();
    assert!(index.get("secret").is_none() && policy.needs_approval(say));
    assert_eq!(policy.headless(), Headless::Deny);
    let refused = |arguments: Value| {
        let bound = bind(say, arguments.as_object().unwrap());
        bound
            .map_err(|problems| problems.len())
            .and_then(|bound| check(&bound).map_err(|problems| problems.len()))
            .err()
    };
    assert_eq!(refused(json!({ "word": "ab", "count": 5 })), None);
    assert_eq!(refused(json!({ "word": "ad", "count": 5 })), Some(1), "the new pattern");
    assert_eq!(refused(json!({ "word": "AB", "count": 5 })), Some(2), "both patterns");
    assert_eq!(refused(json!({ "word": "ab", "count": 1 })), Some(1), "the old minimum");
    assert_eq!(refused(json!({ "word": "ab", "count": 6 })), Some(1), "the new maximum");
    assert_eq!(refused(json!({ "word": "-b", "count": 3 })), Some(1), "a rule without it takes the dash back");
    let schema: Value = serde_json::from_str(say.input_schema()).unwrap();
    assert_eq!(schema["properties"]["count"], json!({ "type": "integer", "default": 7, "minimum": 2, "maximum": 5 }));
    assert_eq!(schema["properties"]["word"]["allOf"].as_array().unwrap().len(), 2);
}

#[test]
fn compiled_in_policy_sets_the_executor() {
    let catalog = compiled_in("default: enabled\nexecutor: {type: docker, image: fixed}");
    let place =
        |policy: Option<&str>| at_run_time(catalog, None, policy).map(|served| served.policy.executor().clone());
    let Ok(Executor::Container(container)) = place(Some("default: enabled")) else { panic!("no container") };
    assert_eq!(container.image, "fixed");
    assert!(place(Some("executor: {type: docker, image: fixed}")).is_ok());
    for other in ["executor: {type: local}", "executor: {type: docker, image: other}", "executor: {type: sandbox}"] {
        let Err(LoadError::Files(found)) = place(Some(other)) else { panic!("{other} is not refused") };
        assert!(found.render(climax::catalog::Style::Plain).contains("error[widening]"));
    }
}

#[test]
fn configs_at_run_time_cannot_bypass_the_compiled_in_policy() {
    let added = |policy: &str, config: &str| at_run_time(compiled_in(policy), Some(config), None);
    assert!(matches!(added("default: disabled", MORE), Err(LoadError::NotPermitted(names)) if names == ["added"]));
    let replacing = fake_config("  - {name: secret, description: S, command: argv}\n");
    assert!(
        matches!(added("default: enabled", &replacing), Err(LoadError::NotPermitted(names)) if names == ["secret"])
    );
    let with_more = fake_config(&format!(
        "{TOOLS}  - {{name: look, description: L, command: argv, risk: read, resource: 'fake:{{y}}', args: [{{name: y}}]}}\n\
         prompts: [{{name: look, description: L, messages: [Look.]}}]\n"
    ));
    let source = Source::new("policy.yaml", b"default: enabled".to_vec()).unwrap();
    let compiled = policy::read(&source).unwrap().compile_in(catalog(&with_more)).unwrap().catalog;
    let compiled: &'static Catalog = Box::leak(Box::new(compiled));
    let shadow = "name: more\ncommand: echo\ntools: [{name: added, description: A, risk: read, resource: 'fake:{x}', args: [{name: x}]}]\n\
                  prompts: [{name: look, description: L, messages: [{tool: added}]}]\n";
    let refused = at_run_time(compiled, Some(shadow), None).unwrap_err();
    assert!(
        matches!(&refused, LoadError::NotPermitted(names) if names == &["prompt look", "resource fake:{}"]),
        "{refused}"
    );
    let LoadedTools { index, policy } = added("default: enabled", MORE).unwrap();
    assert!(policy.needs_approval(index.get("added").unwrap()), "by its risk, as the compiled-in policy has it");
    let LoadedTools { index, policy } = added("default: enabled\napproval: {global: destructive}", MORE).unwrap();
    assert!(!policy.needs_approval(index.get("added").unwrap()));
}

#[test]
fn sealed_catalog_accepts_no_configs() {
    let mut catalog = catalog(&fake_config(TOOLS));
    catalog.sealed = true;
    let catalog = Box::leak(Box::new(catalog));
    assert!(matches!(at_run_time(catalog, Some(MORE), None), Err(LoadError::Sealed)));
    assert_eq!(at_run_time(catalog, None, Some("tools: {say: {}}")).unwrap().index.tools().count(), 1);
}

#[test]
fn compiled_in_policy_rejects_unknown_names() {
    let source = Source::new("policy.yaml", b"tools: {sya: {}, say: {args: {wrod: {max: 1}}}}".to_vec()).unwrap();
    let found = policy::read(&source).unwrap().compile_in(catalog(&fake_config(TOOLS))).unwrap_err();
    assert_eq!(found.errors().count(), 2, "{}", found.render(climax::catalog::Style::Plain));
}
