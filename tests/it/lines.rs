//! Command lines: they are read back into the calls that they stand for.

use std::collections::{BTreeMap, BTreeSet};

use climax::call::arguments::{Bound, Input, bind_line};
use climax::call::command_line::plan;
use climax::call::line::{CommandWords, Reading, Unread, read};
use climax::catalog::{ArgView, Layer, Place, ResolvedTool, Shape, ToolIndex, Type};
use serde_json::{Map, Value, json};

/// The bundled tools.
fn bundled() -> ToolIndex {
    ToolIndex::from_configs(vec![Layer::compiled(&climax::CATALOG)])
}

/// Reads words as a command without input, in no directory.
fn read_words<'a>(index: &'a ToolIndex, words: &[&str]) -> Result<Reading<'a>, Unread> {
    read(index, CommandWords { words, variables: &[], input: Input::Nothing, names_program: &|word, own| word == own })
}

/// A value that an arg takes, if one is easily found.
fn sample(arg: ArgView<'_>) -> Value {
    let choices: Vec<&str> = arg.values().collect();
    let text = |name: &str| match (choices.first(), arg.kind()) {
        (Some(choice), _) => json!(choice),
        (None, Type::Integer | Type::Number) => json!(arg.rules().find_map(|rule| rule.min()).unwrap_or(3.0).ceil() as i64),
        (None, Type::Boolean) => json!(true),
        (None, Type::String) => json!(name),
    };
    match arg.shape() {
        Shape::Single => text("v1"),
        Shape::Count => json!(2),
        Shape::List(_) if choices.len() > 1 => json!([choices[0], choices[1]]),
        Shape::List(_) if arg.kind() == Type::String && choices.is_empty() => json!(["v1", "v2"]),
        Shape::List(_) => json!([text("v1")]),
        Shape::Map(_) => json!({ "k1": [text("v1")], "k2": [text("v2")] }),
        Shape::Rest => json!(["v1", "--v2"]),
    }
}

/// Argument sets of a tool: the required args, and each other arg with them.
fn argument_sets(tool: ResolvedTool<'_>) -> Vec<Map<String, Value>> {
    let sayable = |arg: &ArgView<'_>| matches!(arg.place(), Place::Option | Place::Positional);
    let required: Map<String, Value> =
        tool.agent_args().filter(|arg| arg.required()).map(|arg| (arg.name().to_owned(), sample(arg))).collect();
    let with = |arg: ArgView<'_>, value: Value| {
        let mut set = required.clone();
        set.insert(arg.name().to_owned(), value);
        set
    };
    let optional = || tool.agent_args().filter(sayable).filter(|arg| !arg.required());
    let each = optional().map(|arg| with(arg, sample(arg)));
    let off = optional().filter(|arg| arg.off().is_some()).map(|arg| with(arg, json!(false)));
    let all = optional().fold(required.clone(), |mut set, arg| {
        set.insert(arg.name().to_owned(), sample(arg));
        set
    });
    let sets = std::iter::once(required.clone()).chain(each).chain(off).chain([all]);
    sets.collect()
}

fn values(bound: &Bound<'_>) -> BTreeMap<String, String> {
    bound.iter().map(|(arg, value)| (arg.name().to_owned(), value.to_string())).collect()
}

#[test]
fn planned_command_lines_of_bundled_tools_are_read_back() {
    let index = bundled();
    let (mut same, mut other, mut wrong) = (0, 0, Vec::new());
    let is_sayable = |tool: &ResolvedTool<'_>| {
        !tool.is_native() && tool.questions().len() == 0 && tool.args().all(|arg| arg.output().is_none())
    };
    for tool in index.tools().filter(is_sayable) {
        for set in argument_sets(tool) {
            let Ok(bound) = bind_line(tool, &set, Input::Nothing) else { continue };
            if bound.iter().any(|(arg, _)| !matches!(arg.place(), Place::Option | Place::Positional)) {
                continue;
            }
            let argv = plan(tool, &bound, &|_| None).argv;
            let words: Vec<&str> = argv.iter().map(String::as_str).collect();
            match read_words(&index, &words) {
                Ok(reading) if reading.tool.name() == tool.name() => {
                    let again = bind_line(tool, &reading.arguments, Input::Nothing).unwrap();
                    let other: BTreeSet<String> = plan(tool, &again, &|_| None).argv.into_iter().collect();
                    // Optional operands may be read as other ones: then the words are the same.
                    if values(&again) == values(&bound) || other == argv.iter().cloned().collect() {
                        same += 1;
                    } else {
                        wrong.push(format!("{}: {words:?} read as {:?}", tool.name(), values(&again)));
                    }
                }
                // Another tool says the same, or says it better.
                Ok(reading) => {
                    let again = bind_line(reading.tool, &reading.arguments, Input::Nothing).unwrap();
                    let mut others = plan(reading.tool, &again, &|_| None).argv;
                    let mut own = argv.clone();
                    others.sort();
                    own.sort();
                    let lost: Vec<&String> = own.iter().filter(|word| !others.contains(word)).collect();
                    if lost.is_empty() {
                        other += 1;
                    } else {
                        wrong.push(format!("{}: {words:?} read as {} {others:?}", tool.name(), reading.tool.name()));
                    }
                }
                Err(unread) => wrong.push(format!("{}: {words:?} {}", tool.name(), unread.problem)),
            }
        }
    }
    assert!(wrong.is_empty(), "{same} same, {other} by another tool, {} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
