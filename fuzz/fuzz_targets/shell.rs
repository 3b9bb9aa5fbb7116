//! Asserts that any text is either an error with its place or a tree whose words and arithmetic can be expanded, in
//! bounded time and memory.

#![no_main]

use std::ops::Range;

use climax_shell::{Body, Expander, Globs, List, State, Substituted, Surroundings, Value, last_command, parse};
use libfuzzer_sys::fuzz_target;

/// Every variable has a value, and every command an output.
struct Outside;

impl Surroundings for Outside {
    fn variable(&self, _: &str) -> Option<String> {
        Some("a b".to_owned())
    }

    fn paths(&self, _: &str, _: Globs) -> Result<Option<Vec<String>>, String> {
        Ok(Some(vec!["-a".to_owned(), "b c".to_owned()]))
    }

    fn substitution(&self, _: &Range<usize>) -> Substituted {
        Substituted::Known("-x\ny\n".to_owned(), 1)
    }
}

fuzz_target!(|text: &str| {
    let _ = last_command(text);
    match parse(text) {
        Ok(script) => {
            let _ = script.beyond_posix(text);
            expand(&script.list);
        }
        Err(error) => {
            assert!(text.get(error.range.clone()).is_some() || text.len() > climax_shell::MAX_BYTES, "{error}")
        }
    }
});

/// Expands all words of a list in each way, and computes its arithmetic.
fn expand(list: &List) {
    let mut state = State { positions: Some(vec!["-p".to_owned()]), status: Some(0), ..State::default() };
    state.set("x", Value::Known("7".to_owned()));
    for command in list.commands() {
        if let Body::Simple(simple) = &command.body {
            let fields = Expander { state: &mut state, surroundings: &Outside }.fields(&simple.words);
            assert!(fields.iter().flatten().map(|field| field.text.len()).sum::<usize>() < 1 << 26);
            for assignment in &simple.assignments {
                let value = Expander { state: &mut state, surroundings: &Outside }.text(&assignment.value);
                if let Ok(value) = value {
                    state.set(&assignment.name, Value::Known(value.text));
                }
            }
        }

        let mut expander = Expander { state: &mut state, surroundings: &Outside };
        for word in command.words() {
            let _ = expander.fields(std::slice::from_ref(word));
            let _ = expander.regex(word);
            if let Ok(Some(pattern)) = expander.pattern(word) {
                let _ = pattern.matches("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b", &mut 0);
            }
        }
        if let Body::Arithmetic(arithmetic) = &command.body {
            let _ = expander.arithmetic(arithmetic);
        }
    }
}
