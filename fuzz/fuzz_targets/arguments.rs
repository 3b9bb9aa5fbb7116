//! Asserts that any arguments are either invalid with a message, or become words in the places of their args: no NUL,
//! no option instead of a value, no other program. The first byte selects the tool: `0` to `3`.

#![no_main]

use std::sync::LazyLock;

use climax::call::arguments::{Violation, bind, check, echo};
use climax::call::command_line::plan;
use climax::catalog::policy::Applied;
use climax::catalog::{Place, ResolvedTool, Shape};
use climax_fuzz::fixtures::{CALLED, RULES};
use climax_fuzz::restricted;
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};

static APPLIED: LazyLock<Applied> = LazyLock::new(|| restricted(CALLED, RULES));

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, json)) = bytes.split_first() else { return };
    let tools: Vec<ResolvedTool<'_>> = APPLIED.index.tools().collect();
    if let Ok(Value::Object(arguments)) = serde_json::from_slice(json) {
        call(tools[usize::from(*choice) % tools.len()], &arguments);
    }
});

fn call(tool: ResolvedTool<'_>, arguments: &Map<String, Value>) {
    let bound = match bind(tool, arguments) {
        Ok(bound) => bound,
        Err(violations) => return refused(&violations),
    };
    if let Err(violations) = check(&bound) {
        return refused(&violations);
    }
    let invocation = plan(tool, &bound, &|_| None);
    assert!(invocation.argv.iter().all(|word| !word.contains('\0')), "{:?}", invocation.argv);
    let program = tool.cli().words().chain(tool.words()).next().expect("every tool of a program has words");
    assert_eq!(invocation.argv[0], program);
    for (arg, value) in bound.iter().filter(|(arg, _)| arg.place() == Place::Positional) {
        let is_given = arguments.get(arg.name()).is_some_and(|value| !value.is_null());
        let is_allowed =
            tool.is_behind_dashes(arg) || arg.leading_dash() == Some(true) || matches!(arg.shape(), Shape::Rest(_));
        for word in value.words() {
            let is_choice = arg.values().any(|choice| choice == word);
            let is_plain = !word.starts_with('-') || word == "-" || is_choice;
            assert!(is_plain || !is_given || is_allowed, "{}: {word}", arg.name());
        }
    }
}

fn refused(violations: &[Violation]) {
    assert!(!violations.is_empty());
    for violation in violations {
        assert!(violation.to_string().contains(&echo(&violation.argument)));
    }
}
