//! Binds arguments to values or violations.

use climax::call::arguments::bind;
use climax::catalog::{ResolvedTool, ToolIndex};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::support::index;

const TOOLS: &str = r#"
command: x
tools:
  - name: t
    description: Every type
    args:
      - {name: s}
      - {name: i, type: integer}
      - {name: n, type: number}
      - {name: b, type: boolean}
      - {name: e, enum: [oneline, full]}
      - {name: ie, type: integer, enum: ["1", "2"]}
      - {name: r, required: true}
      - {name: d, default: later}
      - {name: p, positional: true, default: here}
      - {name: pn, type: integer, positional: true}
  - name: dashes
    description: Ends its options
    command: grep --
    args: [{name: pattern, positional: true}]
"#;

fn object(value: Value) -> Map<String, Value> {
    serde_json::from_value(value).unwrap()
}

fn tool<'a>(index: &'a ToolIndex, name: &str) -> ResolvedTool<'a> {
    index.get(name).unwrap()
}

/// Returns the bound values as `name=word`, or the texts of the violations.
fn bound(name: &str, arguments: Value) -> Result<Vec<String>, Vec<String>> {
    let index = index(TOOLS);
    match bind(tool(&index, name), &object(arguments)) {
        Ok(bound) => Ok(bound.iter().map(|(arg, value)| format!("{}={value}", arg.name())).collect()),
        Err(violations) => Err(violations.iter().map(ToString::to_string).collect()),
    }
}

/// Returns the word for the argument `name`, or the text of its violation.
fn one(name: &str, value: Value) -> Result<Option<String>, String> {
    let words = bound("t", json!({ "r": "r", name: value })).map_err(|violations| violations.join("\n"))?;
    let prefix = format!("{name}=");
    Ok(words.iter().find_map(|word| word.strip_prefix(&prefix)).map(str::to_owned))
}

fn accepted(name: &str, value: Value, word: &str) {
    assert_eq!(one(name, value.clone()), Ok(Some(word.to_owned())), "{name} = {value}");
}

fn refused(name: &str, value: Value, text: &str) {
    assert_eq!(one(name, value.clone()), Err(text.to_owned()), "{name} = {value}");
}

#[test]
fn refuses_unsupported_dry_run_of_a_writing_tool() {
    let tools = "command: x\ntools:\n  - {name: read, description: D, risk: read}\n  - {name: write, description: D, risk: write}";
    let index = index(tools);
    let bound =
        |name: &str, arguments: Value| bind(tool(&index, name), &object(arguments)).map(|bound| bound.iter().count());
    for key in ["dry_run", "dryRun", "--what-if", "preview"] {
        let violations = bound("write", json!({ key: true })).unwrap_err();
        assert!(violations[0].to_string().starts_with(&format!("Unknown argument '{key}': the tool has no dry run")));
        assert_eq!(bound("write", json!({ key: "false" })), Ok(0));
        assert_eq!(bound("read", json!({ key: true })), Ok(0));
    }
}

#[test]
fn refuses_misspelt_keys_and_ignores_other_unknown_ones() {
    let tools = "command: x\ntools: [{name: t, description: D, args: [{name: dry_run, type: boolean}, {name: path}]}]";
    let index = index(tools);
    let bound = |arguments: Value| bind(tool(&index, "t"), &object(arguments)).map(|bound| bound.iter().count());
    for key in ["dryrun", "dry-run", "dryRun", "dry_rum"] {
        let violations = bound(json!({ key: true, "path": "." })).unwrap_err();
        assert_eq!(violations.len(), 1);
        assert_eq!(violations[0].to_string(), format!("Unknown argument '{key}': did you mean 'dry_run'?"));
    }
    assert_eq!(bound(json!({ "dryrun": null, "reason": "because" })), Ok(0));
    assert_eq!(bound(json!({ "dry_run": true, "dryrun": true, "path": ".", "path2": "x" })), Ok(2));
}

#[test]
fn converts_values_by_the_five_coercions() {
    accepted("i", json!("42"), "42");
    accepted("i", json!(" -7 "), "-7");
    accepted("i", json!("+7"), "7");
    accepted("i", json!(i64::MIN.to_string()), "-9223372036854775808");
    accepted("n", json!("1.50"), "1.50");
    accepted("n", json!(" 1.50\n"), "1.50");
    accepted("n", json!("1e5"), "1e5");
    accepted("b", json!("TRUE"), "true");
    accepted("b", json!("False"), "false");
    accepted("i", json!(3.0), "3");
    accepted("s", json!(5), "5");
    accepted("s", json!(3.0), "3.0");
    accepted("s", json!(true), "true");
    accepted("i", json!(1e16), "10000000000000000");
    accepted("i", serde_json::from_str("12345678901234567.00").unwrap(), "12345678901234567");
}

#[test]
fn converts_integers_exactly_in_every_notation() {
    for (number, word) in [
        ("9007199254740993e0", "9007199254740993"),
        ("900719925474099.30E+1", "9007199254740993"),
        ("9007199254740993000e-3", "9007199254740993"),
        ("-9223372036854775808.0", "-9223372036854775808"),
        ("-0.001e3", "-1"),
        ("-0.0", "0"),
        ("0e99999999999999999999", "0"),
    ] {
        accepted("i", serde_json::from_str(number).unwrap(), word);
    }
    for number in [
        "1.0000000000000000001",
        "9223372036854775807.5",
        "1e-1",
        "9223372036854775808.0",
        "1e19",
        "1e99999999999999999999",
    ] {
        assert!(one("i", serde_json::from_str(number).unwrap()).is_err(), "{number}");
    }
}

#[test]
fn preserves_the_notation_of_numbers() {
    for text in ["12345678901234567890123", "1.10", "3.0"] {
        accepted("s", serde_json::from_str(text).unwrap(), text);
        accepted("n", serde_json::from_str(text).unwrap(), text);
    }
}

#[test]
fn does_not_change_values_of_the_right_type() {
    accepted("s", json!(""), "");
    accepted("s", json!("  a  "), "  a  ");
    accepted("i", json!(-5), "-5");
    accepted("n", json!(3), "3");
    accepted("n", json!(-0.5), "-0.5");
    accepted("b", json!(false), "false");
}

#[test]
fn refuses_other_values_with_their_json() {
    refused("i", json!("hello"), "Argument 'i': cannot convert 'hello' to integer");
    refused("i", json!("3.5"), "Argument 'i': cannot convert '3.5' to integer");
    refused("i", json!("0x10"), "Argument 'i': cannot convert '0x10' to integer");
    refused("i", json!("1_000"), "Argument 'i': cannot convert '1_000' to integer");
    refused("i", json!("9223372036854775808"), "Argument 'i': cannot convert '9223372036854775808' to integer");
    refused("i", json!(9_223_372_036_854_775_808_u64), "Argument 'i': cannot convert '9223372036854775808' to integer");
    refused("i", json!(3.5), "Argument 'i': cannot convert '3.5' to integer");
    refused("i", json!(1e300), "Argument 'i': cannot convert '1e+300' to integer");
    refused("n", serde_json::from_str("1e999").unwrap(), "Argument 'n': cannot convert '1e+999' to number");
    refused("i", json!("x".repeat(500)), &format!("Argument 'i': cannot convert '{}…' to integer", "x".repeat(200)));
    refused("i", json!(true), "Argument 'i': cannot convert 'true' to integer");
    refused("n", json!("inf"), "Argument 'n': cannot convert 'inf' to number");
    refused("n", json!("NaN"), "Argument 'n': cannot convert 'NaN' to number");
    refused("n", json!(""), "Argument 'n': cannot convert '' to number");
    refused("n", json!("3 4"), "Argument 'n': cannot convert '3 4' to number");
    refused("b", json!(1), "Argument 'b': cannot convert '1' to boolean");
    refused("b", json!("yes"), "Argument 'b': cannot convert 'yes' to boolean");
    refused("s", json!(["a"]), "Argument 's': cannot convert '[\"a\"]' to string");
    refused("s", json!({ "a": 1 }), "Argument 's': cannot convert '{\"a\":1}' to string");
    refused("i", json!("a\"b\n"), "Argument 'i': cannot convert 'a\\\"b\\n' to integer");
    refused("s", json!("a\0b"), "Argument 's': value contains a NUL character");
    refused("e", json!("short"), "Argument 'e' must be one of: oneline, full");
    refused("ie", json!(3), "Argument 'ie' must be one of: 1, 2");
    accepted("ie", json!("2"), "2");
}

#[test]
fn absent_and_null_take_the_default() {
    assert_eq!(bound("t", json!({ "r": "" })), Ok(vec!["r=".into(), "d=later".into(), "p=here".into()]));
    assert_eq!(one("d", json!(null)), Ok(Some("later".into())));
    assert_eq!(one("s", json!(null)), Ok(None));
    assert_eq!(bound("t", json!({ "r": null })), Err(vec!["Missing required argument 'r'".into()]));
}

#[test]
fn default_serves_where_an_arg_is_also_required() {
    let tools = "command: x\ntools: [{name: t, description: D, args: [{name: limit, required: true, default: '20'}]}]";
    let index = index(tools);
    let bound = bind(tool(&index, "t"), &Map::new()).unwrap();
    assert_eq!(bound.get("limit").unwrap().to_string(), "20");
    assert!(!tool(&index, "t").input_schema().contains("required"), "{}", tool(&index, "t").input_schema());
}

#[test]
fn reports_all_violations_in_definition_order() {
    let arguments = json!({ "pn": -1, "p": "--x", "e": "no", "i": "x", "unknown": 1 });
    let expected = [
        "Argument 'i': cannot convert 'x' to integer",
        "Argument 'e' must be one of: oneline, full",
        "Missing required argument 'r'",
        "Argument 'p': value '--x' would be read as an option",
        "Argument 'pn': value '-1' would be read as an option; only the operator can permit it, by \
         `allow_leading_dash: true` in the policy or `--` at the end of the tool's command",
    ];
    assert_eq!(bound("t", arguments), Err(expected.map(str::to_owned).to_vec()));
}

#[test]
fn accepts_leading_dashes_after_end_of_options() {
    assert_eq!(bound("dashes", json!({ "pattern": "-x" })), Ok(vec!["pattern=-x".into()]));
    let own_words =
        index("command: x\ntools: [{name: t, description: t, args: [{name: p, positional: true, default: \"-\"}]}]");
    assert!(bind(tool(&own_words, "t"), &Map::new()).is_ok(), "defaults may start with a dash");
    accepted("s", json!("-x"), "-x");
}

/// JSON values of the args' types, and others that no arg accepts.
fn json_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        "[a-z ]{0,6}".prop_map(Value::from),
        prop::sample::select(vec!["oneline", "full", "1", "2"]).prop_map(Value::from),
        prop::sample::select(vec![1, 2, 3]).prop_map(Value::from),
        prop::collection::vec(any::<bool>(), 0..2).prop_map(Value::from),
    ]
}

/// Whether the value has the schema's type, so that no coercion applies.
fn needs_no_coercion(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        _ => value.is_boolean(),
    }
}

proptest! {
    /// For values of the right types, `bind` accepts the same arguments as a validator of the published schema.
    #[test]
    fn bind_agrees_with_the_published_schema(name in prop::sample::select(vec!["s", "i", "n", "b", "e", "ie"]), value in json_value()) {
        let index = index(TOOLS);
        let tool = tool(&index, "t");
        let schema: Value = serde_json::from_str(tool.input_schema()).unwrap();
        let kind = schema["properties"][name]["type"].as_str().unwrap().to_owned();
        let arguments = json!({ "r": "r", name: value });
        let valid = jsonschema::validator_for(&schema).unwrap().is_valid(&arguments);
        let binds = bind(tool, &object(arguments)).is_ok();
        if needs_no_coercion(&kind, &value) {
            prop_assert_eq!(valid, binds);
        } else {
            prop_assert!(!valid);
        }
    }
}
