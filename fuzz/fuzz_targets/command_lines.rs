//! Asserts that any command line is either an error with its place, or calls whose arguments are valid and whose command
//! lines are read back as the same calls.

#![no_main]

use std::sync::LazyLock;

use climax::call::WriteMode;
use climax::call::arguments::{Input, bind_line};
use climax::call::command_line::plan;
use climax::call::line::{CommandWords, LineContext, read, read_line};
use climax::catalog::{Layer, ToolIndex};
use libfuzzer_sys::fuzz_target;

static INDEX: LazyLock<ToolIndex> = LazyLock::new(|| ToolIndex::from_configs(vec![Layer::compiled(&climax::CATALOG)]));

fuzz_target!(|line: &str| {
    let context = LineContext {
        env: &|_| Some("/home/user".to_owned()),
        names_program: &|word, own| word == own,
        unknown: &|_| None,
        glob: &|_, _, _| Ok(vec!["-a".to_owned(), "b".to_owned()]),
        write_mode: &|_, file_use| file_use.writes().then_some(WriteMode::Replace),
        input: Input::Nothing,
        explains: true,
    };
    let commands = match read_line(&INDEX, line, None, context) {
        Ok(commands) => commands,
        Err(unread) => {
            let error = unread.error();
            assert!(line.get(error.range.clone()).is_some() || line.len() > 1 << 16, "{error}");
            return;
        }
    };
    for (stage, reading) in commands.calls() {
        let tool = reading.tool;
        if tool.is_native() {
            continue;
        }
        let input = if stage.reads_input { Input::Pipe } else { Input::Nothing };
        // Globs are expanded after the arguments were checked, so they are checked again before a call.
        let Ok(bound) = bind_line(tool, &reading.arguments, input) else { continue };
        let argv = plan(tool, &bound, &|_| None).argv;
        assert!(argv.iter().all(|word| !word.contains('\0')), "{argv:?}");
        let words: Vec<&str> = argv.iter().map(String::as_str).collect();
        let command = CommandWords {
            words: &words,
            variables: &[],
            input,
            names_program: &|word, own| word == own,
            unknown: &|_| None,
            explains: true,
        };
        let again = read(&INDEX, command).unwrap_or_else(|unread| panic!("{argv:?}: {}", unread.problem));
        let bound = bind_line(again.tool, &again.arguments, input).expect("read arguments are valid");
        let mut twice = plan(again.tool, &bound, &|_| None).argv;
        let mut once = argv.clone();
        (once.sort(), twice.sort());
        assert_eq!(once, twice);
    }
});
