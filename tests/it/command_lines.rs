//! Command lines of real programs: configs can say them, and calls give exactly their words.

use std::fs;
use std::path::Path;

use climax::call::arguments::bind;
use climax::call::command_line::plan;
use climax::catalog::{Layer, Style, ToolIndex, compile, files};
use serde_json::{Value, json};

use crate::support::{Server, fake_config, index};

/// The tools of the configs in `tests/command_lines`.
pub(crate) fn programs() -> ToolIndex {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/command_lines");
    let mut paths: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    let (sources, found) = files::read(&paths, |path| path.display().to_string());
    assert!(found.is_empty(), "{}", found.render(Style::Plain));
    let compiled = compile(&sources).unwrap_or_else(|found| panic!("{}", found.render(Style::Plain)));
    ToolIndex::from_configs(vec![Layer::loaded(compiled.catalog)])
}

fn words(index: &ToolIndex, tool: &str, arguments: &Value) -> Vec<String> {
    let tool = index.get(tool).unwrap_or_else(|| panic!("no tool {tool}"));
    let arguments = arguments.as_object().unwrap();
    let bound = bind(tool, arguments).unwrap_or_else(|found| panic!("{}: {found:?}", tool.name()));
    plan(tool, &bound, &|_| None).argv
}

fn violations(index: &ToolIndex, tool: &str, arguments: &Value) -> Vec<String> {
    let bound = bind(index.get(tool).unwrap(), arguments.as_object().unwrap());
    bound.unwrap_err().iter().map(ToString::to_string).collect()
}

#[test]
fn arguments_give_the_words_of_documented_lines() {
    let index = programs();
    let lines = include_str!("../command_lines/lines.jsonl").lines();
    let lines: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &lines {
        let expected: Vec<&str> = line["words"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        assert_eq!(words(&index, line["tool"].as_str().unwrap(), &line["args"]), expected);
    }
    assert!(lines.len() > 40);
}

#[test]
fn published_schemas_accept_the_arguments_of_documented_lines() {
    let index = programs();
    for line in include_str!("../command_lines/lines.jsonl").lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let tool = index.get(line["tool"].as_str().unwrap()).unwrap();
        let schema: Value = serde_json::from_str(tool.input_schema()).unwrap();
        for keyword in ["oneOf", "anyOf", "allOf", "$ref"] {
            assert!(schema.get(keyword).is_none(), "{}", tool.name());
        }
        let typed = |(name, value): (&String, &Value)| (name.clone(), as_published(&schema["properties"][name], value));
        let arguments: Value =
            line["args"].as_object().unwrap().iter().map(typed).collect::<serde_json::Map<_, _>>().into();
        let validator = jsonschema::validator_for(&schema).unwrap();
        assert!(validator.is_valid(&arguments), "{}: {schema} {arguments}", tool.name());
    }
}

/// The value as a careful client writes it: lists for lists, strings for strings.
fn as_published(schema: &Value, value: &Value) -> Value {
    match (schema["type"].as_str(), value) {
        (Some("array"), Value::Array(_)) => value.clone(),
        (Some("array"), one) => json!([one]),
        (Some("object"), Value::Object(members)) => {
            let item = &schema["additionalProperties"];
            members
                .iter()
                .map(|(name, value)| (name.clone(), as_published(item, value)))
                .collect::<serde_json::Map<_, _>>()
                .into()
        }
        (Some("string"), Value::Number(number)) => json!(number.to_string()),
        _ => value.clone(),
    }
}

#[test]
fn lists_and_maps_are_taken_as_models_write_them() {
    let index = programs();
    let expected = ["git", "add", "--", "a", "b"];
    assert_eq!(words(&index, "git_add", &json!({ "paths": "[\"a\", \"b\"]" })), expected);
    assert_eq!(words(&index, "git_add", &json!({ "paths": "a" }))[3..], ["a"]);
    for set in [json!({ "a": "1", "b": "2" }), json!(["a=1", "b=2"]), json!("{\"a\": 1, \"b\": 2}")] {
        let arguments = json!({ "release": "r", "chart": "c", "set": set });
        assert_eq!(words(&index, "helm_install", &arguments)[4..], ["--set", "a=1", "--set", "b=2"]);
    }
    let repeated = json!({ "release": "r", "chart": "c", "set": { "a": ["1", "2"] } });
    assert_eq!(words(&index, "helm_install", &repeated)[4..], ["--set", "a=1", "--set", "a=2"]);
    assert_eq!(words(&index, "cargo_run", &json!({ "args": [] })), ["cargo", "run"], "no `--` without words behind it");
    assert_eq!(words(&index, "cargo_run", &json!({ "args": ["-x", ""] })), ["cargo", "run", "--", "-x", ""]);
    assert_eq!(words(&index, "pytest", &json!({ "verbose": 0 })), ["pytest"]);
}

#[test]
fn each_value_of_a_list_or_map_is_checked() {
    let index = programs();
    for (tool, arguments, expected) in [
        ("git_add", json!({}), "Missing required argument 'paths'"),
        ("git_add", json!({ "paths": [] }), "Argument 'paths': 0 items, the least is 1"),
        ("git_add", json!({ "paths": ["a", ""] }), "Argument 'paths[1]': an item of a list cannot be empty"),
        ("git_add", json!({ "paths": ["a", ["b"]] }), "Argument 'paths[1]': cannot convert '[\"b\"]' to string"),
        ("git_add", json!({ "paths": ["a\0"] }), "Argument 'paths[0]': value contains a NUL character"),
        ("sort", json!({ "files": ["-o", "x"] }), "Argument 'files[0]': value '-o' would be read as an option"),
        (
            "make",
            json!({ "variables": { "-f": "x" } }),
            "Argument 'variables.-f': value 'x' would be read as an option",
        ),
        (
            "aws_ec2_describe_instances",
            json!({ "filters": ["Name=a", "--debug"] }),
            "Argument 'filters[1]': value '--debug' would be read as an option",
        ),
        (
            "kubectl_get",
            json!({ "kinds": ["a,b"] }),
            "Argument 'kinds[0]': value contains ',', which separates the values",
        ),
        ("kubectl_get", json!({ "kinds": ["--all"] }), "Argument 'kinds[0]': value '--all' would be read as an option"),
        (
            "docker_run",
            json!({ "image": "i", "env": { "": "x" } }),
            "Argument 'env.': a name cannot be empty or contain '='",
        ),
        (
            "docker_run",
            json!({ "image": "i", "env": { "A=B": "x" } }),
            "Argument 'env.A=B': a name cannot be empty or contain '='",
        ),
        ("docker_run", json!({ "image": "i", "env": ["A"] }), "Argument 'env[0]': cannot convert 'A' to NAME=VALUE"),
        ("docker_run", json!({ "image": "i", "env": 5 }), "Argument 'env': cannot convert '5' to object"),
        ("pytest", json!({ "verbose": 11 }), "Argument 'verbose': value 11 exceeds maximum 10"),
        ("pytest", json!({ "verbose": -1 }), "Argument 'verbose': value -1 is below minimum 0"),
        ("git_log", json!({ "max_count": -1 }), "Argument 'max_count': value -1 is below minimum 0"),
        ("git_reset", json!({ "mode": "--soft" }), "Argument 'mode' must be one of: soft, mixed, hard"),
        ("git_reset", json!({ "commit": "--hard" }), "Argument 'commit': value '--hard' would be read as an option"),
    ] {
        assert_eq!(violations(&index, tool, &arguments), [expected], "{arguments}");
    }
    let many = json!({ "paths": vec!["a"; 1001] });
    assert_eq!(violations(&index, "git_add", &many), ["Argument 'paths': 1001 items, the most is 1000"]);
    let long = json!({ "paths": vec!["a".repeat(100_000); 11] });
    let found = violations(&index, "git_add", &long);
    let expected =
        "Argument 'paths': the arguments are 1100011 bytes long together, the most is 1048576; split the call";
    assert_eq!(found, [expected]);
}

const GROUPS: &str = r"
command: prog
tools:
  - name: t
    description: Show groups
    exactly_one: [[a, b]]
    at_most_one: [[c, d]]
    together: [[e, f]]
    args: [{name: a}, {name: b, type: boolean}, {name: c}, {name: d}, {name: e}, {name: f}]
  - name: u
    description: Show the rest
    always: --no-pager
    command: sub {options} -- {x}
    args:
      - {name: x, positional: true}
      - {name: color, type: boolean, off: --no-color}
      - {name: zone, variable: TZ}
      - {name: level, enum: [{value: low, title: Low, words: '-l 1'}, {value: high, words: '-l 2'}]}
      - {name: secret, shown: false}
      - {name: word, pattern: '[a-z]+', flag: '-w{}'}
      - {name: number, type: number, min: 0.5, max: 2, list: ':'}
";

#[test]
fn groups_of_args_are_checked_and_published() {
    let index = index(GROUPS);
    let schema: Value = serde_json::from_str(index.get("t").unwrap().input_schema()).unwrap();
    let rules = "Give exactly one of a, b. Give at most one of c, d. Give e, f together or not at all.";
    assert_eq!(schema["description"], rules);
    assert_eq!(words(&index, "t", &json!({ "a": "1" })), ["prog", "--a", "1"]);
    for (arguments, expected) in [
        (json!({}), vec!["Give exactly one of: a, b"]),
        (json!({ "a": "1", "b": true }), vec!["Give exactly one of: a, b"]),
        (json!({ "a": "1", "b": false, "c": "1", "d": "1" }), vec!["Give at most one of: c, d"]),
        (json!({ "b": true, "f": "1" }), vec!["Give together or not at all: e, f"]),
    ] {
        assert_eq!(violations(&index, "t", &arguments), expected, "{arguments}");
    }
}

#[test]
fn dashes_protect_operands_behind_an_absent_one() {
    const SHOW: &str = "command: prog\ntools:\n  - name: s\n    description: Show\n    command: show -- {paths}\n    \
                        args:\n      - {name: paths, positional: true, list: true}\n      \
                        - {name: last, positional: true}\n";
    let index = index(SHOW);
    assert_eq!(words(&index, "s", &json!({ "last": "--force" })), ["prog", "show", "--", "--force"]);
    assert_eq!(words(&index, "s", &json!({ "paths": ["--"] })), ["prog", "show", "--", "--"]);
    assert_eq!(words(&index, "s", &json!({})), ["prog", "show"]);
}

#[test]
fn operands_are_not_taken_for_others() {
    const MOVE: &str = "command: mv\ntools:\n  - name: m\n    description: Move\n    args:\n      \
                        - {name: from, positional: true}\n      - {name: to, positional: true, required: true}\n";
    let index = index(MOVE);
    assert_eq!(words(&index, "m", &json!({ "from": "a", "to": "b" })), ["mv", "a", "b"]);
    let expected = "Argument 'from' must be given: without it the program would take 'to' for it";
    assert_eq!(violations(&index, "m", &json!({ "to": "b" })), [expected]);
}

#[test]
fn every_kind_of_word_has_its_place() {
    let index = index(GROUPS);
    let tool = index.get("u").unwrap();
    let arguments = json!({
        "color": false, "zone": "UTC", "level": "high", "secret": "s", "word": "abc", "number": [1, 0.5], "x": "-y",
    });
    let bound = bind(tool, arguments.as_object().unwrap()).unwrap();
    let invocation = plan(tool, &bound, &|_| None);
    let expected = "prog sub --no-pager --no-color -l 2 --secret s -wabc --number 1:0.5 -- -y";
    assert_eq!(invocation.argv.join(" "), expected);
    assert_eq!(invocation.env, [("TZ".to_owned(), "UTC".to_owned())]);
    let schema: Value = serde_json::from_str(tool.input_schema()).unwrap();
    assert_eq!(schema["properties"]["secret"], Value::Null);
    assert_eq!(schema["properties"]["word"]["pattern"], "^(?:[a-z]+)$");
    assert_eq!(schema["properties"]["number"]["items"], json!({ "type": "number", "minimum": 0.5, "maximum": 2 }));
    let found = violations(&index, "u", &json!({ "word": "A", "number": [1, 3] }));
    let expected = [
        "Argument 'word': value 'A' does not match pattern '[a-z]+'",
        "Argument 'number[1]': value 3 exceeds maximum 2",
    ];
    assert_eq!(found, expected);
}

#[test]
fn risk_of_a_call_is_that_of_its_arguments() {
    const TOOLS: &str = r"
  - name: send
    description: Send a request
    command: argv
    risk: read
    args:
      - {name: method, enum: [GET, POST, DELETE], risk: {GET: read, DELETE: destructive, else: write}}
      - {name: field, map: true, risk: write}
      - {name: quiet, type: boolean, risk: destructive}
";
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    fs::write(path("fake.yaml"), fake_config(TOOLS)).unwrap();
    let policy = "default: enabled\napproval: {global: write}\ntools: {send: {args: {method: {}, field: {}}}}";
    fs::write(path("policy.yaml"), policy).unwrap();
    let mut server = Server::start(&["--config", &path("fake.yaml"), "--policy", &path("policy.yaml")]);
    let mut is_denied = |arguments: Value| {
        let result = server.call("send", arguments);
        result["structuredContent"]["error"]["code"] == "approval_denied"
    };
    assert!(!is_denied(json!({ "method": "GET" })));
    assert!(is_denied(json!({ "method": "POST" })) && is_denied(json!({ "field": { "a": "1" } })));
    // A policy that lists no tools permits an arg above its tool's risk, and asks about it.
    assert!(is_denied(json!({ "quiet": true })));
    let mut open = Server::start(&["--classic", "--config", &path("fake.yaml"), "coreutils"]);
    open.initialize("2025-06-18");
    let tools = open.request("tools/list", json!({}))["result"]["tools"].clone();
    let send = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "send").unwrap();
    assert_eq!(send["annotations"], json!({ "readOnlyHint": false, "destructiveHint": true }));
}
