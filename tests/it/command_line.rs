//! Plans command lines from arguments.

use std::path::PathBuf;
use std::time::Duration;

use climax::call::arguments::bind;
use climax::call::command_line::plan;
use climax::catalog::ToolIndex;
use climax::exec::Invocation;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::support::index;

const TOOLS: &str = r#"
command: "~/bin/${TOOL} $UNSET a$TOOL-b"
env: {PLAIN: "$TOOL", EMPTY: ""}
working_dir: /srv
global_args:
  - {name: token, default: "$TOKEN"}
  - {name: region, flag: --region=, default: "eu-$TOOL"}
  - {name: missing, default: "x$UNSET"}
  - {name: empty, default: "$BLANK"}
  - {name: verbose, type: boolean, default: true}
  - {name: switch, type: boolean, default: "$YES"}
tools:
  - name: t
    description: Every place
    command: sub  $TOOL
    timeout: 1.5
    args:
      - {name: count, type: integer, flag: -n, default: 3}
      - {name: first, positional: true}
      - {name: format, flag: --format=}
      - {name: long_name}
      - {name: on, type: boolean}
      - {name: joined_on, type: boolean, flag: --tls=}
      - {name: second, positional: true, default: two words}
      - {name: input, stdin: true}
      - {name: dir, cwd: true}
      - {name: last, flag: "--"}
"#;

fn env(name: &str) -> Option<String> {
    let value = match name {
        "HOME" => "/home/me",
        "TOOL" => "my tool",
        "TOKEN" => "-secret token",
        "YES" => "1",
        "BLANK" => "",
        _ => return None,
    };
    Some(value.to_owned())
}

fn planned(index: &ToolIndex, arguments: &Value) -> Invocation {
    let arguments: Map<String, Value> = serde_json::from_value(arguments.clone()).unwrap();
    let bound = bind(index.get("t").unwrap(), &arguments).unwrap();
    plan(index.get("t").unwrap(), &bound, &env)
}

const BASE: [&str; 5] = ["/home/me/bin/my tool", "$UNSET", "amy tool-b", "sub", "$TOOL"];
const GLOBALS: [&str; 5] = ["--token", "-secret token", "--region=eu-my tool", "--verbose", "--switch"];

#[test]
fn words_have_the_order_of_the_contract() {
    let index = index(TOOLS);
    let all = json!({
        "last": "-z", "on": true, "joined_on": true, "first": "one", "long_name": "l", "format": "%H %s", "count": 5,
        "input": "text", "dir": "/tmp",
    });
    let expected = [
        &BASE[..],
        &["one", "two words", "-n", "5", "--format=%H %s", "--long-name", "l", "--on", "--tls=true", "--", "-z"],
        &GLOBALS[..],
    ]
    .concat();
    let invocation = planned(&index, &all);
    assert_eq!(invocation.argv, expected);
    assert_eq!(invocation.stdin.as_deref(), Some("text"));
    assert_eq!(invocation.cwd, Some(PathBuf::from("/tmp")));
    assert_eq!(invocation.program_dir, Some(PathBuf::from("/srv")), "no argument chooses the program");
}

#[test]
fn directory_of_a_call_starts_at_the_working_dir_or_at_home() {
    let tools =
        |dir: &str| format!("command: x\n{dir}tools: [{{name: t, description: x, args: [{{name: dir, cwd: true}}]}}]");
    let in_srv = index(&tools("working_dir: /srv\n"));
    for (value, expected) in [
        ("sub/dir", "/srv/sub/dir"),
        ("/tmp", "/tmp"),
        ("~", "/home/me"),
        ("~/$TOOL", "/home/me/$TOOL"),
        ("~other", "/srv/~other"),
        ("a/~", "/srv/a/~"),
    ] {
        let invocation = planned(&in_srv, &json!({ "dir": value }));
        assert_eq!(invocation.cwd, Some(PathBuf::from(expected)), "{value}");
        assert_eq!(invocation.program_dir, Some(PathBuf::from("/srv")), "{value}");
    }
    assert_eq!(planned(&index(&tools("")), &json!({ "dir": "sub" })).cwd, Some(PathBuf::from("sub")));
}

#[test]
fn expands_the_first_word_of_a_tool_without_base_command() {
    let index = index("command: \"\"\ntools: [{name: t, description: x, command: \"~/bin/$TOOL $TOOL\"}]");
    assert_eq!(planned(&index, &json!({})).argv, ["/home/me/bin/my tool", "$TOOL"]);
}

#[test]
fn defaults_apply_and_false_adds_no_word() {
    let index = index(TOOLS);
    let invocation = planned(&index, &json!({ "on": false, "joined_on": false }));
    assert_eq!(invocation.argv, [&BASE[..], &["two words", "-n", "3"], &GLOBALS[..]].concat());
    assert_eq!(invocation.stdin, None);
    assert_eq!(invocation.cwd, Some(PathBuf::from("/srv")));
    assert_eq!(invocation.env, [("PLAIN".into(), "$TOOL".into()), ("EMPTY".into(), String::new())]);
    assert_eq!(invocation.timeout, Duration::from_millis(1500));
}

/// Any text, often with characters that an attacker would choose.
fn text() -> impl Strategy<Value = String> {
    prop_oneof!["-{1,2}\\PC*", "\\PC*\0\\PC*", "[ ;|&$`\"'\\\\\n]*", any::<String>()]
}

proptest! {
    /// Any value becomes a whole word, or the end of a word that the config starts, in the place of its arg. The rest
    /// of the command line does not change.
    #[test]
    fn values_cannot_become_options_words_or_programs(
        first in text(), second in text(), format in text(), long in text(), last in text(),
    ) {
        let index = index(TOOLS);
        let arguments = json!({ "first": first, "second": second, "format": format, "long_name": long, "last": last });
        let object: Map<String, Value> = serde_json::from_value(arguments).unwrap();
        let has_nul = object.values().any(|value| value.as_str().unwrap().contains('\0'));
        let has_dash = [&first, &second].iter().any(|word| word.starts_with('-') && *word != "-");
        let tool = index.get("t").unwrap();
        match bind(tool, &object) {
            Err(_) => prop_assert!(has_nul || has_dash),
            Ok(bound) => {
                prop_assert!(!has_nul && !has_dash);
                let argv = plan(tool, &bound, &env).argv;
                let joined = format!("--format={format}");
                let own = [first.as_str(), &second, "-n", "3", &joined, "--long-name", &long, "--", &last];
                prop_assert_eq!(argv, [&BASE[..], &own[..], &GLOBALS[..]].concat());
            }
        }
    }
}
