//! Failed calls: the text for the model, and the structure that some clients show instead.

use serde_json::{Value, json};

use crate::support::{Server, climax, fake_config, run, text};

const TOOLS: &str = r"
  - {name: count, description: x, command: argv, args: [{name: n, type: integer, required: true}]}
  - {name: fails, description: x, command: exit 3 said so}
  - {name: both, description: x, command: both}
  - {name: differs, description: x, command: exit, exit_codes: {1: no match, 2: files differ}, args: [{name: code, positional: true}]}
  - {name: aborts, description: x, command: abort}
  - {name: slow, description: x, command: announce, timeout: 0.5}
  - {name: image, description: x, command: flood 9000000, output: {mime: image/png}}
  - {name: push, description: x, command: argv, risk: destructive, args: [{name: word}]}
  - {name: argv, description: x, command: argv, args: [{name: word, positional: true}]}
";
const POLICY: &str =
    "default: enabled\napproval: {global: destructive}\ntools: {argv: {args: {word: {pattern: '[a-z]+'}}}}";

/// The files of a server: its configs and its policy.
fn files() -> (tempfile::TempDir, Vec<String>) {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    std::fs::write(path("fake.yaml"), fake_config(TOOLS)).unwrap();
    std::fs::write(path("absent.yaml"), "command: no-such-program\ntools: [{name: absent, description: x}]").unwrap();
    std::fs::write(path("policy.yaml"), POLICY).unwrap();
    let options = [("--config", "fake.yaml"), ("--config", "absent.yaml"), ("--policy", "policy.yaml")];
    let options = options.iter().flat_map(|(option, name)| [(*option).to_owned(), path(name)]).collect();
    (directory, options)
}

#[test]
fn structure_holds_what_the_text_says() {
    let (_directory, options) = files();
    let mut server = Server::start(&options.iter().map(String::as_str).collect::<Vec<_>>());
    let mut shown = Vec::new();
    for (tool, arguments) in [
        ("cuont", json!({})),
        ("count", json!({ "n": "x", "m": 1 })),
        ("argv", json!({ "word": "A" })),
        ("push", json!({ "word": "a" })),
        ("fails", json!({})),
        ("aborts", json!({})),
        ("slow", json!({})),
        ("absent", json!({})),
        ("image", json!({})),
    ] {
        let result = server.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        let error = &result["structuredContent"]["error"];
        let text = text(&result).replace(|c: char| c.is_ascii_digit() && tool == "slow", "9");
        let error = error.to_string().replace(|c: char| c.is_ascii_digit() && tool == "slow", "9");
        shown.push(format!("--- {tool}\n{text}\n{error}"));
    }
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn exit_codes_that_are_answers_are_no_errors() {
    let (_directory, options) = files();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let mut server = Server::start(&options);
    let answer = server.call("differs", json!({ "code": "1" }));
    assert_eq!((text(&answer), &answer["isError"]), ("[exit code: 1, no match]", &json!(false)));
    assert_eq!(answer["structuredContent"], Value::Null);
    let failure = server.call("differs", json!({ "code": "3" }));
    assert_eq!((text(&failure), &failure["isError"]), ("[exit code: 3]", &json!(true)));
    // A policy compiles the tools again.
    let (code, stdout, _) = run(climax().arg("call").args(&options).args(["differs", "code=2"]));
    assert_eq!((code, stdout.as_str()), (0, "[exit code: 2, files differ]\n"));
}

#[test]
fn results_count_the_background_processes_that_were_ended() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    std::fs::write(path("works.sh"), "sleep 60 & echo done").unwrap();
    std::fs::write(path("fails.sh"), "sleep 60 & sleep 60 & echo no >&2; exit 3").unwrap();
    let tool = |name: &str| format!("  - {{name: {name}, description: x, command: {}}}\n", path(&format!("{name}.sh")));
    let config = format!("command: sh\ntools:\n{}{}", tool("works"), tool("fails"));
    std::fs::write(path("shell.yaml"), config).unwrap();
    let mut server = Server::start(&["--config", &path("shell.yaml")]);
    let works = server.call("works", json!({}));
    assert_eq!(text(&works), "done\n\n[stderr]\n1 background process was ended with the program");
    let fails = server.call("fails", json!({}));
    let stderr = "no\n2 background processes were ended with the program";
    assert_eq!(text(&fails), format!("[stderr]\n{stderr}\n\n[exit code: 3]"));
    assert_eq!(fails["structuredContent"]["error"]["details"][0]["stderr"], stderr);
}

#[test]
fn results_show_what_a_person_sees() {
    const PRINTED: &str =
        "\u{1b}[31mred\u{1b}[0m \u{1b}]8;;https://a.example\u{7}link\u{1b}]8;;\u{7} a\u{202e}b \u{e0041}\r\n";
    let (_directory, options) = files();
    let options: Vec<&str> = options[..2].iter().map(String::as_str).collect();
    let call = |server: &mut Server| text(&server.call("argv", json!({ "word": PRINTED }))).to_owned();
    assert_eq!(call(&mut Server::start(&options)), "<red link a\\u{202e}b \\u{e0041}\n>");
    let raw = [&options[..], &["--raw-output"]].concat();
    assert_eq!(call(&mut Server::start(&raw)), format!("<{PRINTED}>"));
    let printed = |more: &[&str]| {
        let word = format!("word={PRINTED}");
        run(climax().arg("call").args(&options).args(more).args(["argv", &word])).1
    };
    assert_eq!(printed(&[]), "<red link a\\u{202e}b \\u{e0041}\n>\n");
    assert_eq!(printed(&["--raw-output"]), format!("<{PRINTED}>\n"));
}

#[test]
fn searches_take_arguments_as_clients_fill_them_in() {
    let (_directory, options) = files();
    let mut server = Server::start(&["jq", options[0].as_str(), options[1].as_str()]);
    let mut search = |arguments: Value| {
        let result = server.request("tools/call", json!({ "name": "climax_search", "arguments": arguments }));
        text(&result["result"]).to_owned()
    };
    let plain = search(json!({ "query": "argv" }));
    assert!(plain.contains("\"argv\""), "{plain}");
    for filled in [json!({ "limit": 0 }), json!({ "cli": "", "category": "" }), json!({ "offset": " 0 " })] {
        let mut arguments = json!({ "query": "argv" });
        arguments.as_object_mut().unwrap().extend(filled.as_object().unwrap().clone());
        assert_eq!(search(arguments), plain, "{filled}");
    }
    for (key, meant) in [("qury", "query"), ("q", "query"), ("keyword", "query"), ("clii", "cli")] {
        let text = search(json!({ key: "argv" }));
        assert_eq!(text, format!("Argument validation failed:\n  - Unknown argument '{key}': did you mean '{meant}'?"));
    }
    let text = search(json!({ "query": "argv", "offset": -1 }));
    assert!(text.starts_with("Argument validation failed:\n  - Argument 'offset': cannot convert '-1'"), "{text}");
    assert!(search(json!({ "query": "argv", "limit": -1 })).contains("\"results\":[]"));
}

#[test]
fn searches_skip_as_many_results_as_they_are_told() {
    let mut server = Server::start(&["git", "jq", "find"]);
    let mut search = |arguments: Value| {
        let result = server.request("tools/call", json!({ "name": "climax_search", "arguments": arguments }));
        serde_json::from_str::<Value>(text(&result["result"])).unwrap()
    };
    for (query, list) in [
        (json!({ "query": "commit" }), "results"),
        (json!({ "query": "git log --oneline -n 5" }), "results"),
        (json!({ "cli": "git" }), "results"),
        (json!({}), "summary"),
    ] {
        let mut page = |offset: Value, limit: usize| {
            let mut arguments = query.clone();
            arguments["offset"] = offset;
            arguments["limit"] = limit.into();
            search(arguments)[list].as_array().unwrap().clone()
        };
        let whole = page(json!(0), 100);
        assert!(whole.len() > 2, "{query}");
        assert_eq!(page(json!("1"), 2), whole[1..3], "{query}");
        let rest = whole.len() - 1;
        assert_eq!(page(json!(1), 100)[..rest], whole[1..], "{query}");
        assert!(page(json!(1_000_000), 5).is_empty() && page(json!(i64::MAX), 5).is_empty(), "{query}");
    }
}

#[test]
fn errors_have_the_schema_of_the_arguments_concerned() {
    let mut server = Server::start(&["git"]);
    let mut schema = |tool: &str, arguments: Value| {
        let result = server.call(tool, arguments);
        assert_eq!(result["structuredContent"]["error"]["code"], "invalid_arguments", "{result}");
        let details = result["structuredContent"]["error"]["details"].as_array().unwrap();
        let schemas: Vec<&Value> = details.iter().filter_map(|detail| detail.get("input_schema")).collect();
        assert!(schemas.len() < 2, "{result}");
        schemas.first().map_or(Value::Null, |schema| (*schema).clone())
    };
    let names = |schema: &Value| schema["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let misspelt = schema("git_log", json!({ "max_cuont": 3 }));
    assert_eq!(names(&misspelt), ["max_count"]);
    assert_eq!((&misspelt["type"], &misspelt["required"]), (&json!("object"), &Value::Null));
    assert_eq!(misspelt["properties"]["max_count"]["type"], "integer");
    let missing = schema("git_show_file", json!({ "zebra": 1 }));
    assert_eq!(missing["required"], json!(names(&missing)), "{missing}");
    assert_eq!(names(&schema("git_log", json!({ "path": [{}], "max_count": "x" }))).len(), 2);

    let (_directory, options) = files();
    let mut server = Server::start(&options.iter().map(String::as_str).collect::<Vec<_>>());
    let result = server.call("push", json!({ "simulate": true }));
    let details = &result["structuredContent"]["error"]["details"];
    assert_eq!(details.as_array().unwrap().len(), 1, "no argument is meant: {details}");
}
