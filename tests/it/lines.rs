//! Command lines: they are read back into the calls that they stand for.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Seek as _, Write as _};

use climax::call::WriteMode;
use climax::call::arguments::{Bound, BoundValue, Input, bind, bind_line};
use climax::call::command_line::plan;
use climax::call::line::{CommandWords, LineContext, Reading, Unread, read, read_line};
use climax::catalog::{ArgView, Layer, Place, ResolvedTool, Rest, Risk, RuleView, STEPS, Shape, ToolIndex, Type};
use serde_json::{Map, Value, json};

use crate::command_lines::programs;
use crate::support::climax;

/// The bundled tools.
fn bundled() -> ToolIndex {
    ToolIndex::from_configs(vec![Layer::compiled(&climax::CATALOG)])
}

/// Reads words as a command without input, in no directory.
pub(crate) fn read_words<'a>(index: &'a ToolIndex, words: &[&str]) -> Result<Reading<'a>, Unread> {
    read(
        index,
        CommandWords {
            words,
            variables: &[],
            input: Input::Nothing,
            names_program: &|word, own| word == own,
            unknown: &|_| None,
            explains: true,
        },
    )
}

/// A value that an arg takes, if one is easily found.
fn sample(arg: ArgView<'_>) -> Value {
    let choices: Vec<&str> = arg.values().collect();
    let text = |name: &str| match (choices.first(), arg.kind()) {
        (Some(choice), _) => json!(choice),
        (None, Type::Integer | Type::Number) => {
            json!(arg.rules().find_map(RuleView::min).unwrap_or(3.0).ceil())
        }
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
        Shape::Rest(Rest::Words) => json!(["v1", "--v2"]),
        Shape::Rest(Rest::Command) => json!(["true"]),
    }
}

/// Argument sets of a tool: the required args, some of the other args with them, and all args.
fn argument_sets(tool: ResolvedTool<'_>) -> Vec<Map<String, Value>> {
    let sayable = |arg: &ArgView<'_>| matches!(arg.place(), Place::Option | Place::Positional);
    let required: Map<String, Value> =
        tool.agent_args().filter(|arg| arg.required()).map(|arg| (arg.name().to_owned(), sample(arg))).collect();
    let give = |set: &mut Map<String, Value>, arg: ArgView<'_>, value: Value| match set.get_mut(STEPS) {
        Some(Value::Array(steps)) if arg.is_ordered() => steps.push(json!({ (arg.name()): value })),
        _ if arg.is_ordered() => drop(set.insert(STEPS.to_owned(), json!([{ (arg.name()): value }]))),
        _ => drop(set.insert(arg.name().to_owned(), value)),
    };
    let with = |arg: ArgView<'_>, value: Value| {
        let mut set = required.clone();
        give(&mut set, arg, value);
        set
    };
    let optional = || tool.agent_args().filter(sayable).filter(|arg| !arg.required());
    // Each arg stands in the last set. A part of them alone keeps the test quick.
    let each = optional().step_by(4).map(|arg| with(arg, sample(arg)));
    let off = optional().filter(|arg| arg.off().is_some()).map(|arg| with(arg, json!(false)));
    let all = optional().fold(required.clone(), |mut set, arg| {
        give(&mut set, arg, sample(arg));
        set
    });
    let sets = std::iter::once(required.clone()).chain(each).chain(off).chain([all]);
    sets.collect()
}

/// The values by name, and those of options whose order counts in their order.
fn values(bound: &Bound<'_>) -> (BTreeMap<String, String>, Vec<(String, String)>) {
    let pair = |(arg, value): (ArgView<'_>, &BoundValue)| (arg.name().to_owned(), value.to_string());
    let ordered = bound.iter().filter(|(arg, _)| arg.is_ordered()).map(pair).collect();
    (bound.iter().map(pair).collect(), ordered)
}

/// Words, with long options apart from the values that are joined to them: `--size 1` says what `--size=1` says.
fn apart(words: &[String]) -> Vec<&str> {
    words
        .iter()
        .flat_map(|word| match word.split_once('=') {
            Some((option, value)) if option.starts_with("--") => vec![option, value],
            _ => vec![word.as_str()],
        })
        .collect()
}

#[test]
fn planned_command_lines_of_bundled_tools_are_read_back() {
    let index = bundled();
    let (mut same, mut other, mut wrong) = (0, 0, Vec::new());
    // A line leaves defaults out. Without this one the words mean something else.
    let needs_default = |tool: ResolvedTool<'_>| {
        let mut args = tool.args();
        args.any(|arg| arg.flag() == "--" && arg.default().is_some())
    };
    let is_sayable = |tool: &ResolvedTool<'_>| {
        !needs_default(*tool)
            && !tool.is_native()
            && tool.questions().len() == 0
            && tool.args().all(|arg| arg.output().is_none())
    };
    for tool in index.tools().filter(is_sayable) {
        for set in argument_sets(tool) {
            // A line may give what a call refuses together, and leave the refusal to the program.
            let Ok(bound) = bind(tool, &set).and_then(|_| bind_line(tool, &set, Input::Nothing)) else { continue };
            if bound.iter().any(|(arg, _)| !matches!(arg.place(), Place::Option | Place::Positional)) {
                continue;
            }
            let argv = plan(tool, &bound, &|_| None).argv;
            let words: Vec<&str> = argv.iter().map(String::as_str).collect();
            match read_words(&index, &words) {
                Ok(reading) if reading.tool.name() == tool.name() => {
                    let again = reading.bind(Input::Nothing).unwrap();
                    if reading.plan(&again, &|_| None, &|_, _| None).argv != argv {
                        wrong.push(format!(
                            "{}: {words:?} runs {:?}",
                            tool.name(),
                            reading.plan(&again, &|_| None, &|_, _| None).argv
                        ));
                    }
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
                    let others = plan(reading.tool, &again, &|_| None).argv;
                    let others = apart(&others);
                    let lost: Vec<&str> = apart(&argv).into_iter().filter(|word| !others.contains(word)).collect();
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

#[test]
fn documented_lines_are_read_as_the_calls_that_give_them() {
    let index = programs();
    let mut wrong = Vec::new();
    for line in include_str!("../command_lines/lines.jsonl").lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let tool = index.get(line["tool"].as_str().unwrap()).unwrap();
        let words: Vec<&str> = line["words"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        let variables: Vec<(&str, &str)> = Vec::new();
        let has_stdin = tool.args().any(|arg| arg.place() == Place::Stdin && line["args"].get(arg.name()).is_some());
        let input = if has_stdin { Input::Pipe } else { Input::Nothing };
        let command = CommandWords {
            words: &words,
            variables: &variables,
            input,
            names_program: &|word, own| word == own,
            unknown: &|_| None,
            explains: true,
        };
        match read(&index, command) {
            Ok(reading) => {
                let bound = bind_line(reading.tool, &reading.arguments, input).unwrap();
                let again = plan(reading.tool, &bound, &|_| None).argv;
                if reading.tool.name() != tool.name() || again != words {
                    wrong.push(format!("{words:?}: {} {again:?}", reading.tool.name()));
                }
            }
            Err(unread) => wrong.push(format!("{words:?}: {}", unread.problem)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Reads a line in no directory and returns its calls, or the message of the error.
fn calls_of<'a>(index: &'a ToolIndex, line: &str) -> Result<Vec<Reading<'a>>, String> {
    let context = LineContext {
        env: &|_| None,
        names_program: &|word, own| word == own,
        unknown: &|_| None,
        glob: &|_, _, _| Ok(Vec::new()),
        write_mode: &|_, file_use| file_use.writes().then_some(WriteMode::Replace),
        input: Input::Nothing,
        explains: true,
    };
    let read = read_line(index, line, None, context).map_err(|error| error.to_string())?;
    Ok(read.calls().map(|(_, reading)| reading.clone()).collect())
}

/// Reads a line in no directory and returns its tools, or the message of the error.
fn tools_of(index: &ToolIndex, line: &str) -> Result<Vec<String>, String> {
    let calls = calls_of(index, line)?;
    let names = calls.iter().flat_map(|reading| {
        let mut names = vec![reading.tool.name().to_owned()];
        let mut next = reading.started.as_deref();
        while let Some(started) = next {
            names.push(started.reading.tool.name().to_owned());
            next = started.reading.started.as_deref();
        }
        names
    });
    Ok(names.collect())
}

/// `tricks.jsonl` has lines by which filters of strings are bypassed, each with the tools that take it, or none.
#[test]
fn bundled_tools_name_commands_that_download_what_they_lack() {
    let index = bundled();
    let named: Vec<String> = index.tools().filter_map(|tool| tool.needs()?.prefetch).collect();
    assert!(named.len() > 30, "{named:?}");
    for command in named {
        let reading = read_words(&index, &command.split(' ').collect::<Vec<_>>()).unwrap();
        assert!(reading.tool.needs().is_none_or(|needs| needs.has_network()), "{command}");
    }
}

#[test]
fn other_spellings_of_programs_stand_for_their_words() {
    let index = bundled();
    for (line, same) in [
        ("python3 -m pip install x", "pip install x"),
        ("pip3 list", "pip list"),
        ("docker-compose up -d", "docker compose up -d"),
        ("egrep -r a .", "grep -E -r a ."),
        ("fgrep a b", "grep -F a b"),
        ("timeout 5 egrep a b", "timeout 5 egrep a b"),
        ("tar xzf a.tgz", "tar -x -z -f a.tgz"),
        ("tar cfC a.tar d e", "tar --create --file=a.tar --directory=d e"),
        ("tar -tvf a.tar f", "tar tvf a.tar f"),
        ("tar cf a.tar f", "tar --create --file a.tar -- f"),
    ] {
        let [line, same] = [line, same].map(|line| line.split(' ').collect::<Vec<_>>());
        let [read, expected] = [&line, &same].map(|words| read_words(&index, words).unwrap());
        assert_eq!((read.tool.name(), &read.arguments), (expected.tool.name(), &expected.arguments), "{line:?}");
        for place in read.operands.iter().filter(|place| place.arg != "pattern") {
            assert!(
                read.arguments[&place.arg].to_string().contains(&read.typed.words[place.word]),
                "{line:?}: {place:?}"
            );
        }
    }
    for (line, word) in [("python3 -m pip instal x", 3), ("egrep -E --frob a", 2), ("tar xf", 2)] {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(read_words(&index, &words).unwrap_err().word, word, "{line}");
    }
}

#[test]
fn tricks_end_in_refusals_or_in_checked_calls() {
    let index = bundled();
    let mut wrong = Vec::new();
    let tricks = include_str!("../command_lines/tricks.jsonl");
    for trick in tricks.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let line = trick["line"].as_str().unwrap();
        let expected: Option<Vec<String>> = serde_json::from_value(trick["tools"].clone()).unwrap();
        let found = tools_of(&index, line);
        if found.as_ref().ok() != expected.as_ref() {
            wrong.push(format!("{line}: {found:?}, not {expected:?}"));
        }
    }
    assert!(tricks.lines().count() > 150);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lines_do_not_read_as_more_than_they_say() {
    let index = bundled();
    let risk_of = |line: &str| index.get(&tools_of(&index, line).unwrap()[0]).unwrap().risk();
    for line in ["git reset HEAD~1", "git branch x", "curl https://example.com", "docker ps", "rm x", "git push"] {
        assert!(risk_of(line) < Risk::Destructive || line == "rm x", "{line}");
    }
    for (line, words) in [
        ("git reset HEAD~1", vec!["--hard"]),
        ("git branch x", vec!["-D", "-d", "--delete", "--force"]),
        ("curl https://example.com", vec!["-X", "--request", "--data", "--upload-file"]),
        ("git push", vec!["--force", "--delete"]),
        ("git clean -n", vec!["-f", "--force"]),
        ("docker rm x", vec!["-f", "--force"]),
        ("kubectl delete pod x", vec!["--force", "--now"]),
        ("npm publish", vec!["--force"]),
    ] {
        let given: Vec<&str> = line.split(' ').collect();
        let reading = read_words(&index, &given).unwrap_or_else(|unread| panic!("{line}: {}", unread.problem));
        let bound = bind_line(reading.tool, &reading.arguments, Input::Nothing).unwrap();
        let argv = plan(reading.tool, &bound, &|_| None).argv;
        for word in words {
            assert!(!argv.iter().any(|own| own == word), "{line}: {argv:?}");
        }
    }
}

/// Programs with pflag, clap or argparse leave out the `=` of `-x=V`, and those with getopt do not.
#[test]
fn an_equals_sign_behind_a_letter_is_read_as_the_program_reads_it() {
    let index = bundled();
    let arguments = |line: &str| Value::from(calls_of(&index, line).unwrap()[0].arguments.clone());

    let run = arguments("docker run -v=/a:/b -e=A=b -p 80:80 alpine");
    assert_eq!(run, json!({ "image": "alpine", "volume": ["/a:/b"], "env": ["A=b"], "publish": ["80:80"] }));
    assert_eq!(
        arguments("kubectl get pods -n=x -l=a=b"),
        json!({ "resource": "pods", "namespace": "x", "selector": "a=b" })
    );
    assert_eq!(arguments("cargo build -p=core"), json!({ "package": ["core"] }));
    assert_eq!(
        arguments("fd -E=target -e=rs x"),
        json!({ "pattern": "x", "exclude": ["target"], "extension": ["rs"] })
    );
    assert_eq!(arguments("pytest -k='a or b'")["keyword"], "a or b");
    assert_eq!(arguments("cut -d= -f1")["delimiter"], "=");
    let refused = calls_of(&index, "docker run -dv=/a:/b alpine").unwrap_err();
    assert!(refused.contains("is no option here"), "{refused}");
}

/// `said.jsonl` has lines of the manuals of aws, docker, gh, kubectl, npm and terraform, each with its tool and the risk of
/// what it says, or neither where it is not read.
/// Commands of one tool may share a letter for different options. The line itself runs as it is written, but policies, questions
/// and `climax translate` go by the call that it stands for, in which none may be another one.
#[test]
fn calls_that_lines_stand_for_have_the_options_of_the_lines() {
    let index = bundled();
    for line in [
        "az webapp up --plan=p",
        "az webapp config container set --container-registry-password=v",
        "az sql db update --server-key-type=t",
        "az cosmosdb sql container create --analytical-storage-ttl=1",
        "az acr token list --parent=p",
        "az postgres flexible-server identity show --identity=i",
        "az webapp up -p v",
        "ansible-vault encrypt --encrypt-vault-id=v f",
    ] {
        let readings = calls_of(&index, line).unwrap();
        let [reading] = readings.as_slice() else { panic!("{line}") };
        let argv = plan(reading.tool, &reading.bind(Input::Nothing).unwrap(), &|_| None).argv;
        let option = line.split(' ').find(|word| word.starts_with('-')).unwrap();
        assert!(argv.iter().any(|word| word == option), "{line}: {argv:?}");
    }
}

#[test]
fn documented_lines_have_the_risk_of_what_they_say() {
    let lines: Vec<Value> =
        include_str!("../command_lines/said.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut input = tempfile::tempfile().unwrap();
    for line in &lines {
        writeln!(input, "{}", line["line"].as_str().unwrap()).unwrap();
    }
    input.rewind().unwrap();
    let output = climax().args(["translate", "-", "--json"]).stdin(input).output().unwrap();
    let answers = String::from_utf8(output.stdout).unwrap();
    let mut wrong = Vec::new();
    assert_eq!(answers.lines().count(), lines.len());
    for (line, answer) in lines.iter().zip(answers.lines()) {
        let answer: Value = serde_json::from_str(answer).unwrap();
        let stage = &answer["stages"][0];
        if stage["tool_name"] != line["tool"] || stage["risk"] != line["risk"] {
            wrong.push(format!("{line}: {answer}"));
        }
    }
    assert!(lines.len() > 100 && wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_number_below_zero_is_no_operand_that_is_text() {
    let index = bundled();
    let mut numbers = 0;
    for tool in index.tools().filter(|tool| !tool.is_native()) {
        let command: Vec<&str> = tool.cli().words().chain(tool.words()).filter(|word| *word != "--").collect();
        for operands in [&["-5"][..], &["-5", "v1"], &["v1", "-5"]] {
            let line = [command.as_slice(), operands].concat();
            let Ok(reading) = read_words(&index, &line) else { continue };
            numbers += 1;
            let takes = |name: &str| reading.tool.args().find(|arg| arg.name() == name).unwrap();
            for (name, value) in &reading.arguments {
                let arg = takes(name);
                let is_text = arg.kind() == Type::String && !matches!(arg.shape(), Shape::Rest(_));
                let is_operand = arg.place() == Place::Positional;
                assert!(
                    !(is_text && is_operand && value.to_string().contains("\"-5\"")),
                    "{line:?}: {name} is {value}"
                );
            }
        }
    }
    assert!(numbers > 20, "{numbers} lines with numbers are read");
    let first = read_words(&index, &["head", "-5", "f"]).unwrap();
    assert_eq!(first.arguments["number"], json!("5"));
}

/// `bundled.txt` has lines of manuals, each behind its tool and the risk of the call.
#[test]
fn lines_of_manuals_are_read_as_calls_of_their_risk() {
    let index = bundled();
    let mut wrong = Vec::new();
    let lines = include_str!("../command_lines/bundled.txt").lines();
    for line in lines.clone() {
        let mut parts = line.splitn(3, ' ');
        let [tool, risk, line] = std::array::from_fn(|_| parts.next().unwrap());
        let found = calls_of(&index, line).map(|calls| {
            let of_call = |reading: &Reading<'_>| {
                let bound = bind_line(reading.tool, &reading.arguments, Input::Nothing).unwrap();
                format!("{} {}", reading.tool.name(), climax::call::risk::of_call(reading.tool, &bound).as_str())
            };
            calls.iter().map(of_call).collect::<Vec<_>>()
        });
        if found != Ok(vec![format!("{tool} {risk}")]) {
            wrong.push(format!("{line}: {found:?}, not {tool} {risk}"));
        }
    }
    assert!(lines.count() > 400);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
