//! The JSON texts of a tool: input schema and index entry.
//!
//! The order of keys is part of the contract (`docs/contract.md`, "Tool index"), so no serializer writes these texts.

use std::fmt::Write as _;

use crate::checked::{CheckedArg, CheckedChoice};
use crate::json::{enum_json, json_string};
use crate::model::{GroupKind, Order, STEPS, Shape};
use crate::raise;
use crate::rule::ArgRule;
use crate::table::{CheckedCli, CheckedGroup, CheckedTool, Stored};
use crate::view::{ArgView, ResolvedTool};

/// The tool's input schema (JSON Schema 2020-12).
pub(crate) fn input_schema(args: &[CheckedArg], groups: &[CheckedGroup]) -> String {
    let mut json = String::from(r#"{"type":"object","#);
    let rules: Vec<String> = groups.iter().map(group_rule).collect();
    if !rules.is_empty() {
        let _ = write!(json, r#""description":{},"#, json_string(&rules.join(" ")));
    }

    json.push_str(r#""properties":{"#);
    // The user or the server gives the other args.
    let given = || args.iter().filter(|arg| !arg.from_user && arg.output.is_none() && arg.shown);
    properties(&mut json, given().filter(|arg| arg.order == Order::Defined));
    steps(&mut json, given().filter(|arg| arg.order == Order::Given));
    json.push('}');
    let required: Vec<String> = given().filter(|arg| arg.required).map(|arg| json_string(&arg.name)).collect();

    if !required.is_empty() {
        let _ = write!(json, r#","required":[{}]"#, required.join(","));
    }

    json.push('}');
    json
}

/// Returns the input schema that a tool would have if those args were shown for which `is_shown` holds.
#[must_use]
pub fn input_schema_with(tool: ResolvedTool<'_>, is_shown: impl Fn(ArgView<'_>) -> bool) -> String {
    let shown = tool.agent_args().filter(|arg| is_shown(*arg));
    let args: Vec<CheckedArg> = shown.map(|arg| CheckedArg { shown: true, ..raise::arg(arg) }).collect();
    let groups: Vec<CheckedGroup> = Stored::load(tool.def().groups, tool.catalog());
    input_schema(&args, &groups)
}

fn properties<'a>(json: &mut String, args: impl Iterator<Item = &'a CheckedArg>) {
    for (at, arg) in args.enumerate() {
        if at > 0 {
            json.push(',');
        }
        property(json, arg);
    }
}

/// Writes the list of the options whose order counts, if there are any.
fn steps<'a>(json: &mut String, args: impl Iterator<Item = &'a CheckedArg>) {
    let mut args = args.peekable();
    if args.peek().is_none() {
        return;
    }

    if !json.ends_with('{') {
        json.push(',');
    }

    let description = json_string("Options in the order in which they count, each an object with one of these keys");
    let _ = write!(
        json,
        r#""{STEPS}":{{"type":"array","description":{description},"items":{{"type":"object","properties":{{"#
    );
    properties(json, args);

    json.push_str(r#"},"additionalProperties":false,"minProperties":1,"maxProperties":1}}"#);
}

/// Says a rule of a group in words, since clients refuse `oneOf` at the top of a schema.
fn group_rule(group: &CheckedGroup) -> String {
    let names = group.args.join(", ");
    match group.kind {
        GroupKind::ExactlyOne => format!("Give exactly one of {names}."),
        GroupKind::AtMostOne => format!("Give at most one of {names}."),
        GroupKind::Together => format!("Give {names} together or not at all."),
    }
}

/// Returns the schema of an arg, as the input schema of its tool has it, or would have it if the arg were shown.
#[must_use]
pub fn arg_schema(arg: ArgView<'_>) -> String {
    let mut json = String::new();
    keywords(&mut json, &raise::arg(arg));
    json
}

fn property(json: &mut String, arg: &CheckedArg) {
    let _ = write!(json, "{}:", json_string(&arg.name));
    keywords(json, arg);
}

fn keywords(json: &mut String, arg: &CheckedArg) {
    let kind = match arg.shape {
        Shape::Single | Shape::Count => arg.kind.as_str(),
        Shape::List(_) | Shape::Rest(_) => "array",
        Shape::Map(_) => "object",
    };
    let _ = write!(json, r#"{{"type":"{kind}""#);
    let description = description(arg);

    if !description.is_empty() {
        let _ = write!(json, r#","description":{}"#, json_string(&description));
    }

    if let Some(default) = &arg.default {
        let _ = write!(json, r#","default":{}"#, default.json);
    }

    match arg.shape {
        Shape::Single | Shape::Count => value_keywords(json, arg),
        Shape::List(_) | Shape::Rest(_) => {
            json.push_str(r#","items":"#);
            item(json, arg);
            bounds(json, arg, ["minItems", "maxItems"]);
        }
        Shape::Map(_) => {
            json.push_str(r#","additionalProperties":"#);
            item(json, arg);
            bounds(json, arg, ["minProperties", "maxProperties"]);
        }
    }

    json.push('}');
}

/// Values that stand for those that a schema does not list.
const NAMED_VALUES: usize = 3;

/// The description of an arg. It holds the rules that the schema cannot hold.
fn description(arg: &CheckedArg) -> String {
    let patterns = rules(arg).filter_map(|rule| rule.pattern.as_ref()).filter(|one| one.json_schema().is_none());
    let patterns = patterns.map(|pattern| format!("The value matches the regular expression `{}`.", pattern.as_str()));
    let own = Some(arg.description.clone()).filter(|own| !own.is_empty());
    let directories = rules(arg).filter(|rule| !rule.within.is_empty()).map(|rule| rule.within.join(" or "));
    let directories = directories.map(|all| format!("A path within {all}."));
    let unlisted = Some(arg.choices.len()).filter(|count| *count > LISTED_VALUES);
    let unlisted = unlisted.map(|count| {
        let first: Vec<&str> = arg.choices.iter().take(NAMED_VALUES).map(|choice| choice.value.as_str()).collect();
        format!("One of {count} values, such as {}.", first.join(", "))
    });
    own.into_iter().chain(unlisted).chain(patterns).chain(directories).collect::<Vec<_>>().join(" ")
}

/// The rules for the values of an arg: of its config, then of policies.
fn rules(arg: &CheckedArg) -> impl Iterator<Item = &ArgRule> {
    Some(&arg.constraint).filter(|own| !own.is_empty()).into_iter().chain(&arg.rules)
}

/// Writes the schema of one value of a list or map.
fn item(json: &mut String, arg: &CheckedArg) {
    let _ = write!(json, r#"{{"type":"{}""#, arg.kind.as_str());
    value_keywords(json, arg);
    json.push('}');
}

fn bounds(json: &mut String, arg: &CheckedArg, keywords: [&str; 2]) {
    for (keyword, bound) in keywords.into_iter().zip([arg.min_items, arg.max_items]) {
        if let Some(bound) = bound {
            let _ = write!(json, r#","{keyword}":{bound}"#);
        }
    }
}

/// Values of an arg that a schema lists. A longer list is checked all the same, and the error names what is near.
const LISTED_VALUES: usize = 32;

/// Writes the keywords of one value: its enum and its rules.
fn value_keywords(json: &mut String, arg: &CheckedArg) {
    if (1..=LISTED_VALUES).contains(&arg.choices.len()) {
        let value =
            |choice: &CheckedChoice| enum_json(&choice.value, arg.kind).unwrap_or_else(|| json_string(&choice.value));
        let values: Vec<String> = arg.choices.iter().map(value).collect();
        let _ = write!(json, r#","enum":[{}]"#, values.join(","));
    }
    constraints(json, &rules(arg).collect::<Vec<_>>());
}

/// Writes rules. JSON Schema ignores keywords that do not apply to the type; models still read them.
fn constraints(json: &mut String, rules: &[&ArgRule]) {
    let patterns: Vec<String> =
        rules.iter().filter_map(|rule| Some(json_string(&rule.pattern.as_ref()?.json_schema()?))).collect();
    match patterns.as_slice() {
        [] => {}
        [one] => drop(write!(json, r#","pattern":{one}"#)),
        all => {
            let all: Vec<String> = all.iter().map(|pattern| format!(r#"{{"pattern":{pattern}}}"#)).collect();
            let _ = write!(json, r#","allOf":[{}]"#, all.join(","));
        }
    }
    let min = rules.iter().filter_map(|rule| rule.min).reduce(f64::max);
    let max = rules.iter().filter_map(|rule| rule.max).reduce(f64::min);

    for (keyword, bound) in [("minimum", min), ("maximum", max)] {
        if let Some(bound) = bound {
            let _ = write!(json, r#","{keyword}":{bound}"#);
        }
    }
}

/// Builds the tool's `ToolIndexEntry`; `schema` is its last member.
pub(crate) fn index_entry(cli: &CheckedCli, tool: &CheckedTool, schema: &str) -> String {
    format!(
        r#"{{"tool_name":{},"description":{},"cli_name":{},"category":{},"tags":{},"input_schema":{schema}}}"#,
        json_string(&tool.name),
        json_string(&tool.description),
        json_string(&cli.name),
        cli.category.as_deref().map_or_else(|| "null".to_owned(), json_string),
        serde_json::Value::from(cli.tags.clone()),
    )
}
